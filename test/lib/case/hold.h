/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_HOLD_H
#define ZKT_HOLD_H

#include <stdatomic.h>

#include <zkr/guard.h>

#include "fixture.h"

/*
 * One suite for every kind of hold. A case stands once and runs for each kind, or for each but those that it names:
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
    ZKT_MUTEX,      /* by the thread that acquires */
    ZKT_TICKET,     /* of a mutex */
    ZKT_READER,     /* of a read-write lock */
    ZKT_WRITER,     /* of a read-write lock */
    ZKT_DOWNGRADED, /* a reader that was a writer */
    ZKT_PERMIT,     /* one of one */
    ZKT_PERMITS,    /* two of three */
    ZKT_MULTI,      /* a multi-lock of three paths */
    ZKT_LATCH,
    ZKT_SELECTOR,
    ZKT_KINDS,
    ZKT_PART =
        ZKT_KINDS /* a mutex on the second path of the multi-lock: in its way, and no kind of its own */
};

#define ZKT_BIT(kind) (1U << (kind))
#define ZKT_NONE 0U
/** They hold together. */
#define ZKT_READERS (ZKT_BIT(ZKT_READER) | ZKT_BIT(ZKT_DOWNGRADED))
/** They wait for as long as it takes, and come again by themselves. */
#define ZKT_LEADERS (ZKT_BIT(ZKT_LATCH) | ZKT_BIT(ZKT_SELECTOR))
/** A thread holds, and its end releases. */
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

/** Is the present kind among these? */
bool zkt_is(unsigned kinds);

/**
 * A contender of the present kind: what it asks by, and what it holds. It has a thread of its own, in which all calls are
 * made but zkt_hold_cancel().
 */
struct zkt_hold;

/** On the path of the case, and kept: at its end it is canceled, released and destroyed. */
struct zkt_hold *zkt_hold(zkr_client *c);
/** One of any kind, on a path of the kind's own below that of the case: for what takes its time, with all kinds at once. */
struct zkt_hold *zkt_hold_of(zkr_client *c, enum zkt_kinds kind);
/** The same two with options.watch_node, which leaders do not have. */
struct zkt_hold *zkt_hold_watched(zkr_client *c);
struct zkt_hold *zkt_hold_of_watched(zkr_client *c, enum zkt_kinds kind);
/** Another contender by the same object, where one object has several. */
struct zkt_hold *zkt_hold_beside(struct zkt_hold *h);
/** A contender by @m, which is somebody else's. Kept. */
struct zkt_hold *zkt_hold_by(zkr_client *c, zkr_mutex *m);
/** One whose hold the present kind waits for. */
struct zkt_hold *zkt_hold_in_the_way(zkr_client *c);
/** On a client that is closed or shut down: NULL, and ZKR_ECLOSED. */
struct zkt_hold *zkt_hold_on_closed(zkr_client *c);
/** NULL: no memory. */
struct zkt_hold *zkt_hold_if_memory(zkr_client *c);
/** Destroy now: the code of the object's destroy, which ZKR_EBUSY leaves as it is. */
int zkt_hold_destroy(struct zkt_hold *h);
/** Cancel, release and destroy now, and check. */
void zkt_hold_end(struct zkt_hold *h);

/** Ask, and wait until it is held. A failure is the end of this wait: nothing is asked for any more. */
int zkt_hold_acquire(struct zkt_hold *h, int64_t timeout_ms);
/** Begin to; zkt_hold_wait() returns what comes of it. */
void zkt_hold_ask(struct zkt_hold *h, int64_t timeout_ms);
int zkt_hold_wait(struct zkt_hold *h);
/** Begin to, and wait until it stands in the queue, or holds. */
void zkt_hold_queue(struct zkt_hold *h);
/** It has not been granted, nor refused. */
bool zkt_hold_waits(struct zkt_hold *h);
/** End the wait, from any thread: ZKR_ECANCELED. */
void zkt_hold_cancel(struct zkt_hold *h);
/** ZKR_ESESSION: it was lost. Leaders hear of that by their callbacks alone. */
int zkt_hold_release(struct zkt_hold *h);

bool zkt_hold_is_sure(struct zkt_hold *h);
int64_t zkt_hold_valid_for_ms(struct zkt_hold *h);
int zkt_hold_token(struct zkt_hold *h, int64_t *token);
int zkt_hold_node(struct zkt_hold *h, char *buf, size_t size);
/** As zkr_mutex_multi(), with @release as zkr_mutex_release_multi(). An error has a text. */
int zkt_hold_multi(struct zkt_hold *h,
                   int count,
                   const zoo_op_t *ops,
                   zoo_op_result_t *results,
                   int64_t timeout_ms,
                   bool release);
/** The same: a write of the text "x". */
int zkt_hold_write(struct zkt_hold *h, const char *path, bool release);

/** What its callbacks have told: grants, losses, and the reason of the last loss. */
int zkt_hold_gains(const struct zkt_hold *h);
int zkt_hold_losses(const struct zkt_hold *h);
int zkt_hold_reason(const struct zkt_hold *h);

zkr_client *zkt_hold_client(struct zkt_hold *h);
/** That it has asked for, or NULL. */
zkr_ticket *zkt_hold_ticket(struct zkt_hold *h);
/** In the calling thread, whatever it is; a fn of zkt_hold_start() among them. */
int zkt_hold_acquire_here(struct zkt_hold *h, int64_t timeout_ms);
int zkt_hold_release_here(struct zkt_hold *h);
/** Run @fn in its thread, which may itself call all this; begin to, and wait for what comes of it. */
int zkt_hold_do(struct zkt_hold *h,
                int (*fn)(struct zkt_hold *h, void *arg),
                void *arg);
void zkt_hold_start(struct zkt_hold *h,
                    int (*fn)(struct zkt_hold *h, void *arg),
                    void *arg);
int zkt_hold_finish(struct zkt_hold *h);
/** Its thread ends, as it is. */
void zkt_hold_end_thread(struct zkt_hold *h);

/** Ephemeral nodes below the path of the case; and how many one has that holds. */
int zkt_hold_nodes(void);
int zkt_hold_nodes_of_one(void);
int zkt_hold_nodes_of_each(void); /* of one of each kind */
/**
 * Delete the last node below the path where contenders of the kind stand. False: there is none. The @n-th, of n = 0, 1, ...
 * less than zkt_hold_nodes_of_one(): of those that one holds by, another each time.
 */
bool zkt_hold_delete_last(void);
bool zkt_hold_delete_nth(int n);
/** Delete the parents of its nodes, as far as they are empty. */
void zkt_hold_delete_parents(void);

#endif
