/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client on one fake server, in one thread and in virtual time. The test itself runs what the client's threads
 * would run, so it cannot call functions that block.
 */
#ifndef ZKF_BY_HAND_H
#define ZKF_BY_HAND_H

#include <zkr/zkr.h>

#include "fake.h"
#include "session/open.h"

enum { ZKF_SESSION_MS = 10000 };

/*
 * Begin a world with a connected client. @door NULL = the fake's door. @more NULL = default options with the timeout
 * above.
 */
zkr_client *zkf_open(const struct zkr__door *door, const zkr_client_options *more);
/* Let time pass, with answers, events and timers, but without callbacks of the application. */
void zkf_pass(zkr_client *c, int64_t ms);
/* Like zkf_pass(). Then check that @t is in this state. */
void zkf_pass_to(zkr_client *c, int64_t ms, zkr_ticket *t, int state);
/* Run the waiting callbacks. */
void zkf_call_back(zkr_client *c);
/* Close the client and end the world. Nothing may be held or waited for. */
void zkf_close(zkr_client *c);

#endif
