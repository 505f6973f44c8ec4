/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/reentrant.h"

#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "queue/claim.h"
#include "queue/claim_run.h"
#include "queue/hold_write.h"
#include "queue/loss.h"
#include "queue/warning.h"
#include "session/bound.h"
#include "session/log.h"

/* --- the table of threads --- */

/* Returns the hold of @holder: its own or, for a reader that rests on a write entry, the writer's. */
static struct zkr__hold *hold_of(struct zkr__holder *holder)
{
    return holder->rests_on ? &holder->rests_on->hold : &holder->hold;
}

struct zkr__holder *zkr__holders_find(struct zkr__holder *table)
{
    uint64_t thread = zkr__thread_id();
    struct zkr__holder *holder;
    HASH_FIND(hh, table, &thread, sizeof(thread), holder);
    return holder;
}

/*
 * Returns the calling thread's entry that follows @holder, in the table of any lock, or NULL if there are no more. If
 * @holder is NULL, returns the first entry.
 */
static struct zkr__holder *next_own(struct zkr__holder *holder)
{
    struct zkr__exit_hook *hook =
        holder ? holder->hook.next : zkr__thread_self()->exit_hooks;
    return hook ? ZKR__OWNER_OF(hook, struct zkr__holder, hook) : NULL;
}

bool zkr__holders_add(struct zkr__holder **table, struct zkr__holder *holder)
{
    holder->thread = zkr__thread_id();
    HASH_ADD(hh, *table, thread, sizeof(holder->thread), holder);
    if (!holder->hh.tbl) {
        return false;
    }
    if (!zkr__exit_hook_add(&holder->hook)) {
        HASH_DEL(*table, holder);
        return false;
    }
    return true;
}

void zkr__holders_remove(struct zkr__holder **table, struct zkr__holder *holder)
{
    zkr__exit_hook_drop(&holder->hook);
    HASH_DEL(*table, holder);
}

/* --- a thread that would wait for itself --- */

static bool is_behind(const struct zkr__queue *q,
                      struct zkr__holder *holder) ZKR__LOCKED
{
    const struct zkr__queue *held = holder->hold.queue;
    bool readers = q->kind == ZKR__NAME_READ && held->kind == ZKR__NAME_READ;
    return held->c == q->c && holder->depth > 0 && !readers &&
           strcmp(held->dir, q->dir) == 0 &&
           zkr__hold_take(hold_of(holder)) == ZKR__HOLD_HELD;
}

int zkr__deadlock_check(const struct zkr__queue *q, int64_t timeout_ms)
{
    struct zkr__holder *holder = NULL;
    bool behind = false;
    while (timeout_ms < 0 && !behind && (holder = next_own(holder))) {
        behind = is_behind(q, holder);
    }
    return behind ? zkr__fail(ZKR_EDEADLK, q->dir,
                              "the calling thread holds %s through another object and "
                              "would wait for itself; release the other object first",
                              q->dir)
                  : ZKR_OK;
}

/* --- loss --- */

static struct zkr__holder *holder_of(struct zkr__call *call)
{
    return ZKR__OWNER_OF(call, struct zkr__holder, lost);
}

/*
 * End the call's use of @holder. The caller passes @c because it cannot be read from @holder: the thread may have
 * released the hold long ago, the callback may have destroyed the lock, and zkr__hold_move() may have changed the queue
 * of the claim.
 */
static void end_lost_call(struct zkr__holder *holder, zkr_client *c)
{
    zkr__lock(c);
    struct zkr__claim *claim = holder->lost_claim;
    holder->lost_claim = NULL;
    if (holder->depth == 0) {
        zkr__mem_free(holder);
    }
    zkr__claim_unref(claim);
    zkr__unlock(c);
}

/* Copies of the callback's arguments, because the callback may destroy the lock. */
struct lost_call {
    struct zkr__holder *holder;
    zkr_client *c;
    zkr_lost lost;
};

static void call_on_lost(void *arg)
{
    const struct lost_call *told = arg;
    struct zkr__reentrant *lock = told->holder->lock;
    lock->on_lost(lock, &told->lost);
}

static void after_on_lost(void *arg, bool cut)
{
    const struct lost_call *told = arg;
    (void)cut;
    end_lost_call(told->holder, told->c);
}

