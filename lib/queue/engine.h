/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of a client: created on first use, freed with the client. All functions need the client's lock. */
#ifndef ZKR_QUEUE_ENGINE_H
#define ZKR_QUEUE_ENGINE_H

#include "queue/engine_state.h"

/* Returns the engine of @c. NULL: out of memory. */
struct zkr__engine *zkr__engine_of(zkr_client *c) ZKR__LOCKED;

#endif
