/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/reentrant.h"

#include <limits.h>

#include "base/error.h"
#include "base/mem.h"
#include "session/log.h"

/* --- loss --- */

static struct zkr__holder *holder_of(struct zkr__call *call)
{
    return ZKR__OWNER_OF(call, struct zkr__holder, lost);
}

/* The call is done with the holder; its thread may have let go long ago. */
static void end_lost_call(struct zkr__holder *holder)
{
    struct zkr__claim *claim = holder->lost_claim;
    zkr_client *c = claim->q->c;
    zkr__lock(c);
    holder->lost_claim = NULL;
    if (holder->depth == 0) {
        zkr__mem_free(holder);
    }
    zkr__claim_unref(claim);
    zkr__unlock(c);
}

static void run_lost(struct zkr__call *call)
{
    struct zkr__holder *holder = holder_of(call);
    struct zkr__reentrant *lock = holder->lock;
    const zkr_lost lost = {.reason = holder->lost_claim->k.lost,
                           .fencing_token = holder->lost_claim->czxid,
                           .node = holder->lost_claim->node};
    lock->on_lost(lock, &lost);
    end_lost_call(holder);
}

static void drop_lost(struct zkr__call *call)
{
    end_lost_call(holder_of(call));
}

/* Before the acquire has returned there is nothing to tell anybody. */
static void on_change(struct zkr__place *place) ZKR__LOCKED
{
    struct zkr__holder *holder = ZKR__OWNER_OF(place, struct zkr__holder, place);
    const struct zkr__reentrant *lock = holder->lock;
    if (place->state == ZKR__PLACE_LOST && lock->on_lost) {
        holder->lost_claim = place->claim;
        zkr__claim_ref(holder->lost_claim);
        zkr__dispatch_post(&lock->c->dispatch, &holder->lost);
    }
}

/* --- release --- */

/* The thread lets go of its hold for good. True: it had been lost. */
static bool
let_go(struct zkr__reentrant *lock, struct zkr__holder *holder, bool wait) ZKR__LOCKED
{
    bool lost = zkr__place_leave(&holder->place, wait);
    zkr__holders_remove(&lock->holders, holder);
    holder->depth = 0;
    if (!holder->lost_claim) {
        zkr__mem_free(holder);
    }
    return lost;
}

/* The thread ends while it holds. */
static void abandon(struct zkr__thread_duty *duty)
{
    struct zkr__holder *holder = ZKR__OWNER_OF(duty, struct zkr__holder, duty);
    struct zkr__reentrant *lock = holder->lock;
    zkr_client *c = lock->c;
    if (c->fork_generation != zkr__fork_generation()) {
        return;
    }
    zkr__lock(c);
    zkr__log(c, ZKR_LOG_WARN, "%s: released, because its thread has ended",
             holder->place.claim->node);
    (void)let_go(lock, holder, false);
    zkr__unlock(c);
}

int zkr__reentrant_release(struct zkr__reentrant *lock)
{
    int rc = ZKR_OK;
    zkr_client *c = lock->c;
    const char *dir = lock->queue->dir;
    bool wait = lock->wait_on_release && !zkr__dispatch_is_self(&c->dispatch);
    zkr__lock(c);
    struct zkr__holder *holder = zkr__holders_find(lock->holders);
    if (!holder) {
        rc = zkr__fail(ZKR_ENOTOWNER, dir, "%s is not held by the calling thread", dir);
    } else if (holder->depth > 1 && zkr__place_sure(&holder->place)) {
        holder->depth--;
    } else if (let_go(lock, holder, wait)) {
        rc = zkr__fail(ZKR_ESESSION, dir, "%s had been lost before it was released",
                       dir);
    }
    zkr__unlock(c);
    return rc;
}

