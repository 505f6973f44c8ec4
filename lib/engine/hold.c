/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/hold.h"

#include <string.h>

#include "base/error.h"
#include "engine/claim.h"
#include "engine/engine.h"
#include "engine/keep.h"
#include "session/zk_value.h"

/* --- what becomes of the hold, counted at each of its paths --- */

enum step { WAITS, GRANTED, FAILED, RELEASED, LOST, FORGOTTEN };

static int64_t took(const struct zkr__hold *hold) ZKR__LOCKED
{
    return zkr__now(hold->queue->c) - hold->since;
}

/* Did it wait behind others? */
static bool contended(const struct zkr__hold *hold) ZKR__LOCKED
{
    const struct zkr__group *group = hold->group;
    bool waited = group ? group->waited : hold->claim->k.waited;
    for (uint32_t i = 0; group && i < group->spec.count; i++) {
        waited = waited || (group->members[i] && group->members[i]->k.waited);
    }
    return waited;
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
    case FORGOTTEN: /* it waited in doubt */
        n->waiting--;
        break;
    }
}

/* @code: FAILED: why. Queues of one path, as those of a semaphore, stand together and count once. */
static void count(struct zkr__hold *hold, enum step step, int code) ZKR__LOCKED
{
    const struct zkr__hold_queues *queues = hold->queues;
    const struct zkr__meter *last = NULL;
    for (uint32_t i = 0; queues && i < queues->count; i++) {
        struct zkr__meter *m = zkr__queue_meter(queues->list[i]);
        if (m != last) {
            count_at(&m->n, hold, step, code);
        }
        last = m;
    }
    if (!queues) {
        count_at(&zkr__queue_meter(hold->queue)->n, hold, step, code);
    }
    if (step == WAITS || step == GRANTED) {
        hold->since = zkr__now(hold->queue->c);
    }
}

void zkr__hold_released(struct zkr__hold *hold)
{
    count(hold, RELEASED, 0);
    hold->state = ZKR__HOLD_NONE;
}

/* --- the hold --- */

int64_t zkr__hold_try_ms(const zkr_client *c)
{
    int64_t third = c->session_ms / 3;
    return third < c->options.connect_timeout_ms ? third
                                                 : c->options.connect_timeout_ms;
}

/* --- one claim, or several --- */

static bool granted(const struct zkr__hold *hold) ZKR__LOCKED
{
    return hold->group ? hold->group->state == ZKR__GROUP_HELD
                       : hold->claim && hold->claim->k.phase == ZKR__HELD;
}

static int failure(const struct zkr__hold *hold) ZKR__LOCKED
{
    return hold->group ? hold->group->failure : hold->claim->k.failure;
}

/* Behind another holder, so not waiting for an answer. */
static bool parked(const struct zkr__hold *hold) ZKR__LOCKED
{
    const struct zkr__group *group = hold->group;
    bool is = !group && hold->claim && zkr__claim_is_behind(hold->claim);
    for (uint32_t i = 0; group && i < group->spec.count; i++) {
        is = is || zkr__group_member(group, i) == ZKR__MEMBER_PARKED;
    }
    return is;
}

static bool sure(const struct zkr__hold *hold) ZKR__LOCKED
{
    return granted(hold) && zkr__claim_sure(hold->claim);
}

static void has_told(const struct zkr__hold_queues *queues) ZKR__LOCKED
{
    if (queues->on_told) {
        queues->on_told(queues);
    }
}

static void leave_all(struct zkr__hold *hold, bool wait) ZKR__LOCKED
{
    struct zkr__claim *claim = hold->claim;
    struct zkr__group *group = hold->group;
    hold->claim = NULL;
    hold->group = NULL;
    if (group) {
        zkr__group_leave(group);
        has_told(hold->queues);
    } else if (claim && wait) {
        zkr__claim_leave_wait(claim);
    } else if (claim) {
        zkr__claim_leave(claim);
    }
}

/* A hold in doubt is counted as lost, and as one that waits. */
static void follow_claim(struct zkr__hold *hold) ZKR__LOCKED
{
    const struct zkr__claim *claim = hold->claim;
    bool held = hold->state == ZKR__HOLD_HELD;
    bool doubted = hold->state == ZKR__HOLD_DOUBTED;
    if ((held || doubted) && claim->k.lost != 0) {
        hold->state = ZKR__HOLD_LOST;
        zkr__loss_log(claim, claim->k.lost);
        if (held) {
            count(hold, LOST, 0);
        } else {
            count(hold, FORGOTTEN, 0);
        }
    } else if (held && zkr__claim_stage(&claim->k) == ZKR__DOUBTED) {
        hold->state = ZKR__HOLD_DOUBTED;
        count(hold, LOST, 0);
        count(hold, WAITS, 0);
    } else if (doubted && claim->k.phase == ZKR__HELD) {
        hold->state = ZKR__HOLD_HELD;
        count(hold, GRANTED, 0);
    } else if (doubted && claim->k.failure != 0) {
        hold->state = ZKR__HOLD_WAITING; /* and so FAILED at the next look */
    }
}

