/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service thread: opens sessions, closes handles, sends lease probes, delivers answers of
 * requests that were not sent, tells the engine the time. It sleeps until the earliest thing due;
 * with nothing held, queued or in flight that is never.
 */
#ifndef ZKR_SESSION_SERVICE_H
#define ZKR_SESSION_SERVICE_H

#include "session/client.h"

int zkr__service_start(zkr_client *c); /* 0 or errno */
/* End the thread, and wait for that. */
void zkr__service_stop(zkr_client *c);
/* One turn: all that is due. Returns when to call again. */
int64_t zkr__service_run(zkr_client *c) ZKR__LOCKED;

#endif
