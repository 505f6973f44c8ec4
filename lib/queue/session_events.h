/* SPDX-License-Identifier: Apache-2.0 */
/* What news of the session do to the claims of a client, to its caches and to its ghosts. */
#ifndef ZKR_QUEUE_SESSION_EVENTS_H
#define ZKR_QUEUE_SESSION_EVENTS_H

#include "session/client.h"

/* Fill in what answers to news of the session. Their ctx is the engine. */
void zkr__session_events(struct zkr__upcalls *up);

#endif
