/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of callbacks of the application. They run in order, one at a time, with no lock of ours held: in a thread
 * of ours, or by hand, in a thread of the application. The lock of the queue is a leaf, so a call may be posted from
 * anywhere.
 */
#ifndef ZKR_SESSION_DISPATCH_H
#define ZKR_SESSION_DISPATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sync.h"

/* Embedded in its object. Belongs to the queue from the post until run() or drop(). */
struct zkr__call {
    struct zkr__call *next;
    const void *owner; /* for zkr__dispatch_cancel() */
    /* True: it has called the application. */
    bool (*run)(struct zkr__call *call);
    /* Instead of run() when canceled. May be NULL. */
    void (*drop)(struct zkr__call *call);
    bool queued; /* in the queue, until run() or drop() begins */
};

struct zkr__dispatch {
    struct zkr__mu mu;
    struct zkr__cv changed; /* for those who wait for a call, its end, or the turn */
    struct zkr__call *head, **tail;
    const void *running; /* owner of the call that runs now */
    uint64_t ran;        /* calls so far */
    pthread_t thread;
    bool started, stop;
    bool held;    /* the thread runs no call yet */
    bool over;    /* the thread has run its last call */
    bool taken;   /* by hand: a thread has the turn */
    int event_fd; /* by hand: readable while calls wait; else -1 */
};

void zkr__dispatch_init(struct zkr__dispatch *d);
/* Either of these, once. 0 or errno. */
int zkr__dispatch_start(struct zkr__dispatch *d);
int zkr__dispatch_begin_by_hand(struct zkr__dispatch *d);
/* Before the start: the thread runs no call until zkr__dispatch_go(), or until it has to end. */
void zkr__dispatch_hold(struct zkr__dispatch *d);
void zkr__dispatch_go(struct zkr__dispatch *d);
/* Run what is queued, and end the thread; by hand, run it in the calling thread. */
void zkr__dispatch_stop(struct zkr__dispatch *d);
void zkr__dispatch_destroy(struct zkr__dispatch *d);

/* Does nothing to a call that is in the queue already. */
void zkr__dispatch_post(struct zkr__dispatch *d, struct zkr__call *call);
/* Drop the queued calls of @owner, and wait until none runs, but for a call that cancels itself. */
void zkr__dispatch_cancel(struct zkr__dispatch *d, const void *owner);
/* Wait for the end of the call of @owner that runs now, if one does. Not for that call itself. */
void zkr__dispatch_await_call(struct zkr__dispatch *d, const void *owner);
/* Run the first queued call in the calling thread. False: there is none. */
bool zkr__dispatch_run_one(struct zkr__dispatch *d);
/*
 * By hand: run the calls that are queued now, until the application was called @max times; 0 = all of them. Returns
 * how often it was called; -1: another thread has the turn.
 */
int zkr__dispatch_run(struct zkr__dispatch *d, int max);
/* By hand: wait for the turn, then run the queued calls of @owner. */
void zkr__dispatch_run_owner(struct zkr__dispatch *d, const void *owner);
static inline bool zkr__dispatch_by_hand(const struct zkr__dispatch *d)
{
    return d->event_fd >= 0;
}
/* Is the calling thread running a call of this queue, perhaps within one of another queue? */
bool zkr__dispatch_is_self(const struct zkr__dispatch *d);

#endif
