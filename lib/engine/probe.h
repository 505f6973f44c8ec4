/* SPDX-License-Identifier: Apache-2.0 */
/* The lease probe: one write that checks what is held, and by which a hold that lasts notes since when (claim_data.h). */
#ifndef ZKR_ENGINE_PROBE_H
#define ZKR_ENGINE_PROBE_H

#include "session/client.h"

/* struct zkr__upcalls.send_probe. @ctx: the engine. */
void zkr__probe_send(void *ctx) ZKR__LOCKED;

#endif
