/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of a client: made when it is first needed, and freed with the client. With the client's lock. */
#ifndef ZKR_QUEUE_ENGINE_H
#define ZKR_QUEUE_ENGINE_H

#include "queue/engine_state.h"

/* The engine of @c. NULL: no memory. */
struct zkr__engine *zkr__engine_of(zkr_client *c) ZKR__LOCKED;

#endif
