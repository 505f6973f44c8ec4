/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that threads own: a table of threads, each with a hold in a queue. Every re-entrant recipe uses it, with the
 * rule of its own queue.
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
    uint64_t thread; /* zkr__thread_id(), never reused */
    int depth;       /* 0 = the thread waits */
    struct zkr__hold hold;
    /*
     * The read hold of a thread that also holds write has no hold of its own, and points to the writer's entry, which
     * points back. NULL = none.
     */
    struct zkr__holder *rests_on, *carries;
    void *lock;                 /* the lock whose table has this entry */
    struct zkr__exit_hook hook; /* releases when the thread ends */
    struct zkr__call lost;      /* calls on_lost on the dispatch thread */
    /* The claim that this call reports, referenced until then; NULL = none. */
    struct zkr__claim *lost_claim;
    UT_hash_handle hh;
};

/* Returns the calling thread's entry in @table, or NULL. */
struct zkr__holder *zkr__holders_find(struct zkr__holder *table);
/* Add @holder for the calling thread. False: out of memory. */
bool zkr__holders_add(struct zkr__holder **table, struct zkr__holder *holder);
/* Remove @holder. Called by its thread, or when that thread ends. */
void zkr__holders_remove(struct zkr__holder **table, struct zkr__holder *holder);

/*
 * Returns ZKR_EDEADLK, with the thread's last error, if the calling thread would wait in @q for itself for ever: it
 * would wait without limit, and holds the path of @q by a re-entrant lock of this client. A reader does not wait for a
 * reader. A lost hold does not count, and a ticket belongs to no thread. Else returns ZKR_OK.
 */
int zkr__deadlock_check(const struct zkr__queue *q, int64_t timeout_ms) ZKR__LOCKED;

struct zkr__reentrant {
    zkr_client *c;
    struct zkr__queue *queue;
    struct zkr__holder *holders; /* table, including threads that wait */
    const void *owner;           /* of the calls of on_lost */
    /*
     * Called on the dispatch thread, without a lock, once for each lost hold. May destroy the lock. NULL = not wanted.
     */
    void (*on_lost)(struct zkr__reentrant *lock, const zkr_lost *lost);
    /* The same, once for each hold of which little of the lease is left. */
    void (*on_warn)(struct zkr__reentrant *lock, int64_t token, int64_t left_ms);
    struct zkr__call warn; /* calls on_warn */
    bool wait_on_release;
    int64_t cancels; /* number of calls of zkr__reentrant_cancel() */
    /*
     * The other side, if this lock is a side of a read-write lock; else NULL. A thread that holds `writer` gets this
     * lock at once, and keeps it when it releases the writer (a downgrade). A thread that holds `reader` but not this
     * lock would wait for itself.
     */
    struct zkr__reentrant *writer, *reader;
};

/* Choose the callbacks, either of which may be NULL. @owner: of the calls to them. */
void zkr__reentrant_tell(
    struct zkr__reentrant *lock,
    const void *owner,
    void (*on_lost)(struct zkr__reentrant *lock, const zkr_lost *lost),
    void (*on_warn)(struct zkr__reentrant *lock, int64_t token, int64_t left_ms));

/* Acquire, release and cancel for the calling thread, as documented for zkr_mutex. Called without the client's lock. */
int zkr__reentrant_acquire(struct zkr__reentrant *lock, int64_t timeout_ms);
int zkr__reentrant_release(struct zkr__reentrant *lock);
void zkr__reentrant_cancel(struct zkr__reentrant *lock);

/* Like zkr_mutex_multi() or zkr_mutex_release_multi(). */
int zkr__reentrant_multi(struct zkr__reentrant *lock, const struct zkr__writes *writes);

/*
 * Returns the claim by which the calling thread surely holds; else NULL, with a code in *rc and the last error, unless
 * @rc is NULL.
 */
const struct zkr__claim *zkr__reentrant_hold(const struct zkr__reentrant *lock,
                                             int *rc) ZKR__LOCKED;
/* Queries: does the calling thread surely hold the lock now (1 or 0), how often, and does any thread? */
int64_t zkr__reentrant_is_held(const struct zkr__reentrant *lock) ZKR__LOCKED;
int64_t zkr__reentrant_depth(const struct zkr__reentrant *lock) ZKR__LOCKED;
int64_t zkr__reentrant_is_held_by_any(const struct zkr__reentrant *lock) ZKR__LOCKED;
/* Returns the result of a query. Called without the client's lock. */
int64_t zkr__reentrant_ask(const struct zkr__reentrant *lock,
                           int64_t (*question)(const struct zkr__reentrant *lock));

#endif
