/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client knows about its session: the lease bound, until which the session is surely alive (lease.h); and loss
 * diagnostics, which report what the client observed before it lost the session or a hold.
 */
#ifndef ZKR_SESSION_BOUND_H
#define ZKR_SESSION_BOUND_H

#include "session/client.h"

/* Is the session, and so every hold, surely ours now? Always true with probes off; never after a fault (must.h). */
bool zkr__sure(zkr_client *c) ZKR__LOCKED;
/* Like zkr__sure(), and for long enough that the next proof can arrive in time. */
bool zkr__amply_sure(zkr_client *c) ZKR__LOCKED;
/* After a write was answered: is that enough proof for a new hold? If not, more answers must arrive first. */
bool zkr__proved(zkr_client *c) ZKR__LOCKED;
int64_t zkr__valid_for_ms(zkr_client *c) ZKR__LOCKED;

/* Make the next probe due at once, because it has something to carry. */
void zkr__probe_soon(zkr_client *c) ZKR__LOCKED;
/* End a probe. @answered: a server answered it; else it failed or could not be sent. */
void zkr__probe_done(zkr_client *c, bool answered) ZKR__LOCKED;

/* Convert a time of the lease's clock (CLOCK_BOOTTIME) to the timers' clock. ZKR__NEVER stays. */
int64_t zkr__from_boot(const zkr_client *c, int64_t boot) ZKR__LOCKED;

/* --- loss diagnostics --- */

/*
 * Return what a loss report says, except the fields that only the hold knows: as of now or, without a session, as of
 * the end of the last session.
 */
zkr_lost zkr__observe(const zkr_client *c) ZKR__LOCKED;
/* Return how long the last write took, if it is recent and took at least a twelfth of the session timeout; else 0. */
int64_t zkr__slow_ms(const zkr_client *c) ZKR__LOCKED;

/* Note that the service runs. If it is late, the process was stopped. */
void zkr__service_runs(zkr_client *c) ZKR__LOCKED;
/* Note that the service calls a function that may block for long. Its lateness means nothing until it rests. */
void zkr__service_leaves(zkr_client *c) ZKR__LOCKED;
/* Note that the service sleeps until c->service_at, which zkr__wake_by() may change. */
void zkr__service_rests(zkr_client *c) ZKR__LOCKED;

#endif