static void on_claim(struct zkr__claim *claim, void *ctx) ZKR__LOCKED
{
    struct zkr__hold *hold = ctx;
    (void)claim;
    follow_claim(hold);
    if (hold->on_change) {
        hold->on_change(hold);
    }
}

static void on_group(struct zkr__group *group, void *ctx) ZKR__LOCKED
{
    struct zkr__hold *hold = ctx;
    const struct zkr__hold_queues *queues = hold->queues;
    hold->claim = group->claim;
    if (group->failed_in) {
        hold->queue = group->failed_in;
    }
    if (hold->claim) {
        on_claim(hold->claim, hold);
    } else if (hold->on_change) {
        hold->on_change(hold);
    }
    has_told(queues);
}

static void on_step(struct zkr__group *group, void *ctx) ZKR__LOCKED
{
    struct zkr__hold *hold = ctx;
    hold->queues->on_step(group, hold);
}

static void give_up(struct zkr__hold *hold, int code) ZKR__LOCKED
{
    count(hold, FAILED, code);
    hold->state = ZKR__HOLD_FAILED;
    hold->failure = code;
    hold->detail = hold->group   ? hold->group->detail
                   : hold->claim ? hold->claim->detail
                                 : 0;
    leave_all(hold, false);
}

/* A try does not wait in line. */
static int enter_alone(struct zkr__hold *hold,
                       const struct zkr__entry *entry) ZKR__LOCKED
{
    bool keeps = hold->queue->keep_ms > 0;
    if (keeps && zkr__claim_take(&hold->claim, hold->queue, entry)) {
        return ZKR_OK;
    }
    return keeps && entry->once && zkr__claim_would_line_up(hold->queue)
               ? ZKR_ETIMEDOUT
               : zkr__claim_enter(&hold->claim, hold->queue, entry);
}

static int enter(struct zkr__hold *hold, const struct zkr__entry *entry) ZKR__LOCKED
{
    const struct zkr__hold_queues *queues = hold->queues;
    if (!queues) {
        return enter_alone(hold, entry);
    }
    const struct zkr__group_spec spec = {.queues = queues->list,
                                         .count = queues->count,
                                         .first = queues->first,
                                         .entry = *entry,
                                         .on_change = on_group,
                                         .on_step = queues->on_step ? on_step : NULL,
                                         .ctx = hold};
    return zkr__group_enter(&hold->group, &spec);
}

/* @thread: for the owner text; 0 = the calling one. */
static void join(struct zkr__hold *hold, long thread) ZKR__LOCKED
{
    bool timer = hold->timed && hold->deadline != ZKR__NEVER;
    const struct zkr__entry entry = {.once = hold->once,
                                     .deadline = timer ? hold->deadline : 0,
                                     .thread = thread,
                                     .on_change = on_claim,
                                     .ctx = hold};
    hold->claim = NULL;
    hold->state = ZKR__HOLD_WAITING;
    int rc = enter(hold, &entry);
    if (rc != ZKR_OK) {
        give_up(hold, rc);
    }
}

void zkr__hold_enter(struct zkr__hold *hold, int64_t timeout_ms, int64_t started)
{
    zkr_client *c = hold->queue->c;
    hold->once = timeout_ms == 0;
    hold->deadline =
        zkr__clock_deadline(started, hold->once ? zkr__hold_try_ms(c) : timeout_ms);
    count(hold, WAITS, 0);
    bool refused = c->shut || c->state == ZKR_STATE_AUTH_FAILED; /* joining says so */
    if (hold->once && !zkr__connected(c) && !refused) {
        give_up(hold, ZKR_ENOANSWER);
    } else {
        join(hold, 0);
    }
}

/* The grant came to nothing before the owner was told. */
static void join_anew(struct zkr__hold *hold) ZKR__LOCKED
{
    if (hold->group) {
        zkr__group_enter_anew(hold->group);
        return;
    }
    struct zkr__claim *claim = hold->claim;
    long thread = claim->thread;
    zkr__claim_leave(claim);
    join(hold, thread);
}

/* The owner is told of the hold, and then of revocation requests. */
static void take(struct zkr__claim *claim) ZKR__LOCKED
{
    claim->taken = true;
    zkr__claim_tell_revocations(claim);
}

static void take_all(struct zkr__hold *hold) ZKR__LOCKED
{
    const struct zkr__group *group = hold->group;
    for (uint32_t i = 0; group && i < group->spec.count; i++) {
        if (group->members[i]) {
            take(group->members[i]);
        }
    }
    if (!group) {
        take(hold->claim);
    }
}

/* WAITING: decide what follows. @over: the deadline has passed. */
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
        give_up(hold, parked(hold) ? ZKR_ETIMEDOUT : ZKR_ENOANSWER);
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

enum zkr__hold_state zkr__hold_look(struct zkr__hold *hold)
{
    if (hold->state == ZKR__HOLD_WAITING) {
        move_on(hold, true, is_over(hold));
    } else if (hold->state == ZKR__HOLD_HELD) {
        zkr__claim_check(hold->claim);
    }
    return hold->state;
}

