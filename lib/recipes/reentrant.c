/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/reentrant.h"

#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "engine/loss.h"
#include "session/log.h"

/* --- a hold of several threads --- */

struct zkr__shared_hold *
zkr__shared_hold_make(struct zkr__place *from, void *lock, int64_t open_ms)
{
    struct zkr__shared_hold *shared = zkr__mem_alloc(sizeof(*shared));
    if (!shared) {
        return NULL;
    }
    shared->lock = lock;
    shared->members = 1;
    shared->closes_at = zkr__clock_deadline(zkr__now(from->queue->c), open_ms);
    shared->place.queue = from->queue;
    zkr__place_move(from, &shared->place);
    return shared;
}

/* Somebody of this client who is not to hold beside a reader. */
static bool writer_waits(const struct zkr__queue *q) ZKR__LOCKED
{
    const struct zkr__engine *engine = q->c->engine;
    const struct zkr__claim *claim;
    if (q->c->stats.waiting == 0) {
        return false;
    }
    DL_FOREACH(engine->claims, claim)
    {
        bool waits = !claim->k.leaving && !zkr__claim_decided(&claim->k);
        if (waits && claim->q->kind != q->kind && strcmp(claim->q->dir, q->dir) == 0) {
            return true;
        }
    }
    return false;
}

bool zkr__shared_hold_join(struct zkr__shared_hold *shared)
{
    struct zkr__place *place = &shared->place;
    const zkr_client *c = place->queue->c;
    bool open = zkr__place_sure(place) && zkr__now(c) < shared->closes_at && !c->shut;
    bool asked_to_end = open && place->claim->k.told != 0;
    if (!open || asked_to_end || writer_waits(place->queue)) {
        return false;
    }
    shared->members++;
    return true;
}

bool zkr__shared_hold_leave(struct zkr__shared_hold *shared, bool wait)
{
    if (--shared->members > 0) {
        return zkr__place_look(&shared->place) == ZKR__PLACE_LOST;
    }
    bool lost = zkr__place_leave(&shared->place, wait);
    zkr__mem_free(shared);
    return lost;
}

/* --- the table of threads --- */

struct zkr__place *zkr__holder_place(struct zkr__holder *holder)
{
    return holder->rests_on ? &holder->rests_on->place
           : holder->shared ? &holder->shared->place
                            : &holder->place;
}

struct zkr__holder *zkr__holders_find(struct zkr__holder *table)
{
    uint64_t thread = zkr__thread_id();
    struct zkr__holder *holder;
    HASH_FIND(hh, table, &thread, sizeof(thread), holder);
    return holder;
}

/* Only holders are duties of threads. */
struct zkr__holder *zkr__holders_next_own(struct zkr__holder *holder)
{
    struct zkr__thread_duty *duty =
        holder ? holder->duty.next : zkr__thread_self()->duties;
    return duty ? ZKR__OWNER_OF(duty, struct zkr__holder, duty) : NULL;
}

bool zkr__holders_add(struct zkr__holder **table, struct zkr__holder *holder)
{
    holder->thread = zkr__thread_id();
    HASH_ADD(hh, *table, thread, sizeof(holder->thread), holder);
    if (!holder->hh.tbl) {
        return false;
    }
    if (!zkr__thread_duty_add(&holder->duty)) {
        HASH_DEL(*table, holder);
        return false;
    }
    return true;
}

void zkr__holders_remove(struct zkr__holder **table, struct zkr__holder *holder)
{
    zkr__thread_duty_drop(&holder->duty);
    HASH_DEL(*table, holder);
}

/* --- a thread that would wait for itself --- */

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

/* --- acquire and release --- */

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

static bool run_lost(struct zkr__call *call)
{
    struct zkr__holder *holder = holder_of(call);
    struct zkr__reentrant *lock = holder->lock;
    char text[ZKR__LOSS_TEXT_MAX];
    zkr__lock(lock->c);
    const zkr_lost lost =
        zkr__loss_tell(holder->lost_claim, holder->lost_claim->k.lost, text);
    zkr__unlock(lock->c);
    lock->on_lost(lock, &lost);
    end_lost_call(holder);
    return true;
}

