/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service thread opens sessions, closes handles, sends lease probes, delivers the answers to requests that were not
 * sent, and runs the engine's timers. It sleeps until something is due, possibly forever.
 */
#ifndef ZKR_SESSION_SERVICE_H
#define ZKR_SESSION_SERVICE_H

#include "session/client.h"

int zkr__service_start(zkr_client *c); /* returns 0 or errno */
/* End the thread, and wait until it has ended. */
void zkr__service_stop(zkr_client *c);
/*
 * Close the handles of the dead links that are due at @by or earlier. Returns when the next one is due. Releases the
 * lock meanwhile.
 */
int64_t zkr__close_dead(zkr_client *c, int64_t by) ZKR__LOCKED;
/* Run one turn: do everything that is due, and set c->service_at to the time of the next turn. */
void zkr__service_run(zkr_client *c) ZKR__LOCKED;

#endif
