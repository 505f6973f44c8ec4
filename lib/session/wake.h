/* SPDX-License-Identifier: Apache-2.0 */
/* Waking the service thread in time. What it then does is its own (service.h). */
#ifndef ZKR_SESSION_WAKE_H
#define ZKR_SESSION_WAKE_H

#include "session/client.h"

/* Make sure that the service looks at what is due by @at (zkr__now()). */
void zkr__wake_by(zkr_client *c, int64_t at) ZKR__LOCKED;

#endif
