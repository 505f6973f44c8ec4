/* SPDX-License-Identifier: Apache-2.0 */
/* What the session floor tells the engine, brought to those concerned; and the lease probe. */
#ifndef ZKR_ENGINE_SESSION_EVENTS_H
#define ZKR_ENGINE_SESSION_EVENTS_H

#include "engine/engine.h"

/* The client's engine, made and told of the session from now on when there is none. NULL: no memory. */
struct zkr__engine *zkr__engine_of(zkr_client *c) ZKR__LOCKED;

#endif