static bool run_lost(struct zkr__call *call)
{
    struct zkr__holder *holder = holder_of(call);
    const struct zkr__reentrant *lock = holder->lock;
    struct lost_call told = {.holder = holder, .c = lock->c};
    zkr__lock(told.c);
    told.lost = zkr__loss_tell(holder->lost_claim, holder->lost_claim->k.lost);
    zkr__unlock(told.c);
    zkr__thread_call(call_on_lost, after_on_lost, &told);
    return true;
}

/* The lock still exists, because destroying it drops the calls first. */
static void drop_lost(struct zkr__call *call)
{
    struct zkr__holder *holder = holder_of(call);
    const struct zkr__reentrant *lock = holder->lock;
    end_lost_call(holder, lock->c);
}

static void tell_lost(struct zkr__holder *holder, struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__reentrant *lock = holder->lock;
    if (lock->on_lost) {
        holder->lost_claim = claim;
        zkr__claim_ref(claim);
        zkr__dispatch_post(&lock->c->dispatch, &holder->lost);
    }
}

/* --- warning --- */

/* Returns a thread that surely holds and must be warned, or NULL if there is none. */
static struct zkr__holder *find_to_warn(const struct zkr__reentrant *lock) ZKR__LOCKED
{
    struct zkr__holder *holder, *next;
    HASH_ITER (hh, lock->holders, holder, next) {
        if (zkr__hold_is_to_warn(&holder->hold)) {
            return holder;
        }
    }
    return NULL;
}

/*
 * Runs on the dispatch thread. Warns one thread, and posts the call again, because several threads may hold for
 * reading. The callback may destroy the lock.
 */
static bool run_warn(struct zkr__call *call)
{
    struct zkr__reentrant *lock = ZKR__OWNER_OF(call, struct zkr__reentrant, warn);
    zkr_client *c = lock->c;
    int64_t token = 0, left_ms = 0;
    zkr__lock(c);
    const struct zkr__holder *holder = find_to_warn(lock);
    if (holder) {
        token = holder->hold.claim->czxid;
        left_ms = zkr__valid_for_ms(c);
        zkr__warning_told(holder->hold.claim);
        zkr__dispatch_post(&c->dispatch, call);
    }
    zkr__unlock(c);
    if (holder) {
        lock->on_warn(lock, token, left_ms);
    }
    return holder != NULL;
}

static void post_warning(const struct zkr__hold *hold,
                         struct zkr__reentrant *lock) ZKR__LOCKED
{
    if (lock->on_warn && hold->state == ZKR__HOLD_HELD &&
        zkr__warning_is_due(hold->claim)) {
        zkr__dispatch_post(&lock->c->dispatch, &lock->warn);
    }
}

void zkr__reentrant_tell(
    struct zkr__reentrant *lock,
    const void *owner,
    void (*on_lost)(struct zkr__reentrant *lock, const zkr_lost *lost),
    void (*on_warn)(struct zkr__reentrant *lock, int64_t token, int64_t left_ms))
{
    lock->owner = owner;
    lock->on_lost = on_lost;
    lock->on_warn = on_warn;
    lock->warn = (struct zkr__call){.owner = owner, .run = run_warn};
}

/* A hold becomes LOST only after its thread has taken the grant. */
static void on_change(struct zkr__hold *hold) ZKR__LOCKED
{
    struct zkr__holder *holder = ZKR__OWNER_OF(hold, struct zkr__holder, hold);
    post_warning(hold, holder->lock);
    if (hold->state == ZKR__HOLD_LOST) {
        tell_lost(holder, hold->claim);
        if (holder->carries) {
            tell_lost(holder->carries, hold->claim);
        }
    }
}

/* --- a thread that holds both sides --- */

static void rest(struct zkr__holder *reader, struct zkr__holder *writer)
{
    reader->rests_on = writer;
    writer->carries = reader;
}

static void separate(struct zkr__holder *reader)
{
    reader->rests_on->carries = NULL;
    reader->rests_on = NULL;
}

