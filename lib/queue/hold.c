/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/hold.h"

#include <string.h>

#include "base/error.h"
#include "base/fault.h"
#include "base/mem.h"
#include "queue/claim_run.h"
#include "queue/engine.h"
#include "queue/group.h"
#include "queue/keep.h"
#include "queue/kept_node.h"
#include "queue/loss.h"
#include "queue/warning.h"
#include "session/must.h"
#include "session/zk_value.h"

/* --- one claim or several --- */

/* Returns the array of the hold's claims. Each element may be NULL. */
static struct zkr__claim *const *claims_of(const struct zkr__hold *hold,
                                           uint32_t *count) ZKR__LOCKED
{
    *count = hold->group ? hold->group->count : 1;
    return hold->group ? hold->group->members : &hold->claim;
}

static bool granted(const struct zkr__hold *hold) ZKR__LOCKED
{
    return hold->group ? hold->group->state == ZKR__GROUP_HELD
                       : hold->claim && hold->claim->k.phase == ZKR__HELD;
}

static int failure(const struct zkr__hold *hold) ZKR__LOCKED
{
    return hold->group ? hold->group->failure : hold->claim->k.failure;
}

/* Returns a claim of the hold that waits behind another contender, or NULL if there is none. */
static const struct zkr__claim *parked(const struct zkr__hold *hold) ZKR__LOCKED
{
    uint32_t count;
    struct zkr__claim *const *claims = claims_of(hold, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (claims[i] && zkr__claim_is_parked(claims[i])) {
            return claims[i];
        }
    }
    return NULL;
}

static bool sure(const struct zkr__hold *hold) ZKR__LOCKED
{
    return granted(hold) && zkr__claim_sure(hold->claim);
}

/* Returns true if a claim of the hold has waited behind another contender. */
static bool contended(const struct zkr__hold *hold) ZKR__LOCKED
{
    uint32_t count;
    struct zkr__claim *const *claims = claims_of(hold, &count);
    bool waited = hold->group && hold->group->waited;
    for (uint32_t i = 0; i < count; i++) {
        waited = waited || (claims[i] && claims[i]->k.waited);
    }
    return waited;
}

/* --- invariants of a hold between two calls --- */

static const char *fault_of(const struct zkr__hold *hold) ZKR__LOCKED
{
    const struct zkr__claim *claim = hold->claim;
    bool in = claim || hold->group;
    ZKR__FAULT_IF(hold->group && !hold->queues, "a group with one queue");
    switch (hold->state) {
    case ZKR__HOLD_NONE: /* a hold released by a write still has its claims */
        return NULL;
    case ZKR__HOLD_WAITING:
        return in && hold->failure == 0 ? NULL : "waiting without a claim";
    case ZKR__HOLD_HELD:
        return claim && claim->taken && claim->k.holds > 0 ? NULL
                                                           : "held without a claim";
    case ZKR__HOLD_DOUBTED:
        return claim && hold->queue->keeps_place ? NULL
                                                 : "in doubt without a kept place";
    case ZKR__HOLD_LOST:
        return claim && claim->k.lost != 0 ? NULL : "lost without a lost claim";
    case ZKR__HOLD_FAILED:
        return !in && hold->failure != 0 ? NULL : "failed without a reason";
    }
    return "in an unknown state";
}

static void check(const struct zkr__hold *hold) ZKR__LOCKED
{
    ZKR__MUST_NOT(hold->queue->c, fault_of(hold));
}

/* --- the metrics, counted once for each path of the hold --- */

enum step { WAITS, GRANTED, FAILED, RELEASED, LOST, FORGOTTEN };

static int64_t took(const struct zkr__hold *hold) ZKR__LOCKED
{
    return zkr__now(hold->queue->c) - hold->since;
}

