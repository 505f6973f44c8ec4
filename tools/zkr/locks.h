/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of the library on which zkr lock waits: one object for a lock of any kind, for permits, or for several
 * locks. With --any, there is a mutex for each path.
 */
#ifndef ZKR_CLI_LOCKS_H
#define ZKR_CLI_LOCKS_H

#include <stddef.h>
#include <stdint.h>

#include <zkr/zkr.h>

#include "held.h"
#include "lock_options.h"

/** A queue that zkr may have joined. */
struct queue {
    zkr_mutex *mutex;
    zkr_ticket *ticket; /* NULL: not in this queue, or held.grant has the ticket */
};

struct locks {
    const struct lock_options *o;
    struct held *h;
    struct queue *queues; /* one for each path; without --any only the first is used */
    zkr_rwlock *rwlock;   /* NULL, or the owner of the mutex */
    zkr_semaphore *semaphore;
    zkr_multi_lock *multi;
};

/**
 * Creates the objects, but sends no request yet. The caller has set @o and @h. Returns 0 or a reported exit code.
 * locks_destroy() must be called in any case.
 */
int locks_create(struct locks *l);
/** Calls locks_leave(), and then destroys the objects. */
void locks_destroy(struct locks *l);
/** Joins the queue, and stores the ticket in held.grant. Returns 0 or a reported exit code. */
int locks_join(struct locks *l, int64_t timeout_ms);
/** For --any: joins the queue @i. Returns the same as locks_join(). */
int locks_join_one(struct locks *l, size_t i, int64_t timeout_ms);
/** For --any: moves the ticket of queue @i to held.grant, and leaves the other queues. */
void locks_choose(struct locks *l, size_t i);
/** Releases the hold, and leaves the queues. */
void locks_leave(struct locks *l);

#endif
