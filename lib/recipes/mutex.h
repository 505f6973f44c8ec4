/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a mutex, for its two files. */
#ifndef ZKR_RECIPES_MUTEX_H
#define ZKR_RECIPES_MUTEX_H

#include <zkr/mutex.h>

#include "engine/contenders.h"
#include "recipes/reentrant.h"

struct zkr_mutex {
    zkr_client *c;
    struct zkr__reentrant lock;
    int64_t tickets;                     /* that exist */
    struct zkr__children_watch *lookout; /* NULL = nobody watched yet */
    zkr_mutex_lost_fn on_lost;
    void *on_lost_ctx;
};

/* First thing in each public function: as zkr__client_enter(). */
int zkr__mutex_enter(const zkr_mutex *m);
/* As zkr__client_enter_blocking(). */
int zkr__mutex_enter_blocking(const zkr_mutex *m);

#endif
