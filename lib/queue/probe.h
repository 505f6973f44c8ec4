/* SPDX-License-Identifier: Apache-2.0 */
/* The lease probe: a write that renews the lease, checks the nodes of the holds, and writes holder metadata. */
#ifndef ZKR_QUEUE_PROBE_H
#define ZKR_QUEUE_PROBE_H

#include "session/client.h"

/* A callback for struct zkr__upcalls. @ctx is the engine. */
void zkr__probe_send(void *ctx) ZKR__LOCKED;

#endif
