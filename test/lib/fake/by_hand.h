/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client on one fake server, in one thread and virtual time: the test runs the client's threads by
 * hand, so nothing that blocks can be called.
 */
#ifndef ZKF_BY_HAND_H
#define ZKF_BY_HAND_H

#include <zkr/zkr.h>

#include "fake.h"
#include "session/open.h"

enum { ZKF_SESSION_MS = 10000 };

/* Begin a world, and open a client that is connected when this returns. @door NULL: the fake's own. @more
 * NULL: defaults, with the session time-out above. */
zkr_client *zkf_open(const struct zkr__door *door, const zkr_client_options *more);
/* Time goes on: answers, events and timers, but no callback of the application. */
void zkf_pass(zkr_client *c, int64_t ms);
/* The callbacks that wait. */
void zkf_call_back(zkr_client *c);
/* Close it, on which nothing may be held or waited for any more, and end the world. */
void zkf_close(zkr_client *c);

#endif
