/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of a client, made when it is first needed. It brings the news of the session to claims and watchers. */
#ifndef ZKR_ENGINE_SESSION_EVENTS_H
#define ZKR_ENGINE_SESSION_EVENTS_H

#include "engine/engine.h"

/* NULL: no memory. */
struct zkr__engine *zkr__engine_of(zkr_client *c) ZKR__LOCKED;

#endif
