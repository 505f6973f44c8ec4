/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease bound of a client, which is the time until which its session is surely alive (lease.h), and loss
 * diagnostics, which report what the client observed before it lost the session or a hold.
 */
#ifndef ZKR_SESSION_BOUND_H
#define ZKR_SESSION_BOUND_H

#include "session/client.h"

/*
 * Returns whether the session, and so every hold, is surely alive now. After a fault (must.h), returns false.
 * Otherwise, with probes off, always returns true.
 */
bool zkr__sure(zkr_client *c) ZKR__LOCKED;
/* Like zkr__sure(), but true only if the next proof can arrive before the bound passes. */
bool zkr__amply_sure(zkr_client *c) ZKR__LOCKED;
/*
 * Returns whether the write that was just answered proves enough to begin a hold. If it does not, the hold must wait
 * for more answers.
 */
bool zkr__proved(zkr_client *c) ZKR__LOCKED;
int64_t zkr__valid_for_ms(zkr_client *c) ZKR__LOCKED;

/* Make the next probe due at once, for a caller that has an operation for the probe to carry. */
void zkr__probe_soon(zkr_client *c) ZKR__LOCKED;
/* Record the end of a probe. @answered is false if the probe failed or could not be sent. */
void zkr__probe_done(zkr_client *c, bool answered) ZKR__LOCKED;

/* Convert a CLOCK_BOOTTIME value, such as those of leases, to the clock of the timers. ZKR__NEVER stays ZKR__NEVER. */
int64_t zkr__from_boot(const zkr_client *c, int64_t boot) ZKR__LOCKED;

/* --- loss diagnostics --- */

/*
 * Returns a loss report for this moment or, without a session, for the end of the last session. The caller sets the
 * fields that only the hold knows.
 */
zkr_lost zkr__observe(const zkr_client *c) ZKR__LOCKED;
/* Returns how long the last write took if it is recent and took at least a twelfth of the session timeout, else 0. */
int64_t zkr__slow_ms(const zkr_client *c) ZKR__LOCKED;

/* Record that a turn of the service begins. If the turn is late, record a stop of the process. */
void zkr__service_runs(zkr_client *c) ZKR__LOCKED;
/*
 * Record that the service is about to call a function that may block for long. Until the service rests, its lateness is
 * ignored.
 */
void zkr__service_leaves(zkr_client *c) ZKR__LOCKED;
/* Record that the service sleeps until c->service_at, a time that zkr__wake_by() may change. */
void zkr__service_rests(zkr_client *c) ZKR__LOCKED;

#endif
