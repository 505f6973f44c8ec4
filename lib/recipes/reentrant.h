/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that threads own: a table of threads over one place each in a queue. What every
 * re-entrant recipe is made of, whatever its queue's rule.
 */
#ifndef ZKR_RECIPES_REENTRANT_H
#define ZKR_RECIPES_REENTRANT_H

#include <stdint.h>

#include "base/table.h"
#include "base/thread.h"
#include "engine/place.h"
#include "engine/place_multi.h"
#include "engine/queue.h"

/*
 * A hold of several threads by one place, and so by one node. One thread has waited for it, others join; whoever comes
 * last leaves the queue. Freed with that. All functions need the client's lock.
 *
 * Others may join for a fixed time only. Writers of other clients that wait behind the node are not known here, and
 * without a bound readers that overlap would keep them waiting for ever.
 */

struct zkr__shared_hold {
    struct zkr__place place;
    void *lock; /* whose threads share it */
    int64_t members;
    int64_t closes_at; /* nobody joins from then on */
};

/*
 * Of the hold @from, which it takes over, with one member; others may join for @open_ms from now. The caller sets the
 * place's on_change. NULL: no memory, and @from stays.
 */
struct zkr__shared_hold *
zkr__shared_hold_make(struct zkr__place *from, void *lock, int64_t open_ms) ZKR__LOCKED;

/*
 * One more member. False: it may not join. The time is over, the hold is not sure, or was asked to end, or the client is
 * shut down or has somebody else than a reader waiting for the path.
 */
bool zkr__shared_hold_join(struct zkr__shared_hold *shared) ZKR__LOCKED;

/*
 * A member leaves; true: the hold had been lost. The last one leaves the queue, as zkr__place_leave() with @wait says,
 * and frees it; nobody may join meanwhile.
 */
bool zkr__shared_hold_leave(struct zkr__shared_hold *shared, bool wait) ZKR__LOCKED;

/* Which threads hold a re-entrant lock or wait for it, how often, and where. Needs the client's
 * lock. */

struct zkr__holder {
    uint64_t thread; /* zkr__thread_id(): never reused */
    int depth;       /* 0 = it waits */
    struct zkr__place place;
    /* A read hold of a thread that holds write has no place of its own; and the reverse. NULL = none. */
    struct zkr__holder *rests_on, *carries;
    /* Nor has one that is shared with other threads. NULL = none. */
    struct zkr__shared_hold *shared;
    void *lock;                   /* whose table it is */
    struct zkr__thread_duty duty; /* release when the thread ends */
    struct zkr__call lost;        /* tells the application, on the dispatch thread */
    /* Reported by that call, to which this belongs until then; NULL = none. */
    struct zkr__claim *lost_claim;
    UT_hash_handle hh;
};

/* By which it holds, or waits. */
struct zkr__place *zkr__holder_place(struct zkr__holder *holder);

/* The calling thread's entry, or NULL. */
struct zkr__holder *zkr__holders_find(struct zkr__holder *table);
/* Of the calling thread, in whichever table, the one behind @holder; NULL: the first. NULL: there is none. */
struct zkr__holder *zkr__holders_next_own(struct zkr__holder *holder);
/* Enter @holder for the calling thread; false: no memory. */
bool zkr__holders_add(struct zkr__holder **table, struct zkr__holder *holder);
/* Take it out; by its thread, or at that thread's end. */
void zkr__holders_remove(struct zkr__holder **table, struct zkr__holder *holder);

/* A thread that is about to wait for what it holds itself, by another object. */

/*
 * ZKR_EDEADLK, with the thread's last error, when the calling thread is to wait in @q without limit, and holds its path by a
 * re-entrant lock of this client: then it would wait for itself, for ever. A reader beside a reader is none such. What was
 * lost is held no more; tickets are nobody's. Else ZKR_OK.
 */
int zkr__deadlock_check(const struct zkr__queue *q, int64_t timeout_ms) ZKR__LOCKED;

struct zkr__reentrant {
    zkr_client *c;
    struct zkr__queue *queue;
    struct zkr__holder *holders; /* table; those that wait, too */
    const void *owner;           /* of the calls to on_lost */
    /* On the dispatch thread, with no lock held, once for each hold that is lost; NULL = nobody
     * is told. May end the lock. */
    void (*on_lost)(struct zkr__reentrant *lock, const zkr_lost *lost);
    bool wait_on_release;
    /*
     * Of the two sides of a read-write lock: the other one, else NULL. A thread that holds its `writer` holds this
     * one at once, and keeps that when it lets go of the writer (a downgrade). One that holds its `reader`, and not
     * this one, would wait for itself.
     */
    struct zkr__reentrant *writer, *reader;
    /*
     * Other threads join a hold for so long from its grant, if it waited in the queue for itself. 0 = never. @open is
     * the last one granted, until nobody may join it any more; NULL = none.
     */
    int64_t share_ms;
    struct zkr__shared_hold *open;
};

/* For the calling thread, as zkr_mutex_acquire() and so on say; without the client's lock. */
int zkr__reentrant_acquire(struct zkr__reentrant *lock, int64_t timeout_ms);
int zkr__reentrant_release(struct zkr__reentrant *lock);
void zkr__reentrant_cancel(struct zkr__reentrant *lock);

/* As zkr_mutex_multi(), or zkr_mutex_release_multi(). */
int zkr__reentrant_multi(struct zkr__reentrant *lock, const struct zkr__writes *writes);

/* The calling thread's depth. */
int zkr__reentrant_depth(const struct zkr__reentrant *lock) ZKR__LOCKED;
/* The claim by which the calling thread surely holds, or NULL and a code. */
const struct zkr__claim *zkr__reentrant_hold(const struct zkr__reentrant *lock,
                                             int *rc) ZKR__LOCKED;
/* Does the calling thread surely hold it now? Does any? */
bool zkr__reentrant_is_held(const struct zkr__reentrant *lock) ZKR__LOCKED;
bool zkr__reentrant_is_held_by_any(const struct zkr__reentrant *lock) ZKR__LOCKED;

#endif
