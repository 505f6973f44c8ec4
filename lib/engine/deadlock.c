/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/deadlock.h"

#include <string.h>

#include "base/error.h"
#include "engine/holders.h"

static bool is_behind(const struct zkr__queue *q,
                      struct zkr__holder *holder) ZKR__LOCKED
{
    const struct zkr__queue *held = holder->place.queue;
    bool readers = q->kind == ZKR__NAME_READ && held->kind == ZKR__NAME_READ;
    return held->c == q->c && holder->depth > 0 && !readers &&
           strcmp(held->dir, q->dir) == 0 &&
           zkr__place_look(zkr__holder_place(holder)) == ZKR__PLACE_HELD;
}

int zkr__deadlock_check(const struct zkr__queue *q, int64_t timeout_ms)
{
    struct zkr__holder *holder = NULL;
    bool behind = false;
    while (timeout_ms < 0 && !behind && (holder = zkr__holders_next_own(holder))) {
        behind = is_behind(q, holder);
    }
    return behind ? zkr__fail(ZKR_EDEADLK, q->dir,
                              "the calling thread holds %s through another object, and "
                              "would wait for itself; release that first",
                              q->dir)
                  : ZKR_OK;
}
