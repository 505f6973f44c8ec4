/* SPDX-License-Identifier: Apache-2.0 */
/* The lease bound of a client: until when its session is surely alive. lease.h computes it. */
#ifndef ZKR_SESSION_BOUND_H
#define ZKR_SESSION_BOUND_H

#include "session/client.h"

/* Is what we hold in this session surely ours, now? Always, when probes are turned off. */
bool zkr__sure(zkr_client *c) ZKR__LOCKED;
/* The same, and long enough for a holder to send a probe and have it answered. */
bool zkr__amply_sure(zkr_client *c) ZKR__LOCKED;
int64_t zkr__valid_for_ms(zkr_client *c) ZKR__LOCKED;
/* When another quorum write can prove more than those answered do. */
int64_t zkr__probe_due(const zkr_client *c) ZKR__LOCKED;
/* Something is to go out with a probe: the next one is due at once. */
void zkr__probe_soon(zkr_client *c) ZKR__LOCKED;
/* The probe was answered, or could not be sent. */
void zkr__probe_done(zkr_client *c, bool answered) ZKR__LOCKED;

/* A moment on the lease's clock (CLOCK_BOOTTIME) on the timers' clock. ZKR__NEVER stays. */
int64_t zkr__from_boot(const zkr_client *c, int64_t boot) ZKR__LOCKED;

#endif
