/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recipe does with claims: enter, wait, leave. Nothing else creates, orders, watches, waits or retries.
 * All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_CONTEND_H
#define ZKR_ENGINE_CONTEND_H

#include "engine/claim.h"

/* How to join, and who is told. */
struct zkr__entry {
    bool once; /* fail with ZKR_ETIMEDOUT instead of waiting behind others */
    /*
     * Undecided then, it fails by itself: with ZKR_ETIMEDOUT behind another, with ZKR_ENOANSWER when no server has
     * said where it stands. For a claim that nobody sleeps on. 0 or ZKR__NEVER = none.
     */
    int64_t deadline;
    long thread; /* for the owner text; 0 = the calling one */
    bool
        metered; /* the claim measures itself: it belongs to no place, which would do that */
    /*
     * Called with the lock held at each change of the outcome (granted, failed, lost, in doubt). It must not block,
     * and may leave the claim. NULL = none.
     */
    void (*on_change)(struct zkr__claim *claim, void *ctx);
    void *ctx;
};

/* A claim that has not begun. NULL: no memory. */
struct zkr__claim *zkr__claim_prepare(struct zkr__queue *q,
                                      const struct zkr__entry *entry) ZKR__LOCKED;
/* Join the queue with it, as the next function says. */
void zkr__claim_begin(struct zkr__claim *claim) ZKR__LOCKED;
/*
 * Join the queue. A client whose credentials are refused, or that is shut down, calls on_change before this
 * returns, with *out set. Returns ZKR_OK or ZKR_ENOMEM.
 */
int zkr__claim_enter(struct zkr__claim **out,
                     struct zkr__queue *q,
                     const struct zkr__entry *entry) ZKR__LOCKED;

/* Sleep until it is decided, canceled, or the deadline has passed. The only place where a caller
 * sleeps for a lock. */
void zkr__claim_wait(struct zkr__claim *claim, int64_t deadline) ZKR__LOCKED;
/* Wake the sleeper. */
void zkr__claim_cancel(struct zkr__claim *claim) ZKR__LOCKED;

/* The first half of the next function: the owner keeps its reference. */
void zkr__claim_let_go(struct zkr__claim *claim) ZKR__LOCKED;
/* Let go, from any phase. The claim is the engine's from here: its node is deleted, if it takes
 * till the end of the session. */
void zkr__claim_leave(struct zkr__claim *claim) ZKR__LOCKED;
/* The same, and wait until nothing of it is left on the server, or the session is over. */
void zkr__claim_leave_wait(struct zkr__claim *claim) ZKR__LOCKED;

/*
 * A sure hold by a writer's node goes on by a reader's with the same number. It has that path at once; the servers
 * are asked in the background, as often as it takes. Others of this client who may hold beside a reader are granted.
 */
void zkr__claim_downgrade(struct zkr__claim *claim) ZKR__LOCKED;

/* Declare a hold lost whose lease bound has passed, if nobody has yet. */
void zkr__claim_check(struct zkr__claim *claim) ZKR__LOCKED;

/* Granted, not lost, and surely still alive. */
bool zkr__claim_sure(struct zkr__claim *claim) ZKR__LOCKED;

#endif
