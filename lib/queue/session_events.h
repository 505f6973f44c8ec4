/* SPDX-License-Identifier: Apache-2.0 */
/* The effects of session events on the claims, caches and ghosts of a client. */
#ifndef ZKR_QUEUE_SESSION_EVENTS_H
#define ZKR_QUEUE_SESSION_EVENTS_H

#include "session/client.h"

/* Set the callbacks for session events in @up. Their ctx is the engine. */
void zkr__session_events(struct zkr__upcalls *up);

#endif
