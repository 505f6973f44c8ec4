/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of a client. It is created on first use, and freed with the client. All functions need the client's lock.
 */
#ifndef ZKR_QUEUE_ENGINE_H
#define ZKR_QUEUE_ENGINE_H

#include "queue/engine_state.h"

/* Returns the engine of @c, or NULL if memory runs out. */
struct zkr__engine *zkr__engine_of(zkr_client *c) ZKR__LOCKED;

#endif