static void count_fail(struct zkr__counts *n, int code)
{
    bool late = code == ZKR_ETIMEDOUT || code == ZKR_ENOANSWER;
    bool canceled = code == ZKR_ECANCELED || code == ZKR_ECLOSED;
    n->waiting--;
    n->timed_out += late;
    n->canceled += canceled;
    n->failed += !late && !canceled;
}

static void count_end(struct zkr__counts *n, int64_t took)
{
    n->held--;
    zkr__histogram_add(&n->hold, took);
}

static void count_at(struct zkr__counts *n,
                     const struct zkr__hold *hold,
                     enum step step,
                     int code) ZKR__LOCKED
{
    switch (step) {
    case WAITS:
        n->waiting++;
        break;
    case GRANTED:
        n->waiting--;
        n->held++;
        n->acquired++;
        n->contended += contended(hold);
        zkr__histogram_add(&n->wait, took(hold));
        break;
    case FAILED:
        count_fail(n, code);
        break;
    case RELEASED:
        count_end(n, took(hold));
        break;
    case LOST:
        count_end(n, took(hold));
        n->lost[zkr__loss_metered(hold->claim)]++;
        break;
    case FORGOTTEN: /* the hold was in doubt, which counts as waiting */
        n->waiting--;
        break;
    }
}

/*
 * Count a step of the hold. @code is the reason for FAILED. Queues that share a path, such as those of a semaphore, are
 * adjacent and count once.
 */
static void count(struct zkr__hold *hold, enum step step, int code) ZKR__LOCKED
{
    struct zkr__queue *const *list = hold->queues ? hold->queues->list : &hold->queue;
    uint32_t queues = hold->queues ? hold->queues->count : 1;
    const struct zkr__meter *last = NULL;
    for (uint32_t i = 0; i < queues; i++) {
        struct zkr__meter *m = zkr__queue_meter(list[i]);
        if (m != last) {
            count_at(&m->n, hold, step, code);
            ZKR__MUST(hold->queue->c, m->n.waiting >= 0 && m->n.held >= 0);
        }
        last = m;
    }
    if (step == WAITS || step == GRANTED) {
        hold->since = zkr__now(hold->queue->c);
    }
}

void zkr__hold_released(struct zkr__hold *hold)
{
    ZKR__MUST(hold->queue->c, hold->state == ZKR__HOLD_HELD);
    count(hold, RELEASED, 0);
    hold->state = ZKR__HOLD_NONE;
}

/* --- the outcome of the claims --- */

/* Update the hold from its claim. A hold in doubt counts as lost, and then as waiting. */
static void follow_claim(struct zkr__hold *hold) ZKR__LOCKED
{
    const struct zkr__claim *claim = hold->claim;
    bool held = hold->state == ZKR__HOLD_HELD;
    bool doubted = hold->state == ZKR__HOLD_DOUBTED;
    if ((held || doubted) && claim->k.lost != 0) {
        hold->state = ZKR__HOLD_LOST;
        zkr__loss_log(claim, claim->k.lost);
        count(hold, held ? LOST : FORGOTTEN, 0);
    } else if (held && zkr__claim_stage(&claim->k) == ZKR__DOUBTED) {
        hold->state = ZKR__HOLD_DOUBTED;
        count(hold, LOST, 0);
        count(hold, WAITS, 0);
    } else if (doubted && claim->k.phase == ZKR__HELD) {
        hold->state = ZKR__HOLD_HELD;
        count(hold, GRANTED, 0);
    } else if (doubted && claim->k.failure != 0) {
        hold->state = ZKR__HOLD_WAITING; /* move_on() will turn it into FAILED */
    }
}

static void tell_owner(struct zkr__hold *hold) ZKR__LOCKED
{
    if (hold->claim) {
        follow_claim(hold);
    }
    check(hold);
    if (hold->on_change) {
        hold->on_change(hold);
    }
}

static void on_claim(struct zkr__claim *claim, void *ctx) ZKR__LOCKED
{
    (void)claim;
    tell_owner(ctx);
}

