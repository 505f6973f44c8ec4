/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that threads own: a table of threads over one place each in a queue. What every
 * re-entrant recipe is made of, whatever its queue's rule.
 */
#ifndef ZKR_RECIPES_REENTRANT_H
#define ZKR_RECIPES_REENTRANT_H

#include "engine/holders.h"
#include "engine/place_multi.h"

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
