/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease bound of a client, until which its session is surely alive (lease.h), and loss diagnostics, which report
 * what the client observed before it lost the session or a hold.
 */
#ifndef ZKR_SESSION_BOUND_H
#define ZKR_SESSION_BOUND_H

#include "session/client.h"

/*
 * Is the session, and so every hold, surely alive now? False after a fault (must.h), else always true with probes off.
 */
bool zkr__sure(zkr_client *c) ZKR__LOCKED;
/* Like zkr__sure(), but true only if the next proof can arrive before the bound passes. */
bool zkr__amply_sure(zkr_client *c) ZKR__LOCKED;
/* Does the write that was just answered prove enough to begin a hold? If not, the hold must wait for more answers. */
bool zkr__proved(zkr_client *c) ZKR__LOCKED;
int64_t zkr__valid_for_ms(zkr_client *c) ZKR__LOCKED;

/* Make the next probe due at once. For callers that have an operation for the probe to carry. */
void zkr__probe_soon(zkr_client *c) ZKR__LOCKED;
/* Note the end of a probe. @answered is false if the probe failed or could not be sent. */
void zkr__probe_done(zkr_client *c, bool answered) ZKR__LOCKED;

/* Convert a CLOCK_BOOTTIME value, as in leases, to the timers' clock. ZKR__NEVER stays ZKR__NEVER. */
int64_t zkr__from_boot(const zkr_client *c, int64_t boot) ZKR__LOCKED;

/* --- loss diagnostics --- */

/*
 * Return a loss report as of now or, without a session, as of the end of the last session. The caller sets the fields
 * that only the hold knows.
 */
zkr_lost zkr__observe(const zkr_client *c) ZKR__LOCKED;
/* Return how long the last write took, if it is recent and took at least a twelfth of the session timeout; else 0. */
int64_t zkr__slow_ms(const zkr_client *c) ZKR__LOCKED;

/* Note that a turn of the service begins. A late turn is recorded as a stop of the process. */
void zkr__service_runs(zkr_client *c) ZKR__LOCKED;
/* Note that the service is about to call a function that may block for long. Its lateness is ignored until it rests. */
void zkr__service_leaves(zkr_client *c) ZKR__LOCKED;
/* Note that the service sleeps until c->service_at, which zkr__wake_by() may change. */
void zkr__service_rests(zkr_client *c) ZKR__LOCKED;

#endif