/* @on_change and @ctx are the claim's callback. @thread is for the owner text. 0 = the calling thread. */
static struct zkr__entry entry_of(const struct zkr__hold *hold,
                                  long thread,
                                  void (*on_change)(struct zkr__claim *, void *),
                                  void *ctx)
{
    return (struct zkr__entry){.once = hold->once,
                               .deadline = hold->timed ? hold->deadline : 0,
                               .thread = thread,
                               .on_change = on_change,
                               .ctx = ctx};
}

static void on_group(struct zkr__group *group, void *ctx) ZKR__LOCKED
{
    struct zkr__hold *hold = ctx;
    hold->claim = zkr__group_first(group);
    tell_owner(hold);
}

static int enter_group(struct zkr__hold *hold) ZKR__LOCKED
{
    const struct zkr__entry entry = entry_of(hold, 0, NULL, NULL);
    int rc = zkr__group_make(&hold->group, hold->queues, &entry, on_group, hold);
    if (rc == ZKR_OK) {
        zkr__group_step(hold->group);
    }
    return rc;
}

static void leave_all(struct zkr__hold *hold, bool wait) ZKR__LOCKED
{
    struct zkr__claim *claim = hold->claim;
    struct zkr__group *group = hold->group;
    hold->claim = NULL;
    hold->group = NULL;
    if (group) {
        zkr__group_free(group);
    } else if (claim) {
        zkr__claim_leave(claim, wait);
    }
}

static void give_up(struct zkr__hold *hold, int code) ZKR__LOCKED
{
    count(hold, FAILED, code);
    hold->state = ZKR__HOLD_FAILED;
    hold->failure = code;
    if (hold->group) {
        hold->detail = hold->group->detail;
        hold->queue = hold->group->fails_in ? hold->group->fails_in : hold->queue;
    } else if (hold->claim) {
        hold->detail = hold->claim->detail;
    }
    leave_all(hold, false);
    check(hold);
}

/* --- enter --- */

int zkr__claim_enter(struct zkr__claim **out,
                     struct zkr__queue *q,
                     const struct zkr__entry *entry)
{
    struct zkr__engine *engine = zkr__engine_of(q->c);
    bool anew = entry->thread != 0; /* the claim replaces another claim */
    if (engine && !anew && !zkr__claim_fits(q, engine)) {
        return ZKR_ELIMIT;
    }
    struct zkr__claim *claim = engine ? zkr__claim_make(q, engine, entry) : NULL;
    if (!claim) {
        return ZKR_ENOMEM;
    }
    *out = claim;
    zkr__claim_start(claim);
    return ZKR_OK;
}

/* Take a kept node or enter the queue. A try fails instead of waiting in line. */
static int enter_alone(struct zkr__hold *hold,
                       const struct zkr__entry *entry) ZKR__LOCKED
{
    if (zkr__claim_take(&hold->claim, hold->queue, entry)) {
        return ZKR_OK;
    }
    return entry->once && zkr__keep_would_share(hold->queue)
               ? ZKR_ETIMEDOUT
               : zkr__claim_enter(&hold->claim, hold->queue, entry);
}

/* Enter the queues. @thread is for the owner text. 0 = the calling thread. */
static void join(struct zkr__hold *hold, long thread) ZKR__LOCKED
{
    const struct zkr__entry entry = entry_of(hold, thread, on_claim, hold);
    hold->claim = NULL;
    hold->state = ZKR__HOLD_WAITING;
    int rc = hold->queues ? enter_group(hold) : enter_alone(hold, &entry);
    if (rc != ZKR_OK) {
        give_up(hold, rc);
    }
}

int64_t zkr__hold_try_ms(const zkr_client *c)
{
    int64_t third = c->session_ms / 3;
    return third < c->options.connect_timeout_ms ? third
                                                 : c->options.connect_timeout_ms;
}

