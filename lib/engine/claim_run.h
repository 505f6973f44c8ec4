/* SPDX-License-Identifier: Apache-2.0 */
/* A claim in motion: events in, requests and notifications out, timers, counters. */
#ifndef ZKR_ENGINE_CLAIM_RUN_H
#define ZKR_ENGINE_CLAIM_RUN_H

#include "engine/batch.h"
#include "engine/claim.h"

/* Begin, with a new claim. */
void zkr__claim_start(struct zkr__claim *claim) ZKR__LOCKED;

/* Feed the claim an event, and carry out what follows. Of @e: the kind, and what belongs to that. May free the claim. */
void zkr__claim_run(struct zkr__claim *claim, struct zkr__claim_event e) ZKR__LOCKED;

/* Admit claims that stand in line, as far as there is room. Without a connection all go on, and wait for that. */
void zkr__claims_let_in(struct zkr__engine *engine) ZKR__LOCKED;

/* Nodes that are kept (keep.h). Others contend in @d. If a node is kept there, it is not kept any more, and the claims in line make nodes of their own. */
void zkr__claims_contended(struct zkr__directory *d) ZKR__LOCKED;
/* Delete the nodes by which nobody holds: of @q; NULL: all. */
void zkr__claims_end_keeping(struct zkr__engine *engine,
                             const struct zkr__queue *q) ZKR__LOCKED;

/* For the engine: on_answer, on_before. */
void zkr__claim_on_answer(void *ctx,
                          unsigned tag,
                          const struct zkr__answer *answer) ZKR__LOCKED;
void zkr__claim_on_before(struct zkr__path_watcher *watcher,
                          enum zkr__node_event event) ZKR__LOCKED;

#endif
