/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that threads own: a table of threads, each with a hold in a queue. All re-entrant recipes use this struct,
 * each with the rule of its own queue.
 */
#ifndef ZKR_RECIPES_REENTRANT_H
#define ZKR_RECIPES_REENTRANT_H

#include <stdint.h>

#include "base/table.h"
#include "base/thread.h"
#include "queue/hold.h"
#include "queue/hold_write.h"
#include "queue/queue.h"

/* A thread that holds a re-entrant lock or waits for it. */
struct zkr__holder {
    uint64_t thread; /* zkr__thread_id(), never reused */
    int depth;       /* 0 = the thread waits */
    struct zkr__hold hold;
    /*
     * A thread that acquires for reading while it holds for writing gets a read entry without a hold. The read entry
     * rests_on the write entry, and the write entry carries the read entry. NULL = none.
     */
    struct zkr__holder *rests_on, *carries;
    void *lock;                 /* the lock that has this entry in its table */
    struct zkr__exit_hook hook; /* releases the hold when the thread ends */
    struct zkr__call lost;      /* calls on_lost on the dispatch thread */
    /* The claim whose loss `lost` will report, or NULL. Has one reference. */
    struct zkr__claim *lost_claim;
    UT_hash_handle hh;
};

/* Returns the calling thread's entry in @table, or NULL. */
struct zkr__holder *zkr__holders_find(struct zkr__holder *table);
/* Add @holder for the calling thread. Returns false if memory runs out. */
bool zkr__holders_add(struct zkr__holder **table, struct zkr__holder *holder);
/* Remove @holder. Its own thread calls this, possibly as it ends. */
void zkr__holders_remove(struct zkr__holder **table, struct zkr__holder *holder);

/*
 * Returns ZKR_EDEADLK, with an error text, if the calling thread would wait for itself in @q: @timeout_ms is infinite,
 * and the thread holds the path of @q through a re-entrant lock of this client. Otherwise returns ZKR_OK. A reader does
 * not wait for a reader, a lost hold does not count, and a ticket belongs to no thread.
 */
int zkr__deadlock_check(const struct zkr__queue *q, int64_t timeout_ms) ZKR__LOCKED;

struct zkr__reentrant {
    zkr_client *c;
    struct zkr__queue *queue;
    struct zkr__holder *holders; /* table of the threads that hold or wait */
    const void *owner;           /* owner of the calls that run the callbacks */
    /* Called on the dispatch thread, without locks held, once for each lost hold. May destroy the lock. NULL = none. */
    void (*on_lost)(struct zkr__reentrant *lock, const zkr_lost *lost);
    /* Called in the same way, once for each hold, when little of the lease is left. */
    void (*on_warn)(struct zkr__reentrant *lock, int64_t token, int64_t left_ms);
    struct zkr__call warn; /* calls on_warn */
    bool wait_on_release;
    int64_t cancels; /* how often zkr__reentrant_cancel() was called */
    /*
     * The other side if this lock is a side of a read-write lock, else NULL. A thread that holds `writer` acquires this
     * lock at once, and keeps it after a release of `writer` (a downgrade). A thread that holds `reader` but not this
     * lock would wait for itself, so its acquire fails.
     */
    struct zkr__reentrant *writer, *reader;
};

/* Set the callbacks, each of which may be NULL, and the @owner of their calls. */
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
 * Returns the claim by which the calling thread surely holds. If there is none, returns NULL and, unless @rc is NULL,
 * sets *rc and the last error.
 */
const struct zkr__claim *zkr__reentrant_hold(const struct zkr__reentrant *lock,
                                             int *rc) ZKR__LOCKED;
/*
 * These return whether the calling thread surely holds the lock, at what depth, and whether any thread surely holds it.
 */
int64_t zkr__reentrant_is_held(const struct zkr__reentrant *lock) ZKR__LOCKED;
int64_t zkr__reentrant_depth(const struct zkr__reentrant *lock) ZKR__LOCKED;
int64_t zkr__reentrant_is_held_by_any(const struct zkr__reentrant *lock) ZKR__LOCKED;
/* Returns the result of one of these queries. Called without the client's lock. */
int64_t zkr__reentrant_ask(const struct zkr__reentrant *lock,
                           int64_t (*question)(const struct zkr__reentrant *lock));

#endif
