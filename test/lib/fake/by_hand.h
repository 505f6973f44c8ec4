/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client on one fake server, in one thread and virtual time. The test runs what the client's threads would run, so
 * it can call nothing that blocks.
 */
#ifndef ZKF_BY_HAND_H
#define ZKF_BY_HAND_H

#include <zkr/zkr.h>

#include "fake.h"
#include "session/open.h"

enum { ZKF_SESSION_MS = 10000 };

/* Begin a world with a connected client. @door NULL: the fake's. @more NULL: defaults, with the timeout above. */
zkr_client *zkf_open(const struct zkr__door *door, const zkr_client_options *more);
/* Time goes on, with answers, events and timers, but without callbacks of the application. */
void zkf_pass(zkr_client *c, int64_t ms);
/* The same; then @t is in this state. */
void zkf_pass_to(zkr_client *c, int64_t ms, zkr_ticket *t, int state);
/* Run the callbacks that wait. */
void zkf_call_back(zkr_client *c);
/* Close the client, on which nothing is held or waited for, and end the world. */
void zkf_close(zkr_client *c);

#endif
