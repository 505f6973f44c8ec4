/* SPDX-License-Identifier: Apache-2.0 */
/* What a client knows of its session at some moment, to explain the loss of a hold. Milliseconds before that moment. */
#ifndef ZKR_SESSION_OBSERVED_H
#define ZKR_SESSION_OBSERVED_H

#include "session/request.h"

/* Now; without a session, at the end of the last one. */
struct zkr__observed zkr__observe(const zkr_client *c) ZKR__LOCKED;
/* Remember what is known: the session is about to be forgotten. */
void zkr__observe_end(zkr_client *c) ZKR__LOCKED;

/* The service runs: it is late if the process did not run in between. */
void zkr__service_runs(zkr_client *c) ZKR__LOCKED;
/* It will look again at @at (zkr__now()), or when it is woken. */
void zkr__service_rests(zkr_client *c, int64_t at) ZKR__LOCKED;

#endif
