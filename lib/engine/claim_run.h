/* SPDX-License-Identifier: Apache-2.0 */
/* A claim in motion: events in, requests and notifications out, timers, counters. */
#ifndef ZKR_ENGINE_CLAIM_RUN_H
#define ZKR_ENGINE_CLAIM_RUN_H

#include "engine/batch.h"
#include "engine/claim.h"

/* Begin. The claim is new. */
void zkr__claim_start(struct zkr__claim *claim) ZKR__LOCKED;

/* Feed it an event, and carry out what follows; of @e, the kind and what belongs to it. May free the claim. */
void zkr__claim_run(struct zkr__claim *claim, struct zkr__claim_event e) ZKR__LOCKED;

/* Those who stand in line go on, as far as there is room; without a connection all do, and wait for one. */
void zkr__claims_let_in(struct zkr__engine *engine) ZKR__LOCKED;

/* Begin to keep what the members of @batch ask for, and send it. */
void zkr__claims_gather(struct zkr__batch *batch) ZKR__LOCKED;
void zkr__claims_send(struct zkr__batch *batch) ZKR__LOCKED;

#endif
