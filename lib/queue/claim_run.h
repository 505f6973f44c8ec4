/* SPDX-License-Identifier: Apache-2.0 */
/* A claim in motion: events in, requests and notifications out, timers, counters. With the client's lock. */
#ifndef ZKR_QUEUE_CLAIM_RUN_H
#define ZKR_QUEUE_CLAIM_RUN_H

#include "queue/claim.h"

/* Begin, with a new claim. */
void zkr__claim_start(struct zkr__claim *claim) ZKR__LOCKED;

/* Feed the claim an event, and carry out what follows. Of @e: the kind, and what belongs to that. May free the claim. */
void zkr__claim_run(struct zkr__claim *claim, struct zkr__claim_event e) ZKR__LOCKED;
/* The same with an event that has nothing but a @kind. */
void zkr__claim_tell(struct zkr__claim *claim, enum zkr__event_kind kind) ZKR__LOCKED;

/* Admit claims that stand in line, as far as there is room. Without a connection all go on, and wait for that. */
void zkr__claims_let_in(struct zkr__engine *engine) ZKR__LOCKED;

/* Others contend in @d: a node that is kept there (keep.h) is kept no more, and the claims in line make their own. */
void zkr__claims_contended(struct zkr__directory *d) ZKR__LOCKED;
/* Delete the kept nodes that have no holder: in @q; NULL: all. */
void zkr__claims_end_keeping(struct zkr__engine *engine,
                             const struct zkr__queue *q) ZKR__LOCKED;

/* The engine's on_before and on_answer. */
void zkr__claim_on_before(struct zkr__path_watcher *watcher,
                          enum zkr__node_event event) ZKR__LOCKED;
void zkr__claim_on_answer(void *ctx,
                          unsigned tag,
                          const struct zkr__answer *answer) ZKR__LOCKED;

/* Sleep until the claim is decided, canceled or left, or the deadline has passed. Callers sleep for a lock here only. */
void zkr__claim_wait(struct zkr__claim *claim, int64_t deadline) ZKR__LOCKED;

/* Let go, from any phase. From here on the engine deletes the node, however long that takes. The reference stays. */
void zkr__claim_let_go(struct zkr__claim *claim) ZKR__LOCKED;
/*
 * The same, without the reference. With @wait: sleep until the node is gone, or refused to be deleted, or the session
 * over.
 */
void zkr__claim_leave(struct zkr__claim *claim, bool wait) ZKR__LOCKED;

/*
 * A sure hold by a writer's node goes on as a hold by a reader's node with the same number. The claim has the new path
 * at once. The engine asks the servers in the background, as often as it takes. Claims of this client that may hold
 * beside a reader are granted.
 */
void zkr__claim_downgrade(struct zkr__claim *claim) ZKR__LOCKED;

/* Declare the hold lost if its lease bound has passed. */
void zkr__claim_check(struct zkr__claim *claim) ZKR__LOCKED;

/* Granted, not lost, and surely still alive. */
bool zkr__claim_sure(struct zkr__claim *claim) ZKR__LOCKED;

#endif