void zkr__hold_enter(struct zkr__hold *hold, int64_t timeout_ms, int64_t started)
{
    zkr_client *c = hold->queue->c;
    ZKR__MUST(c, !hold->claim && !hold->group);
    ZKR__MUST(c, hold->state == ZKR__HOLD_NONE || hold->state == ZKR__HOLD_FAILED);
    hold->once = timeout_ms == 0;
    hold->deadline =
        zkr__clock_deadline(started, hold->once ? zkr__hold_try_ms(c) : timeout_ms);
    hold->failure = hold->detail = 0;
    count(hold, WAITS, 0);
    /* If there will be no further session, the claim fails with the reason. */
    bool refused = c->shut || c->state == ZKR_STATE_AUTH_FAILED;
    if (hold->once && !zkr__connected(c) && !refused) {
        give_up(hold, ZKR_ENOANSWER);
    } else {
        join(hold, 0);
    }
    check(hold);
}

/* Enter again, because the grant ended before the owner knew of it. */
static void join_anew(struct zkr__hold *hold) ZKR__LOCKED
{
    if (hold->group) {
        zkr__group_enter_anew(hold->group);
        return;
    }
    struct zkr__claim *claim = hold->claim;
    long thread = claim->thread;
    zkr__claim_leave(claim, false);
    join(hold, thread);
}

/* Record that the owner knows of the grant, and report revocation requests. */
static void take_all(struct zkr__hold *hold) ZKR__LOCKED
{
    uint32_t count;
    struct zkr__claim *const *claims = claims_of(hold, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (claims[i]) {
            claims[i]->taken = true;
            zkr__warning_await(claims[i]);
            zkr__claim_tell_revocations(claims[i]);
        }
    }
}

/* --- wait --- */

/* Decide how WAITING continues. @take is true if a grant may be taken, and @over if the deadline has passed. */
static void move_on(struct zkr__hold *hold, bool take, bool over) ZKR__LOCKED
{
    if (granted(hold) && !take) {
        return;
    }
    if (sure(hold)) {
        hold->state = ZKR__HOLD_HELD;
        count(hold, GRANTED, 0);
        take_all(hold);
    } else if (failure(hold) != 0) {
        give_up(hold, failure(hold));
    } else if (hold->claim && hold->claim->canceled) {
        give_up(hold, ZKR_ECANCELED);
    } else if (over) {
        const struct zkr__claim *behind = parked(hold);
        hold->queue = behind ? behind->q : hold->queue;
        give_up(hold, behind ? ZKR_ETIMEDOUT : ZKR_ENOANSWER);
    } else if (granted(hold) && hold->queue->keeps_place) {
        zkr__claim_check(hold->claim);
    } else if (granted(hold) || (hold->claim && hold->claim->k.lost != 0)) {
        join_anew(hold);
    }
}

static bool is_over(const struct zkr__hold *hold)
{
    return hold->timed && zkr__now(hold->queue->c) >= hold->deadline;
}

enum zkr__hold_state zkr__hold_take(struct zkr__hold *hold)
{
    check(hold);
    if (hold->state == ZKR__HOLD_WAITING) {
        move_on(hold, true, is_over(hold));
    } else if (hold->state == ZKR__HOLD_HELD) {
        zkr__claim_check(hold->claim);
    }
    check(hold);
    return hold->state;
}

enum zkr__hold_state zkr__hold_follow(struct zkr__hold *hold)
{
    if (hold->state == ZKR__HOLD_WAITING) {
        move_on(hold, false, is_over(hold));
    }
    check(hold);
    return hold->state;
}

enum zkr__hold_state zkr__hold_await(struct zkr__hold *hold)
{
    while (hold->state == ZKR__HOLD_WAITING) {
        struct zkr__claim *claim = hold->claim;
        zkr__claim_ref(claim);
        zkr__claim_wait(claim, hold->deadline);
        bool over =
            claim == hold->claim && !zkr__claim_decided(&claim->k) && !claim->canceled;
        zkr__claim_unref(claim);
        /* A thread that handed over its kept node may already have ended this wait. */
        if (hold->state == ZKR__HOLD_WAITING) {
            move_on(hold, true, over);
        }
    }
    check(hold);
    return hold->state;
}

