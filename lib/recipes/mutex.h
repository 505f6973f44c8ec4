/* SPDX-License-Identifier: Apache-2.0 */
/* The struct of a mutex, for mutex.c, mutex_robust.c and rwlock.c. */
#ifndef ZKR_RECIPES_MUTEX_H
#define ZKR_RECIPES_MUTEX_H

#include <zkr/mutex.h>

#include "queue/hold_write.h"
#include "recipes/recipe.h"
#include "recipes/reentrant.h"

struct zkr_mutex {
    struct zkr__recipe r;
    struct zkr__reentrant lock;
    zkr_mutex_lost_fn on_lost;
    void *on_lost_ctx;
    zkr_mutex_warn_fn on_warn;
    void *on_warn_ctx;
    zkr_mutex_revoke_fn on_revoke;
    void *on_revoke_ctx;
    struct zkr__call revoke; /* calls on_revoke */
    bool side;               /* belongs to a read-write lock */
    bool robust;
};

/* The properties in which a mutex and the sides of a read-write lock differ. */
struct zkr__mutex_sort {
    const char *name; /* in error texts */
    enum zkr__name_kind kind;
    unsigned other_kinds;
    zkr__rule rule;
};

/* Create a mutex as zkr_mutex_create() does. The caller has checked @c and @out. */
int zkr__mutex_make(zkr_mutex **out,
                    zkr_client *c,
                    const char *path,
                    const zkr_mutex_options *o,
                    const struct zkr__mutex_sort *sort);

/* --- robust mutexes (mutex_robust.c) --- */

/*
 * Acquire and release like zkr__reentrant_acquire() and zkr__reentrant_release(). The acquire may return
 * ZKR_EOWNERDEAD.
 */
int zkr__robust_acquire(struct zkr__reentrant *lock, int64_t timeout_ms);
int zkr__robust_release(struct zkr__reentrant *lock);
/* Release in the same transaction as @writes. */
int zkr__robust_release_multi(struct zkr__reentrant *lock,
                              const struct zkr__writes *writes);

#endif
