/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a mutex, for its files. */
#ifndef ZKR_RECIPES_MUTEX_H
#define ZKR_RECIPES_MUTEX_H

#include <zkr/mutex.h>

#include "engine/contenders.h"
#include "recipes/reentrant.h"

struct zkr_mutex {
    zkr_client *c;
    struct zkr__reentrant lock;
    int64_t tickets;                 /* that exist */
    struct zkr__node_watch *lookout; /* of the contenders; NULL = not needed yet */
    int64_t awaiting;                /* threads that wait until it is free */
    zkr_mutex_lost_fn on_lost;
    void *on_lost_ctx;
    zkr_mutex_revoke_fn on_revoke;
    void *on_revoke_ctx;
    struct zkr__call revoke; /* calls on_revoke */
    bool side;               /* of a read-write lock, to which it belongs */
    bool robust;
};

/* What kind of contender a mutex object makes. */
struct zkr__mutex_sort {
    const char *name; /* for errors */
    enum zkr__name_kind kind;
    unsigned other_kinds;
    zkr__rule rule;
};

/* Make one, as zkr_mutex_create(), which was called on @c. */
int zkr__mutex_make(zkr_mutex **out,
                    zkr_client *c,
                    const char *path,
                    const zkr_mutex_options *o,
                    const struct zkr__mutex_sort *sort);
/* ZKR_OK, or ZKR_EBUSY with what still uses it. */
int zkr__mutex_busy(const zkr_mutex *m) ZKR__LOCKED;
/* Free one that is not busy; waits for a running callback. */
void zkr__mutex_free(zkr_mutex *m);

#endif
