/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_HOLD_H
#define ZKT_HOLD_H

#include <stdatomic.h>

#include <zkr/guard.h>

#include "fixture.h"

/*
 * One suite for every kind of hold. A case is written once, and runs for each kind, or for each kind except those that
 * it lists:
 *
 *     // A free lock is granted.
 *     ZKT_HOLD_CASE(a_free_hold_is_granted, ZKT_NONE)
 *     {
 *         struct zkt_hold *h = zkt_hold(zkt_client(zkt_servers(), SESSION_MS));
 *         ZKT_MUST(zkt_hold_acquire(h, PATIENCE_MS));
 *         ZKT_MUST(zkt_hold_release(h));
 *     }
 */
enum zkt_kinds {
    ZKT_MUTEX,      /* held by the thread that acquires */
    ZKT_TICKET,     /* ticket of a mutex */
    ZKT_READER,     /* side of a read-write lock */
    ZKT_WRITER,     /* side of a read-write lock */
    ZKT_DOWNGRADED, /* a reader that was a writer */
    ZKT_PERMIT,     /* one permit of one */
    ZKT_PERMITS,    /* two permits of three */
    ZKT_MULTI,      /* a multi-lock of three paths */
    ZKT_LATCH,
    ZKT_SELECTOR,
    ZKT_KINDS,
    ZKT_PART = ZKT_KINDS /* not tested: a mutex that blocks the multi-lock's 2nd path */
};

#define ZKT_BIT(kind) (1U << (kind))
#define ZKT_NONE 0U
/** The kinds of which several can hold at the same time. */
#define ZKT_READERS (ZKT_BIT(ZKT_READER) | ZKT_BIT(ZKT_DOWNGRADED))
/** The kinds that wait as long as necessary, and queue again after a loss. */
#define ZKT_LEADERS (ZKT_BIT(ZKT_LATCH) | ZKT_BIT(ZKT_SELECTOR))
/** The kinds that a thread holds. They are released when the thread ends. */
#define ZKT_BY_THREAD (ZKT_READERS | ZKT_BIT(ZKT_MUTEX) | ZKT_BIT(ZKT_WRITER))
#define ZKT_MUTEXES (ZKT_BIT(ZKT_MUTEX) | ZKT_BIT(ZKT_TICKET))
#define ZKT_SEMAPHORES (ZKT_BIT(ZKT_PERMIT) | ZKT_BIT(ZKT_PERMITS))

