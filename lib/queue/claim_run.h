/* SPDX-License-Identifier: Apache-2.0 */
/* Runs claims: events in, requests and notifications out, timers, counters. All functions need the client's lock. */
#ifndef ZKR_QUEUE_CLAIM_RUN_H
#define ZKR_QUEUE_CLAIM_RUN_H

#include "queue/claim.h"

/* Start a new claim. */
void zkr__claim_start(struct zkr__claim *claim) ZKR__LOCKED;

/*
 * Pass an event to the claim, and carry out the actions that follow. The caller sets the kind of @e, and the fields of
 * that kind. May free the claim.
 */
void zkr__claim_run(struct zkr__claim *claim, struct zkr__claim_event e) ZKR__LOCKED;
/* Like zkr__claim_run(), with an event that has only a @kind. */
void zkr__claim_tell(struct zkr__claim *claim, enum zkr__event_kind kind) ZKR__LOCKED;

/*
 * Admit claims in line while there is room. Without a connection, all claims leave the line and wait for the connection
 * instead.
 */
void zkr__claims_let_in(struct zkr__engine *engine) ZKR__LOCKED;

/*
 * Stop keeping a node in @d (keep.h), because other clients contend there, and let the claims in line create their own
 * nodes.
 */
void zkr__claims_contended(struct zkr__directory *d) ZKR__LOCKED;
/* Delete the kept nodes in @q that have no holder. @q NULL = in all queues. */
void zkr__claims_end_keeping(struct zkr__engine *engine,
                             const struct zkr__queue *q) ZKR__LOCKED;

/* Handlers for engine->on_before and engine->on_answer. */
void zkr__claim_on_before(struct zkr__path_watcher *watcher,
                          enum zkr__node_event event) ZKR__LOCKED;
void zkr__claim_on_answer(void *ctx,
                          unsigned tag,
                          const struct zkr__answer *answer) ZKR__LOCKED;

/*
 * Sleep until the claim is decided, canceled or leaving, or the deadline has passed. No other function sleeps for a
 * lock.
 */
void zkr__claim_wait(struct zkr__claim *claim, int64_t deadline) ZKR__LOCKED;

/*
 * Release the claim in any phase. From now on, the engine deletes the node, however long that takes. The owner keeps
 * its reference.
 */
void zkr__claim_let_go(struct zkr__claim *claim) ZKR__LOCKED;
/*
 * Like zkr__claim_let_go(), but also drop the owner's reference. With @wait, sleep until the node is gone, its delete
 * is refused, or the session has ended.
 */
void zkr__claim_leave(struct zkr__claim *claim, bool wait) ZKR__LOCKED;

/*
 * Turn the sure hold of a WRIT node into the hold of a READ node with the same number. The claim has the new path at
 * once. In the background, the engine repeats the request until it is answered. Claims of this client that may hold
 * beside a reader are granted.
 */
void zkr__claim_downgrade(struct zkr__claim *claim) ZKR__LOCKED;

/* If the lease bound has passed, declare the hold lost. */
void zkr__claim_check(struct zkr__claim *claim) ZKR__LOCKED;

/* Returns whether the claim is granted and not lost, and its lease is sure. */
bool zkr__claim_sure(struct zkr__claim *claim) ZKR__LOCKED;

#endif
