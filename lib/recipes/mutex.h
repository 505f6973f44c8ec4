/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a mutex, for its two files. */
#ifndef ZKR_RECIPES_MUTEX_H
#define ZKR_RECIPES_MUTEX_H

#include <zkr/mutex.h>

#include "engine/contest.h"
#include "engine/holders.h"

#define ZKR__MUTEX_PREFIX "lock-" /* Curator's LOCK_NAME */

struct zkr_mutex {
    zkr_client *c;
    struct zkr__queue *queue;
    struct zkr__holder *holders;  /* table */
    struct zkr__claim *waiting;   /* list: owner_prev, owner_next */
    struct zkr__lookout *lookout; /* NULL = nobody watched yet */
    zkr_mutex_lost_fn on_lost;
    void *on_lost_ctx;
    bool wait_on_release;
};

/* First thing in each public function: as zkr__client_enter(). */
int zkr__mutex_enter(const zkr_mutex *m);
/* As zkr__client_enter_blocking(). */
int zkr__mutex_enter_blocking(const zkr_mutex *m);

#endif
