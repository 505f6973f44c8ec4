/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that threads own: a table of threads, each with a hold in a queue. Every re-entrant recipe is made of it, with
 * whatever rule its queue has.
 */
#ifndef ZKR_RECIPES_REENTRANT_H
#define ZKR_RECIPES_REENTRANT_H

#include <stdint.h>

#include "base/table.h"
#include "base/thread.h"
#include "queue/hold.h"
#include "queue/hold_write.h"
#include "queue/queue.h"

/* A thread that holds a re-entrant lock, or waits for it. */
struct zkr__holder {
    uint64_t thread; /* zkr__thread_id(): never reused */
    int depth;       /* 0 = the thread waits */
    struct zkr__hold hold;
    /* A read hold of a thread that holds write has no hold of its own; and the reverse. NULL = none. */
    struct zkr__holder *rests_on, *carries;
    void *lock;                 /* whose table it is in */
    struct zkr__exit_hook hook; /* release when the thread ends */
    struct zkr__call lost;      /* tells the application, on the dispatch thread */
    /* The claim that this call reports, and that has a reference until then; NULL = none. */
    struct zkr__claim *lost_claim;
    UT_hash_handle hh;
};

/* The calling thread's entry in @table, or NULL. */
struct zkr__holder *zkr__holders_find(struct zkr__holder *table);
/* Enter @holder for the calling thread; false: no memory. */
bool zkr__holders_add(struct zkr__holder **table, struct zkr__holder *holder);
/* Take @holder out; called by its thread, or at the end of that thread. */
void zkr__holders_remove(struct zkr__holder **table, struct zkr__holder *holder);

/*
 * ZKR_EDEADLK, with the thread's last error, when the calling thread would wait in @q for itself for ever: it is to wait
 * without limit, and holds the path of @q by a re-entrant lock of this client. A reader beside a reader does not wait. A
 * lost hold is no hold, and a ticket belongs to no thread. Else ZKR_OK.
 */
int zkr__deadlock_check(const struct zkr__queue *q, int64_t timeout_ms) ZKR__LOCKED;

struct zkr__reentrant {
    zkr_client *c;
    struct zkr__queue *queue;
    struct zkr__holder *holders; /* table; threads that wait are in it, too */
    const void *owner;           /* of the calls to on_lost */
    /* Called on the dispatch thread, with no lock held, once for each hold that is lost. May end the lock. May be NULL. */
    void (*on_lost)(struct zkr__reentrant *lock, const zkr_lost *lost);
    bool wait_on_release;
    int64_t cancels; /* calls of zkr__reentrant_cancel() so far */
    /*
     * The other side, if this lock is a side of a read-write lock; else NULL. A thread that holds `writer` gets this lock
     * at once, and keeps it when it releases the writer (a downgrade). A thread that holds `reader` but not this lock
     * would wait for itself.
     */
    struct zkr__reentrant *writer, *reader;
};

/* For the calling thread, as zkr_mutex_acquire() and so on say; without the client's lock. */
int zkr__reentrant_acquire(struct zkr__reentrant *lock, int64_t timeout_ms);
int zkr__reentrant_release(struct zkr__reentrant *lock);
void zkr__reentrant_cancel(struct zkr__reentrant *lock);

/* As zkr_mutex_multi() or zkr_mutex_release_multi(). */
int zkr__reentrant_multi(struct zkr__reentrant *lock, const struct zkr__writes *writes);

/* The claim by which the calling thread surely holds; or NULL, with a code and the last error, unless @rc is NULL. */
const struct zkr__claim *zkr__reentrant_hold(const struct zkr__reentrant *lock,
                                             int *rc) ZKR__LOCKED;
/* Questions. Does the calling thread surely hold the lock now, 1 or 0? How often? Does any thread? */
int64_t zkr__reentrant_is_held(const struct zkr__reentrant *lock) ZKR__LOCKED;
int64_t zkr__reentrant_depth(const struct zkr__reentrant *lock) ZKR__LOCKED;
int64_t zkr__reentrant_is_held_by_any(const struct zkr__reentrant *lock) ZKR__LOCKED;
/* The answer to one of them, without the client's lock. */
int64_t zkr__reentrant_ask(const struct zkr__reentrant *lock,
                           int64_t (*question)(const struct zkr__reentrant *lock));

#endif