enum zkr__hold_state zkr__hold_follow(struct zkr__hold *hold)
{
    if (hold->state == ZKR__HOLD_WAITING) {
        move_on(hold, false, is_over(hold));
    }
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
        /* The thread that passed its node on may have ended the wait. */
        if (hold->state == ZKR__HOLD_WAITING) {
            move_on(hold, true, over);
        }
    }
    return hold->state;
}

void zkr__hold_cancel(struct zkr__hold *hold)
{
    if (hold->state == ZKR__HOLD_WAITING) {
        zkr__claim_cancel(hold->claim);
    }
}

const struct zkr__claim *zkr__hold_behind(const struct zkr__hold *hold, int64_t *place)
{
    const struct zkr__group *group = hold->group;
    const struct zkr__claim *last = group ? NULL : hold->claim;
    *place = 0;
    if (hold->state != ZKR__HOLD_WAITING) {
        return NULL;
    }
    *place = last ? zkr__claim_place(last) : 0;
    for (uint32_t i = 0; group && i < group->spec.count; i++) {
        const struct zkr__claim *member = group->members[i];
        int64_t its = member ? zkr__claim_place(member) : 0;
        last = its > *place ? member : last;
        *place = its > *place ? its : *place;
    }
    return *place > 0 ? last : NULL;
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

bool zkr__hold_sure(struct zkr__hold *hold)
{
    if (hold->state == ZKR__HOLD_HELD) {
        zkr__claim_check(hold->claim);
    }
    return hold->state == ZKR__HOLD_HELD && zkr__claim_sure(hold->claim);
}

uint32_t zkr__hold_claims(const struct zkr__hold *hold, struct zkr__claim **claims)
{
    const struct zkr__group *group = hold->group;
    uint32_t count = 0;
    for (uint32_t i = 0; group && i < group->spec.count; i++) {
        if (group->members[i] && claims) {
            claims[count] = group->members[i];
        }
        count += group->members[i] != NULL;
    }
    if (!group && claims) {
        claims[0] = hold->claim;
    }
    return group ? count : 1;
}

void zkr__hold_move(struct zkr__hold *from, struct zkr__hold *to)
{
    struct zkr__claim *claim = from->claim;
    to->claim = claim;
    to->state = from->state;
    to->since = from->since;
    from->claim = NULL;
    from->state = ZKR__HOLD_NONE;
    claim->on_change_ctx = to;
    to->queue->refs++;
    zkr__queue_unref(claim->q);
    claim->q = to->queue;
    zkr__claim_tell_revocations(claim);
}

/* The node stays, for the next of this client in line, or for whoever comes. False: it is to be deleted. */
static bool pass_on(struct zkr__hold *hold) ZKR__LOCKED
{
    struct zkr__claim *claim = hold->claim;
    if (hold->group || !claim || claim->q->keep_ms == 0 || !zkr__claim_keep(claim)) {
        return false;
    }
    hold->claim = NULL;
    struct zkr__claim *next = zkr__claim_next_in_line(claim->directory);
    if (next) {
        hold = next->on_change_ctx;
        join_anew(hold);
        on_claim(hold->claim, hold);
    }
    return true;
}

bool zkr__hold_leave(struct zkr__hold *hold, bool wait)
{
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
    if (!pass_on(hold)) {
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
        return hold->once ? zkr__fail(code, dir, "%s is held by another", dir)
                          : zkr__fail(code, dir,
                                      "%s not acquired within %lld ms: held by another",
                                      dir, (long long)timeout_ms);
    case ZKR_ENOANSWER:
        return hold->once && !zkr__connected(c)
                   ? zkr__fail(code, dir, "not connected: %s",
                               c->obstacle[0] ? c->obstacle : "no session yet")
                   : zkr__fail(code, dir, "no answer about %s in time", dir);
    case ZKR_EBUSY:
        return zkr__fail(code, dir, "%lld wait for %s already",
                         (long long)hold->queue->max_waiters, dir);
    case ZKR_ECANCELED:
        return zkr__fail(code, dir, "the wait for %s was canceled", dir);
    case ZKR_ESEQUENCE:
        return zkr__fail(code, dir,
                         "the sequence numbers of %s are used up; leave it empty for a "
                         "moment and delete it, or use another path",
                         dir);
    case ZKR_ENONODE:
        return zkr__fail(code, dir,
                         "cannot create %s: is the chroot of the server list missing?",
                         dir);
    case ZKR_ECLOSED:
        return zkr__fail(code, dir, "the client is shut down");
    case ZKR_ENOMEM:
    case ZKR_ESYS:
        return zkr__fail(code, dir, "cannot join %s: out of resources", dir);
    default:
        return zkr__fail_zk(code, hold->detail, dir, "cannot acquire");
    }
}

/* --- what is told of a sure hold --- */

int zkr__hold_get_token(const struct zkr__claim *claim, void *out, size_t size)
{
    memcpy(out, &claim->czxid, size);
    return ZKR_OK;
}

int zkr__hold_get_pass(const struct zkr__claim *claim, void *out, size_t size)
{
    /* A claim that keeps no place becomes HELD once. */
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
    zkr__zk_guard(out, claim->node);
    return ZKR_OK;
}
