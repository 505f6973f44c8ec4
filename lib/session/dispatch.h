/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of the application's callbacks. They run in order, one at a time, without any lock of the library held.
 * They run on a thread of the library or, in application mode (option dispatch_by_application, "by_hand" in names), on
 * a thread of the application. The queue's lock is a leaf lock, so a call may be posted under any other lock.
 */
#ifndef ZKR_SESSION_DISPATCH_H
#define ZKR_SESSION_DISPATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sync.h"

/* A callback to run. Embedded in the poster's object. The queue owns the call from the post until run() or drop(). */
struct zkr__call {
    struct zkr__call *next;
    const void *owner; /* for zkr__dispatch_cancel() */
    /* Returns true if it has called the application. */
    bool (*run)(struct zkr__call *call);
    /* Called instead of run() if the call is canceled. May be NULL. */
    void (*drop)(struct zkr__call *call);
    bool queued; /* the call is in the queue; false when run() or drop() begins */
};

struct zkr__dispatch {
    struct zkr__mu mu;
    /* Signaled when a call is queued or ends, or the turn is free. */
    struct zkr__cv changed;
    struct zkr__call *head, **tail;
    const void *running; /* owner of the running call */
    uint64_t ran;        /* how many calls have run */
    pthread_t thread;
    bool started, stop;
    bool held;    /* the thread may not run calls yet */
    bool over;    /* the thread has run its last call */
    bool taken;   /* application mode: a thread has the turn to run calls */
    int event_fd; /* application mode: readable while calls are queued; else -1 */
};

void zkr__dispatch_init(struct zkr__dispatch *d);
/* Start a thread, or prepare for application mode. The client calls one of the two, once. Both return 0 or errno. */
int zkr__dispatch_start(struct zkr__dispatch *d);
int zkr__dispatch_begin_by_hand(struct zkr__dispatch *d);
/* Keep the thread from running calls until zkr__dispatch_go() or zkr__dispatch_stop(). Called before the start. */
void zkr__dispatch_hold(struct zkr__dispatch *d);
void zkr__dispatch_go(struct zkr__dispatch *d);
/* Run the queued calls, and end the thread. In application mode, run them in the calling thread. */
void zkr__dispatch_stop(struct zkr__dispatch *d);
void zkr__dispatch_destroy(struct zkr__dispatch *d);

/* Queue a call. If the call is queued already, do nothing. */
void zkr__dispatch_post(struct zkr__dispatch *d, struct zkr__call *call);
/* Drop the queued calls of @owner. If a call of @owner is running, wait for its end, unless that call is the caller. */
void zkr__dispatch_cancel(struct zkr__dispatch *d, const void *owner);
/* If a call of @owner is running, wait for its end. That call itself must not call this function. */
void zkr__dispatch_await_call(struct zkr__dispatch *d, const void *owner);
/* Run the first queued call in the calling thread. Returns false if there is none. */
bool zkr__dispatch_run_one(struct zkr__dispatch *d);
/*
 * Application mode: run the calls that are queued now, until the application was called @max times (0 = no limit).
 * Returns how often it was called, or -1 if another thread has the turn.
 */
int zkr__dispatch_run(struct zkr__dispatch *d, int max);
/* Application mode: wait for the turn, then run the queued calls of @owner. */
void zkr__dispatch_run_owner(struct zkr__dispatch *d, const void *owner);
static inline bool zkr__dispatch_by_hand(const struct zkr__dispatch *d)
{
    return d->event_fd >= 0;
}
/*
 * Returns whether the calling thread is the queue's own thread or is running one of the queue's calls, at any nesting
 * level.
 */
bool zkr__dispatch_is_self(const struct zkr__dispatch *d);

#endif
