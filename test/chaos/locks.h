/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_LOCKS_H
#define ZKC_LOCKS_H

#include <stdint.h>

#include <zkr/zkr.h>

#include "record.h"

/* One object of the library for each path and way to hold it. */

struct zkc_process;
struct zkc_want;

/* The mutexes: one for each path of a mutex, and the sides of the read-write lock. */
enum { ZKC_READ_SIDE = ZKC_RW_PATH, ZKC_WRITE_SIDE, ZKC_MUTEXES };

struct zkc_locks {
    zkr_mutex *mutexes[ZKC_MUTEXES];
    zkr_rwlock *rwlock;
    zkr_semaphore *semaphore;
    zkr_multi_lock *both[2]; /* the same two paths, in either order */
};

/** All of them. Returns ZKR_OK or what is wrong. */
int zkc_locks_make(struct zkc_locks *l, struct zkc_process *p);
/** All of them; ends with the first that cannot be destroyed. */
int zkc_locks_destroy(struct zkc_locks *l);

/** The path of one of the mutexes. */
int zkc_locks_path(int mutex);

/** The mutex that is wanted, or NULL: permits, or a multi-lock. */
zkr_mutex *zkc_locks_mutex(const struct zkc_locks *l, const struct zkc_want *want);

/** zkr_mutex_request(), or what corresponds to it. */
int zkc_locks_request(const struct zkc_locks *l,
                      const struct zkc_want *want,
                      int64_t timeout_ms,
                      zkr_ticket_fn fn,
                      void *ctx,
                      zkr_ticket **out);

#endif