#define ZKT_HOLD_CASE(name, but)                                                       \
    static void name(void);                                                            \
    __attribute__((constructor)) static void name##_is_a_case(void)                    \
    {                                                                                  \
        zkt_add_hold_cases(#name, name, but);                                          \
    }                                                                                  \
    static void name(void)

void zkt_add_hold_cases(const char *name, void (*body)(void), unsigned but);

/** Returns whether the current kind is one of these. */
bool zkt_is(unsigned kinds);

/**
 * A contender of the current kind: its object and its hold. It has its own thread, in which all calls are made except
 * zkt_hold_cancel().
 */
struct zkt_hold;

/** Returns a contender on the path of the case. Kept: at the end of the case it is canceled, released and destroyed. */
struct zkt_hold *zkt_hold(zkr_client *c);
/**
 * Returns a contender of any kind, on a separate path for that kind below the path of the case. For cases that take
 * long, which run with all kinds at once.
 */
struct zkt_hold *zkt_hold_of(zkr_client *c, enum zkt_kinds kind);
/** Like the two functions above, with options.watch_node, which leaders do not have. */
struct zkt_hold *zkt_hold_watched(zkr_client *c);
struct zkt_hold *zkt_hold_of_watched(zkr_client *c, enum zkt_kinds kind);
/** Returns another contender that uses the same object, for kinds whose objects can have several. */
struct zkt_hold *zkt_hold_beside(struct zkt_hold *h);
/** Returns a contender that uses @m, which the caller owns. Kept. */
struct zkt_hold *zkt_hold_by(zkr_client *c, zkr_mutex *m);
/** Returns a contender whose hold blocks the current kind. */
struct zkt_hold *zkt_hold_in_the_way(zkr_client *c);
/**
 * Check that no hold can be made on @c, which is closed or shut down, and that the error is ZKR_ECLOSED. Returns NULL.
 */
struct zkt_hold *zkt_hold_on_closed(zkr_client *c);
/** Returns NULL if memory runs out. */
struct zkt_hold *zkt_hold_if_memory(zkr_client *c);
/** Destroy the object now. Returns the code of the destroy function. If that is ZKR_EBUSY, the object is unchanged. */
int zkt_hold_destroy(struct zkt_hold *h);
/** Cancel, release and destroy now, and check the results. */
void zkt_hold_end(struct zkt_hold *h);

/** Request the hold, and wait until it is held. After a failure, nothing is requested any more. */
int zkt_hold_acquire(struct zkt_hold *h, int64_t timeout_ms);
/** Start to acquire. zkt_hold_wait() returns the result. */
void zkt_hold_ask(struct zkt_hold *h, int64_t timeout_ms);
int zkt_hold_wait(struct zkt_hold *h);
/** Start to acquire, and wait until the contender is in the queue, or holds. */
void zkt_hold_queue(struct zkt_hold *h);
/** Returns whether the hold was neither granted nor refused. */
bool zkt_hold_waits(struct zkt_hold *h);
/** End the wait, from any thread. The wait returns ZKR_ECANCELED. */
void zkt_hold_cancel(struct zkt_hold *h);
/** Release the hold. Returns ZKR_ESESSION if it was lost. Leaders learn of a loss only from their callbacks. */
int zkt_hold_release(struct zkt_hold *h);

bool zkt_hold_is_sure(struct zkt_hold *h);
int64_t zkt_hold_valid_for_ms(struct zkt_hold *h);
int zkt_hold_token(struct zkt_hold *h, int64_t *token);
int zkt_hold_node(struct zkt_hold *h, char *buf, size_t size);
/** Like zkr_mutex_multi() or, with @release, zkr_mutex_release_multi(). Checks that an error has a text. */
int zkt_hold_multi(struct zkt_hold *h,
                   int count,
                   const zoo_op_t *ops,
                   zoo_op_result_t *results,
                   int64_t timeout_ms,
                   bool release);
/** Like zkt_hold_multi(), with a write of the text "x". */
int zkt_hold_write(struct zkt_hold *h, const char *path, bool release);

/** Return what the callbacks have reported: grants, losses, and the reason of the last loss. */
int zkt_hold_gains(const struct zkt_hold *h);
int zkt_hold_losses(const struct zkt_hold *h);
int zkt_hold_reason(const struct zkt_hold *h);

zkr_client *zkt_hold_client(struct zkt_hold *h);
/** Returns the ticket that the contender has requested, or NULL. */
zkr_ticket *zkt_hold_ticket(struct zkt_hold *h);
/** Acquire and release in the calling thread, which may be any thread, including that of a fn of zkt_hold_start(). */
int zkt_hold_acquire_here(struct zkt_hold *h, int64_t timeout_ms);
int zkt_hold_release_here(struct zkt_hold *h);
/**
 * Run @fn in the thread of the hold. @fn may itself call all these functions. zkt_hold_start() does not wait for the
 * result.
 */
int zkt_hold_do(struct zkt_hold *h,
                int (*fn)(struct zkt_hold *h, void *arg),
                void *arg);
void zkt_hold_start(struct zkt_hold *h,
                    int (*fn)(struct zkt_hold *h, void *arg),
                    void *arg);
int zkt_hold_finish(struct zkt_hold *h);
/** End the thread of the hold, without releasing. */
void zkt_hold_end_thread(struct zkt_hold *h);

/** Return the number of ephemeral nodes below the path of the case, and the number that one holder has. */
int zkt_hold_nodes(void);
int zkt_hold_nodes_of_one(void);
int zkt_hold_nodes_of_each(void); /* number of nodes of one holder of each kind */
/**
 * Delete the last node in the queue of the current kind. Returns false if there is none. zkt_hold_delete_nth() deletes
 * one of the nodes of a single holder, for n = 0, 1, ... below zkt_hold_nodes_of_one(), a different one for each n.
 */
bool zkt_hold_delete_last(void);
bool zkt_hold_delete_nth(int n);
/** Delete the parents of the nodes if they are empty. */
void zkt_hold_delete_parents(void);

#endif
