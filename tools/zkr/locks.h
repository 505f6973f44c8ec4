/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of the library at which zkr lock waits: one for a lock of any kind, for permits, or for several locks; with
 * --any a mutex for each path.
 */
#ifndef ZKR_CLI_LOCKS_H
#define ZKR_CLI_LOCKS_H

#include <stddef.h>
#include <stdint.h>

#include <zkr/zkr.h>

#include "held.h"
#include "lock_options.h"

/** A queue that zkr is in, or may be in. */
struct queue {
    zkr_mutex *mutex;
    zkr_ticket *ticket; /* NULL: not in this queue, or it is that of the hold */
};

struct locks {
    const struct lock_options *o;
    struct held *h;
    struct queue *queues; /* as many as paths; without --any the first alone is used */
    zkr_rwlock *rwlock;   /* if there is one, the mutex is its own */
    zkr_semaphore *semaphore;
    zkr_multi_lock *multi;
};

/** Sends nothing yet. @o, @h: set before. Returns 0 or an exit code, reported. Call locks_destroy() in any case. */
int locks_create(struct locks *l);
/** Releases and leaves as locks_leave() does. */
void locks_destroy(struct locks *l);
/** Joins the queue, which the hold then has the ticket of. Returns 0 or an exit code, reported. */
int locks_join(struct locks *l, int64_t timeout_ms);
/** With --any: joins one of the queues. Returns like locks_join(). */
int locks_join_one(struct locks *l, size_t i, int64_t timeout_ms);
/** With --any: makes the ticket in this queue that of the hold, and leaves the other queues. */
void locks_choose(struct locks *l, size_t i);
/** Releases what is held, and leaves the queues. */
void locks_leave(struct locks *l);

#endif