void zkr__hold_cancel(struct zkr__hold *hold)
{
    if (hold->state == ZKR__HOLD_WAITING) {
        hold->claim->canceled = true;
        zkr__claim_wake(hold->claim);
    }
}

static int64_t place_of(const struct zkr__claim *claim) ZKR__LOCKED
{
    return claim->in_line ? zkr__keep_place(claim) : zkr__claim_place(claim);
}

const struct zkr__claim *zkr__hold_behind(const struct zkr__hold *hold, int64_t *place)
{
    uint32_t count;
    struct zkr__claim *const *claims = claims_of(hold, &count);
    const struct zkr__claim *last = NULL;
    *place = 0;
    for (uint32_t i = 0; i < count && hold->state == ZKR__HOLD_WAITING; i++) {
        int64_t its = claims[i] ? place_of(claims[i]) : 0;
        last = its > *place ? claims[i] : last;
        *place = its > *place ? its : *place;
    }
    return last;
}

int64_t zkr__hold_place(const struct zkr__hold *hold)
{
    int64_t place;
    (void)zkr__hold_behind(hold, &place);
    return place;
}

bool zkr__hold_granted(const struct zkr__hold *hold)
{
    return hold->state == ZKR__HOLD_HELD ||
           (hold->state == ZKR__HOLD_WAITING && granted(hold));
}

bool zkr__hold_check(struct zkr__hold *hold)
{
    check(hold);
    if (hold->state == ZKR__HOLD_HELD) {
        zkr__claim_check(hold->claim);
    }
    return hold->state == ZKR__HOLD_HELD && zkr__claim_sure(hold->claim);
}

bool zkr__hold_is_to_warn(struct zkr__hold *hold)
{
    return hold->state == ZKR__HOLD_HELD && zkr__warning_is_due(hold->claim) &&
           zkr__hold_check(hold);
}

uint32_t zkr__hold_claims(const struct zkr__hold *hold, struct zkr__claim **claims)
{
    uint32_t count, in = 0;
    struct zkr__claim *const *all = claims_of(hold, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (all[i] && claims) {
            claims[in] = all[i];
        }
        in += all[i] != NULL;
    }
    return in;
}

void zkr__hold_move(struct zkr__hold *from, struct zkr__hold *to)
{
    /* Both queues share a meter, unless memory for the meter ran out. */
    int64_t held = from->state == ZKR__HOLD_HELD;
    ZKR__MUST(to->queue->c, to->state == ZKR__HOLD_NONE && !to->claim && !to->group);
    ZKR__MUST(to->queue->c, from->claim && !from->group);
    zkr__queue_meter(from->queue)->n.held -= held;
    zkr__queue_meter(to->queue)->n.held += held;
    to->claim = from->claim;
    to->state = from->state;
    to->since = from->since;
    from->claim = NULL;
    from->state = ZKR__HOLD_NONE;
    to->claim->on_change_ctx = to;
    to->queue->refs++;
    zkr__queue_unref(to->claim->q);
    to->claim->q = to->queue;
    check(to);
    zkr__claim_tell_revocations(to->claim);
}

/*
 * Keep the node for the next claim of this client, which may already be in line. Returns false if the node must be
 * deleted.
 */
static bool keep_node(struct zkr__hold *hold) ZKR__LOCKED
{
    struct zkr__claim *claim = hold->claim;
    if (hold->group || !claim || !zkr__claim_keep(claim)) {
        return false;
    }
    hold->claim = NULL;
    struct zkr__claim *next = zkr__keep_first_in_line(claim->directory);
    if (next) {
        hold = next->on_change_ctx;
        join_anew(hold);
        tell_owner(hold);
    }
    return true;
}

