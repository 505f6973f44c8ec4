/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of callbacks of the application: they run in order, one at a time, with no lock of ours
 * held. Either a thread of ours runs them, or the application does, by hand. Its own lock is a leaf:
 * calls may be posted from anywhere.
 */
#ifndef ZKR_SESSION_DISPATCH_H
#define ZKR_SESSION_DISPATCH_H

#include <pthread.h>
#include <stdbool.h>

#include "base/sync.h"

/* Embedded in what it is about; belongs to the queue from post until run() or cancel(). */
struct zkr__call {
    struct zkr__call *next;
    const void *owner;                   /* for zkr__dispatch_cancel() */
    bool (*run)(struct zkr__call *call); /* true: the application was called */
    void (*drop)(
        struct zkr__call *call); /* instead of run() when canceled; may be NULL */
};

struct zkr__dispatch {
    struct zkr__mu mu;
    struct zkr__cv work, idle;
    struct zkr__call *head, **tail;
    const void *running; /* owner of the call that runs now */
    pthread_t thread;
    bool started, stop;
    bool taken;   /* by hand: a thread has its turn */
    int event_fd; /* by hand: readable while calls wait; else -1 */
};

int zkr__dispatch_init(struct zkr__dispatch *d);  /* 0 or errno */
int zkr__dispatch_start(struct zkr__dispatch *d); /* a thread of ours */
/* By hand, instead of a thread. 0 or errno. */
int zkr__dispatch_begin_by_hand(struct zkr__dispatch *d);
/* Run what is queued, then end the thread; by hand, in the calling thread. */
void zkr__dispatch_stop(struct zkr__dispatch *d);
void zkr__dispatch_destroy(struct zkr__dispatch *d);

void zkr__dispatch_post(struct zkr__dispatch *d, struct zkr__call *call);
/* Drop the queued calls of @owner and wait until none of them runs, unless called from it. */
void zkr__dispatch_cancel(struct zkr__dispatch *d, const void *owner);
/* Run the first queued call in the calling thread; false when there is none. */
bool zkr__dispatch_run_one(struct zkr__dispatch *d);
/*
 * By hand: run the calls that wait now until the application was called @max times; 0 = all of them. Returns how
 * often it was, or -1 when another thread has the turn.
 */
int zkr__dispatch_run(struct zkr__dispatch *d, int max);
/* By hand: wait for the turn, then run the calls of @owner that are queued. */
void zkr__dispatch_run_owner(struct zkr__dispatch *d, const void *owner);
static inline bool zkr__dispatch_by_hand(const struct zkr__dispatch *d)
{
    return d->event_fd >= 0;
}
/* Is the calling thread running one of the calls, perhaps below one of another queue? */
bool zkr__dispatch_is_self(const struct zkr__dispatch *d);

#endif
