/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_LOCKS_H
#define ZKC_LOCKS_H

#include <stdint.h>

#include <zkr/zkr.h>

#include "record.h"

/* The lock objects: one for each path and each kind of hold. */

struct zkc_process;
struct zkc_want;

/* Indexes of the mutexes: one for each path of a mutex, and the two sides of the read-write lock. */
enum { ZKC_READ_SIDE = ZKC_RW_PATH, ZKC_WRITE_SIDE, ZKC_MUTEXES };

struct zkc_locks {
    zkr_mutex *mutexes[ZKC_MUTEXES];
    zkr_rwlock *rwlock;
    zkr_semaphore *semaphore;
    zkr_multi_lock *both[2]; /* the same two paths, in both orders */
};

/** Create all objects. Returns ZKR_OK or the first error. */
int zkc_locks_make(struct zkc_locks *l, struct zkc_process *p);
/** Destroy all objects. Stops at the first that cannot be destroyed. */
int zkc_locks_destroy(struct zkc_locks *l);

/** Returns the path of the mutex with this index. */
int zkc_locks_path(int mutex);

/** Returns the wanted mutex, or NULL if permits or a multi-lock are wanted. */
zkr_mutex *zkc_locks_mutex(const struct zkc_locks *l, const struct zkc_want *want);

/** Call zkr_mutex_request() or its equivalent for the wanted kind. */
int zkc_locks_request(const struct zkc_locks *l,
                      const struct zkc_want *want,
                      int64_t timeout_ms,
                      zkr_ticket_fn fn,
                      void *ctx,
                      zkr_ticket **out);

#endif