int zkr__reentrant_multi(struct zkr__reentrant *lock, const struct zkr__writes *writes)
{
    int rc = ZKR_OK;
    bool over = false;
    const char *dir = lock->queue->dir;
    zkr__lock(lock->c);
    struct zkr__holder *holder = zkr__holders_find(lock->holders);
    if (!holder) {
        rc = zkr__fail(ZKR_ENOTOWNER, dir, "%s is not held by the calling thread", dir);
    } else if (writes->release && holder->depth > 1) {
        rc = zkr__fail(ZKR_ESTATE, dir, "%s is held more than once", dir);
    } else {
        rc = zkr__place_multi(&holder->place, writes, &over);
    }
    if (over) {
        (void)let_go(lock, holder, false);
    }
    zkr__unlock(lock->c);
    return rc;
}

/* --- acquire --- */

static int no_memory(const struct zkr__reentrant *lock)
{
    return zkr__fail(ZKR_ENOMEM, lock->queue->dir, "cannot acquire: out of memory");
}

/* In the table, for the calling thread; NULL: no memory. */
static struct zkr__holder *make_holder(struct zkr__reentrant *lock) ZKR__LOCKED
{
    struct zkr__holder *holder = zkr__mem_alloc(sizeof(*holder));
    if (!holder) {
        return NULL;
    }
    holder->lock = lock;
    holder->lost =
        (struct zkr__call){.owner = lock->owner, .run = run_lost, .drop = drop_lost};
    holder->duty.at_exit = abandon;
    holder->place.queue = lock->queue;
    holder->place.on_change = on_change;
    if (!zkr__holders_add(&lock->holders, holder)) {
        zkr__mem_free(holder);
        return NULL;
    }
    return holder;
}

static int acquire_anew(struct zkr__reentrant *lock,
                        int64_t timeout_ms,
                        int64_t started) ZKR__LOCKED
{
    struct zkr__holder *holder = make_holder(lock);
    if (!holder) {
        return no_memory(lock);
    }
    zkr__place_enter(&holder->place, timeout_ms, started);
    if (zkr__place_await(&holder->place) == ZKR__PLACE_HELD) {
        holder->depth = 1;
        return ZKR_OK;
    }
    int rc = zkr__place_fail(&holder->place, timeout_ms);
    zkr__holders_remove(&lock->holders, holder);
    zkr__mem_free(holder);
    return rc;
}

static int acquire_again(const struct zkr__reentrant *lock,
                         struct zkr__holder *holder) ZKR__LOCKED
{
    const char *dir = lock->queue->dir;
    if (zkr__place_look(&holder->place) != ZKR__PLACE_HELD) {
        return zkr__fail(ZKR_ESESSION, dir, "%s was lost while held; release it first",
                         dir);
    }
    if (holder->depth == INT_MAX) {
        return zkr__fail(ZKR_EINVAL, dir, "%s is held too often", dir);
    }
    holder->depth++;
    return ZKR_OK;
}

int zkr__reentrant_acquire(struct zkr__reentrant *lock, int64_t timeout_ms)
{
    zkr_client *c = lock->c;
    int64_t started = zkr__now(c);
    zkr__lock(c);
    struct zkr__holder *holder = zkr__holders_find(lock->holders);
    int rc =
        holder ? acquire_again(lock, holder) : acquire_anew(lock, timeout_ms, started);
    zkr__unlock(c);
    return rc;
}

void zkr__reentrant_cancel(struct zkr__reentrant *lock)
{
    struct zkr__holder *holder, *next;
    zkr__lock(lock->c);
    HASH_ITER (hh, lock->holders, holder, next) {
        zkr__place_cancel(&holder->place);
    }
    zkr__unlock(lock->c);
}

/* --- questions --- */

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
    if (!zkr__place_sure(&holder->place)) {
        *rc = zkr__fail(ZKR_ESESSION, dir, "%s was lost while held", dir);
        return NULL;
    }
    return holder->place.claim;
}

bool zkr__reentrant_is_held(const struct zkr__reentrant *lock)
{
    struct zkr__holder *holder = zkr__holders_find(lock->holders);
    return holder && zkr__place_sure(&holder->place);
}

bool zkr__reentrant_is_held_by_any(const struct zkr__reentrant *lock)
{
    bool held = false;
    struct zkr__holder *holder, *next;
    HASH_ITER (hh, lock->holders, holder, next) {
        held = held || zkr__place_sure(&holder->place);
    }
    return held;
}
