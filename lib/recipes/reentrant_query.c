/* SPDX-License-Identifier: Apache-2.0 */
/* What a lock that threads own can be asked. */
#include "base/error.h"
#include "recipes/reentrant.h"

int zkr__reentrant_depth(const struct zkr__reentrant *lock)
{
    const struct zkr__holder *holder = zkr__holders_find(lock->holders);
    return holder ? holder->depth : 0;
}

const struct zkr__claim *zkr__reentrant_hold(const struct zkr__reentrant *lock, int *rc)
{
    const char *dir = lock->queue->dir;
    struct zkr__holder *holder = zkr__holders_find(lock->holders);
    if (!holder) {
        *rc =
            zkr__fail(ZKR_ENOTOWNER, dir, "%s is not held by the calling thread", dir);
        return NULL;
    }
    if (!zkr__place_sure(zkr__holder_place(holder))) {
        *rc = zkr__fail(ZKR_ESESSION, dir, "%s was lost while held", dir);
        return NULL;
    }
    return zkr__holder_place(holder)->claim;
}

bool zkr__reentrant_is_held(const struct zkr__reentrant *lock)
{
    struct zkr__holder *holder = zkr__holders_find(lock->holders);
    return holder && zkr__place_sure(zkr__holder_place(holder));
}

bool zkr__reentrant_is_held_by_any(const struct zkr__reentrant *lock)
{
    bool held = false;
    struct zkr__holder *holder, *next;
    HASH_ITER (hh, lock->holders, holder, next) {
        held = held || zkr__place_sure(zkr__holder_place(holder));
    }
    return held;
}