/* Release the write hold of a thread, but keep its read hold. Returns true if the hold had been lost. */
static bool stay_reader(struct zkr__holder *writer) ZKR__LOCKED
{
    struct zkr__holder *reader = writer->carries;
    bool sure = zkr__hold_check(&writer->hold);
    separate(reader);
    zkr__hold_move(&writer->hold, &reader->hold);
    /* The warning call of the writer's side no longer finds this hold. */
    post_warning(&reader->hold, reader->lock);
    if (sure) {
        zkr__claim_downgrade(reader->hold.claim);
    }
    return !sure;
}

/* --- release --- */

/* Release the thread's hold at all depths. Returns true if the hold had been lost. */
static bool
let_go(struct zkr__reentrant *lock, struct zkr__holder *holder, bool wait) ZKR__LOCKED
{
    bool lost;
    struct zkr__claim *claim = hold_of(holder)->claim;
    if (claim && holder->depth > 1) {
        claim->relied_on = true;
    }
    if (holder->rests_on) {
        lost = zkr__hold_take(hold_of(holder)) == ZKR__HOLD_LOST;
        separate(holder);
    } else if (holder->carries) {
        lost = stay_reader(holder);
    } else {
        lost = zkr__hold_leave(&holder->hold, wait);
    }
    zkr__holders_remove(&lock->holders, holder);
    holder->depth = 0;
    if (!holder->lost_claim) {
        zkr__mem_free(holder);
    }
    return lost;
}