static void drop_lost(struct zkr__call *call)
{
    end_lost_call(holder_of(call));
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

/* Before the acquire has returned there is nothing to tell anybody. */
static void on_change(struct zkr__place *place) ZKR__LOCKED
{
    struct zkr__holder *holder = ZKR__OWNER_OF(place, struct zkr__holder, place);
    if (place->state == ZKR__PLACE_LOST) {
        tell_lost(holder, place->claim);
        if (holder->carries) {
            tell_lost(holder->carries, place->claim);
        }
    }
}

/* --- a hold that threads share --- */

/* Its place has changed. */
static void on_shared_change(struct zkr__place *place) ZKR__LOCKED
{
    struct zkr__shared_hold *shared =
        ZKR__OWNER_OF(place, struct zkr__shared_hold, place);
    const struct zkr__reentrant *lock = shared->lock;
    struct zkr__holder *holder, *next;
    if (place->state != ZKR__PLACE_LOST) {
        return;
    }
    HASH_ITER (hh, lock->holders, holder, next) {
        if (holder->shared == shared) {
            tell_lost(holder, place->claim);
        }
    }
}

/* By a hold of other threads. False: there is none to join. */
static bool join(struct zkr__reentrant *lock, struct zkr__holder *holder) ZKR__LOCKED
{
    if (lock->open && !zkr__shared_hold_join(lock->open)) {
        lock->open = NULL;
    }
    holder->shared = lock->open;
    return holder->shared != NULL;
}

/* Others may join a new hold. Without memory for that, they wait for nodes of their own. */
static void let_others_join(struct zkr__reentrant *lock,
                            struct zkr__holder *holder) ZKR__LOCKED
{
    if (lock->share_ms > 0) {
        holder->shared = zkr__shared_hold_make(&holder->place, lock, lock->share_ms);
    }
    if (holder->shared) {
        holder->shared->place.on_change = on_shared_change;
        lock->open = holder->shared;
    }
}

static bool has_company(const struct zkr__holder *holder)
{
    return holder->shared && holder->shared->members > 1;
}

/* It is about to end, if it is nobody else's: nobody may join any more. */
static void prepare_to_end(struct zkr__reentrant *lock,
                           const struct zkr__holder *holder) ZKR__LOCKED
{
    if (holder->shared && lock->open == holder->shared && !has_company(holder)) {
        lock->open = NULL;
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

/* The writer is let go, the reader stays. True: the hold had been lost. */
static bool pass_on(struct zkr__holder *writer) ZKR__LOCKED
{
    struct zkr__holder *reader = writer->carries;
    bool sure = zkr__place_sure(&writer->place);
    separate(reader);
    zkr__place_move(&writer->place, &reader->place);
    if (sure) {
        zkr__claim_downgrade(reader->place.claim);
    }
    return !sure;
}

/* --- release --- */

/* The thread lets go of its hold for good. True: it had been lost. */
static bool
let_go(struct zkr__reentrant *lock, struct zkr__holder *holder, bool wait) ZKR__LOCKED
{
    bool lost;
    if (holder->rests_on) {
        lost = zkr__place_look(zkr__holder_place(holder)) == ZKR__PLACE_LOST;
        separate(holder);
    } else if (holder->carries) {
        lost = pass_on(holder);
    } else if (holder->shared) {
        prepare_to_end(lock, holder);
        lost = zkr__shared_hold_leave(holder->shared, wait);
    } else {
        lost = zkr__place_leave(&holder->place, wait);
    }
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
    zkr__log(c, ZKR_LOG_WARN,
             ZKR__EVENT("released", .path = lock->queue->dir,
                        .node = zkr__path_name(zkr__holder_place(holder)->claim->node),
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
    } else if (holder->depth > 1 && zkr__place_sure(zkr__holder_place(holder))) {
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
        struct zkr__writes w = *writes;
        w.keep_nodes = has_company(holder);
        if (w.release) {
            prepare_to_end(lock, holder);
        }
        rc = zkr__place_multi(zkr__holder_place(holder), &w, &over);
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
    int rc = zkr__deadlock_check(lock->queue, timeout_ms);
    if (rc != ZKR_OK) {
        return rc;
    }
    struct zkr__holder *holder = make_holder(lock);
    if (!holder) {
        return no_memory(lock);
    }
    if (join(lock, holder)) {
        holder->depth = 1;
        zkr__queue_meter(lock->queue)->n.reentries++;
        return ZKR_OK;
    }
    zkr__place_enter(&holder->place, timeout_ms, started);
    if (zkr__place_await(&holder->place) == ZKR__PLACE_HELD) {
        holder->depth = 1;
        let_others_join(lock, holder);
        return ZKR_OK;
    }
    rc = zkr__place_fail(&holder->place, timeout_ms);
    zkr__holders_remove(&lock->holders, holder);
    zkr__mem_free(holder);
    return rc;
}

static int lost_before(const char *dir)
{
    return zkr__fail(ZKR_ESESSION, dir, "%s was lost while held; release it first",
                     dir);
}

/* To read, by a thread that holds @writer. */
static int acquire_beside(struct zkr__reentrant *lock,
                          struct zkr__holder *writer) ZKR__LOCKED
{
    if (zkr__place_look(&writer->place) != ZKR__PLACE_HELD) {
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

/* To write, by a thread that is a @reader only. */
static int refuse_to_wait(const struct zkr__reentrant *lock,
                          struct zkr__holder *reader) ZKR__LOCKED
{
    const char *dir = lock->queue->dir;
    if (zkr__place_look(zkr__holder_place(reader)) != ZKR__PLACE_HELD) {
        return lost_before(dir);
    }
    return zkr__fail(ZKR_EDEADLK, dir,
                     "the calling thread reads under %s, and would wait for itself to "
                     "stop; let it release that first",
                     dir);
}

static int acquire_again(const struct zkr__reentrant *lock,
                         struct zkr__holder *holder) ZKR__LOCKED
{
    const char *dir = lock->queue->dir;
    if (zkr__place_look(zkr__holder_place(holder)) != ZKR__PLACE_HELD) {
        return lost_before(dir);
    }
    if (holder->depth == INT_MAX) {
        return zkr__fail(ZKR_EINVAL, dir, "%s is held too often", dir);
    }
    holder->depth++;
    zkr__queue_meter(lock->queue)->n.reentries++;
    return ZKR_OK;
}

static struct zkr__holder *hold_of(const struct zkr__reentrant *side)
{
    return side ? zkr__holders_find(side->holders) : NULL;
}

int zkr__reentrant_acquire(struct zkr__reentrant *lock, int64_t timeout_ms)
{
    zkr_client *c = lock->c;
    int64_t started = zkr__now(c);
    zkr__lock(c);
    struct zkr__holder *holder = zkr__holders_find(lock->holders);
    struct zkr__holder *writer = hold_of(lock->writer), *reader = hold_of(lock->reader);
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
    HASH_ITER (hh, lock->holders, holder, next) {
        zkr__place_cancel(&holder->place);
    }
    zkr__unlock(lock->c);
}

/* --- questions --- */

/* What a lock that threads own can be asked. */

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