bool zkr__hold_leave(struct zkr__hold *hold, bool wait)
{
    check(hold);
    if (hold->state == ZKR__HOLD_HELD) {
        zkr__claim_check(hold->claim);
    }
    bool lost = hold->state == ZKR__HOLD_LOST;
    if (hold->state == ZKR__HOLD_HELD) {
        count(hold, RELEASED, 0);
    } else if (hold->state == ZKR__HOLD_WAITING || hold->state == ZKR__HOLD_DOUBTED) {
        count(hold, FAILED, ZKR_ECANCELED);
    }
    hold->state = ZKR__HOLD_NONE;
    if (!keep_node(hold)) {
        leave_all(hold, wait);
    }
    return lost;
}

int zkr__hold_fail(const struct zkr__hold *hold, int64_t timeout_ms)
{
    const char *dir = hold->queue->dir;
    const zkr_client *c = hold->queue->c;
    int code = hold->failure;
    switch (code) {
    case ZKR_ETIMEDOUT:
        return hold->once ? zkr__fail(code, dir, "%s is held by another contender", dir)
                          : zkr__fail(code, dir,
                                      "%s was not acquired within %lld ms: another "
                                      "contender holds it",
                                      dir, (long long)timeout_ms);
    case ZKR_ENOANSWER:
        return hold->once && !zkr__connected(c)
                   ? zkr__fail(code, dir, "not connected: %s",
                               c->obstacle[0] ? c->obstacle : "no session yet")
                   : zkr__fail(code, dir, "no server answered in time about %s", dir);
    case ZKR_EBUSY:
        return zkr__fail(code, dir, "max_waiters %lld is reached at %s",
                         (long long)hold->queue->max_waiters, dir);
    case ZKR_ECANCELED:
        return zkr__fail(code, dir, "the wait for %s was canceled", dir);
    case ZKR_ESEQUENCE:
        return zkr__fail(code, dir,
                         "the sequence numbers of %s are used up; delete it when it is "
                         "empty, or use another path",
                         dir);
    case ZKR_ELIMIT:
        return zkr__fail(code, dir,
                         "%s would exceed a limit of this client: %d bytes of nodes, "
                         "%d bytes of watches; use a second client",
                         dir, ZKR__NODES_BYTES, ZKR__WATCH_NEEDED_BYTES);
    case ZKR_EFOREIGN:
        return zkr__queue_refuse(hold->queue);
    case ZKR_ENONODE:
        return zkr__fail(
            code, dir, "cannot create %s: the chroot of the server list may be missing",
            dir);
    case ZKR_ECLOSED:
        return zkr__fail(code, dir, "the client is shut down");
    default:
        return zkr__fail_zk(code, code == ZKR_ENOMEM ? 0 : hold->detail, dir,
                            "cannot acquire");
    }
}

/* --- properties of a sure hold --- */

int zkr__hold_get_token(const struct zkr__claim *claim, void *out, size_t size)
{
    memcpy(out, &claim->czxid, size);
    return ZKR_OK;
}

int zkr__hold_get_pass(const struct zkr__claim *claim, void *out, size_t size)
{
    const int64_t pass = claim->k.holds;
    memcpy(out, &pass, size);
    return ZKR_OK;
}

int zkr__hold_get_node(const struct zkr__claim *claim, void *out, size_t size)
{
    size_t need = strlen(claim->node) + 1;
    if (!out || need > size) {
        return zkr__fail(ZKR_EINVAL, claim->q->dir,
                         "the node needs a buffer of %zu bytes", need);
    }
    memcpy(out, claim->node, need);
    return ZKR_OK;
}

int zkr__hold_get_guard(const struct zkr__claim *claim, void *out, size_t size)
{
    (void)size;
    struct zkr__claim *known = zkr__claim_at(claim->engine, claim->node);
    if (known) { /* a claim not found here sends no news of its release */
        known->guarded = true;
    }
    zkr__zk_guard(out, claim->node);
    return ZKR_OK;
}
