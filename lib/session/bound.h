/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client knows of its session: the lease bound, until when the session is surely alive (lease.h); and loss
 * diagnostics, which tell what was observed before the session or a hold was lost.
 */
#ifndef ZKR_SESSION_BOUND_H
#define ZKR_SESSION_BOUND_H

#include "session/client.h"

/* Are the holds of this session surely ours now? Always when probes are turned off; never after a fault (must.h). */
bool zkr__sure(zkr_client *c) ZKR__LOCKED;
/* The same, and for long enough that the next proof can come in time. */
bool zkr__amply_sure(zkr_client *c) ZKR__LOCKED;
/* A write was answered. Does that prove enough to hold? If not, more answers have to come first. */
bool zkr__proved(zkr_client *c) ZKR__LOCKED;
int64_t zkr__valid_for_ms(zkr_client *c) ZKR__LOCKED;

/* The next probe is due at once, as it has something to carry. */
void zkr__probe_soon(zkr_client *c) ZKR__LOCKED;
/* The probe was answered, or could not be sent. */
void zkr__probe_done(zkr_client *c, bool answered) ZKR__LOCKED;

/* A time of the lease's clock (CLOCK_BOOTTIME) in the timers' clock. ZKR__NEVER stays. */
int64_t zkr__from_boot(const zkr_client *c, int64_t boot) ZKR__LOCKED;

/* --- loss diagnostics --- */

/*
 * What is told of a loss, but for what only the hold knows. As of now; without a session, as the last session ended.
 */
zkr_lost zkr__observe(const zkr_client *c) ZKR__LOCKED;
/* How long the last write took, if that was a twelfth of the session timeout or more; else 0. */
int64_t zkr__slow_ms(const zkr_client *c) ZKR__LOCKED;

/* The service runs. When it is late, the process has stood still. */
void zkr__service_runs(zkr_client *c) ZKR__LOCKED;
/* The service calls a function that may block for long: until it rests, its lateness says nothing. */
void zkr__service_leaves(zkr_client *c) ZKR__LOCKED;
/* The service will run again at c->service_at, or when zkr__wake_by() says. */
void zkr__service_rests(zkr_client *c) ZKR__LOCKED;

#endif