/* Release the hold of a thread that is ending. */
static void abandon(struct zkr__exit_hook *hook)
{
    struct zkr__holder *holder = ZKR__OWNER_OF(hook, struct zkr__holder, hook);
    struct zkr__reentrant *lock = holder->lock;
    zkr_client *c = lock->c;
    if (c->fork_generation != zkr__fork_generation()) {
        return;
    }
    zkr__lock(c);
    zkr__log(c, ZKR_LOG_WARN,
             ZKR__EVENT("released", .path = lock->queue->dir,
                        .node = zkr__path_name(hold_of(holder)->claim->node),
                        .reason = "its thread has ended"));
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
    } else if (holder->depth > 1 && zkr__hold_check(hold_of(holder))) {
        holder->depth--;
    } else if (let_go(lock, holder, wait)) {
        rc = zkr__fail(ZKR_ESESSION, dir, "%s was lost before it was released", dir);
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
    } else if (writes->release && (holder->rests_on || holder->carries)) {
        rc = zkr__fail(ZKR_ESTATE, dir, "%s is held for reading and for writing", dir);
    } else {
        rc = zkr__hold_write(hold_of(holder), writes, &over);
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

/* Add an entry for the calling thread to the lock's table, and return it. Returns NULL if memory runs out. */
static struct zkr__holder *make_holder(struct zkr__reentrant *lock) ZKR__LOCKED
{
    struct zkr__holder *holder = zkr__mem_alloc(sizeof(*holder));
    if (!holder) {
        return NULL;
    }
    holder->lock = lock;
    holder->lost =
        (struct zkr__call){.owner = lock->owner, .run = run_lost, .drop = drop_lost};
    holder->hook.at_exit = abandon;
    holder->hold.queue = lock->queue;
    holder->hold.on_change = on_change;
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
    int rc = zkr__deadlock_check(lock->queue, timeout_ms);
    if (rc != ZKR_OK) {
        return rc;
    }
    struct zkr__holder *holder = make_holder(lock);
    if (!holder) {
        return no_memory(lock);
    }
    zkr__hold_enter(&holder->hold, timeout_ms, started);
    if (zkr__hold_await(&holder->hold) == ZKR__HOLD_HELD) {
        holder->depth = 1;
        return ZKR_OK;
    }
    rc = zkr__hold_fail(&holder->hold, timeout_ms);
    zkr__holders_remove(&lock->holders, holder);
    zkr__mem_free(holder);
    return rc;
}

static int lost_before(const char *dir)
{
    return zkr__fail(ZKR_ESESSION, dir, "%s was lost while held; release it first",
                     dir);
}

/* Acquire for reading, at once, because the calling thread holds @writer. */
static int acquire_beside(struct zkr__reentrant *lock,
                          struct zkr__holder *writer) ZKR__LOCKED
{
    if (zkr__hold_take(&writer->hold) != ZKR__HOLD_HELD) {
        return lost_before(lock->queue->dir);
    }
    struct zkr__holder *holder = make_holder(lock);
    if (!holder) {
        return no_memory(lock);
    }
    rest(holder, writer);
    holder->depth = 1;
    zkr__queue_meter(lock->queue)->n.reentries++;
    return ZKR_OK;
}

/* Fail to acquire for writing, because the calling thread holds only @reader. */
static int refuse_to_wait(const struct zkr__reentrant *lock,
                          struct zkr__holder *reader) ZKR__LOCKED
{
    const char *dir = lock->queue->dir;
    if (zkr__hold_take(hold_of(reader)) != ZKR__HOLD_HELD) {
        return lost_before(dir);
    }
    return zkr__fail(ZKR_EDEADLK, dir,
                     "the calling thread holds the read lock of %s and would wait for "
                     "itself; release the read lock first",
                     dir);
}

static int acquire_again(const struct zkr__reentrant *lock,
                         struct zkr__holder *holder) ZKR__LOCKED
{
    const char *dir = lock->queue->dir;
    if (zkr__hold_take(hold_of(holder)) != ZKR__HOLD_HELD) {
        return lost_before(dir);
    }
    if (holder->depth == INT_MAX) {
        return zkr__fail(ZKR_EINVAL, dir, "%s has been re-entered too often", dir);
    }
    holder->depth++;
    zkr__queue_meter(lock->queue)->n.reentries++;
    return ZKR_OK;
}

static struct zkr__holder *find_own(const struct zkr__reentrant *side)
{
    return side ? zkr__holders_find(side->holders) : NULL;
}

int zkr__reentrant_acquire(struct zkr__reentrant *lock, int64_t timeout_ms)
{
    zkr_client *c = lock->c;
    int64_t started = zkr__now(c);
    zkr__lock(c);
    struct zkr__holder *holder = zkr__holders_find(lock->holders);
    struct zkr__holder *writer = find_own(lock->writer),
                       *reader = find_own(lock->reader);
    int rc = holder   ? acquire_again(lock, holder)
             : writer ? acquire_beside(lock, writer)
             : reader ? refuse_to_wait(lock, reader)
                      : acquire_anew(lock, timeout_ms, started);
    zkr__unlock(c);
    return rc;
}

void zkr__reentrant_cancel(struct zkr__reentrant *lock)
{
    struct zkr__holder *holder, *next;
    zkr__lock(lock->c);
    lock->cancels++;
    HASH_ITER (hh, lock->holders, holder, next) {
        zkr__hold_cancel(&holder->hold);
    }
    zkr__unlock(lock->c);
}

/* --- queries --- */

const struct zkr__claim *zkr__reentrant_hold(const struct zkr__reentrant *lock, int *rc)
{
    const char *dir = lock->queue->dir;
    struct zkr__holder *holder = zkr__holders_find(lock->holders);
    bool sure = holder && zkr__hold_check(hold_of(holder));
    if (!sure && rc) {
        *rc = holder ? zkr__fail(ZKR_ESESSION, dir, "%s was lost while held", dir)
                     : zkr__fail(ZKR_ENOTOWNER, dir,
                                 "%s is not held by the calling thread", dir);
    }
    return sure ? hold_of(holder)->claim : NULL;
}

int64_t zkr__reentrant_is_held(const struct zkr__reentrant *lock)
{
    return zkr__reentrant_hold(lock, NULL) != NULL;
}

int64_t zkr__reentrant_depth(const struct zkr__reentrant *lock)
{
    const struct zkr__holder *holder = zkr__holders_find(lock->holders);
    return holder ? holder->depth : 0;
}

int64_t zkr__reentrant_is_held_by_any(const struct zkr__reentrant *lock)
{
    bool held = false;
    struct zkr__holder *holder, *next;
    HASH_ITER (hh, lock->holders, holder, next) {
        held = held || zkr__hold_check(hold_of(holder));
    }
    return held;
}

int64_t zkr__reentrant_ask(const struct zkr__reentrant *lock,
                           int64_t (*question)(const struct zkr__reentrant *lock))
{
    zkr__lock(lock->c);
    int64_t answer = question(lock);
    zkr__unlock(lock->c);
    return answer;
}
