/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/place.h"

#include <string.h>

#include "base/error.h"
#include "engine/loss.h"

/* --- what becomes of it, counted --- */

/* A step, for each meter. */
struct step {
    void (*run)(struct zkr__meter *m, const struct step *step);
    int64_t took;
    bool contended;
    int code;
    enum zkr__metered_loss loss;
};

/* Queues of one path, as those of a semaphore, stand together and count once. */
static void run_at_each(const struct zkr__place *place,
                        const struct step *step) ZKR__LOCKED
{
    const struct zkr__place_queues *queues = place->queues;
    const struct zkr__meter *last = NULL;
    for (uint32_t i = 0; queues && i < queues->count; i++) {
        struct zkr__meter *m = zkr__queue_meter(queues->list[i]);
        if (m != last) {
            step->run(m, step);
        }
        last = m;
    }
    if (!queues) {
        step->run(zkr__queue_meter(place->queue), step);
    }
}

static int64_t took(const struct zkr__place *place) ZKR__LOCKED
{
    return zkr__now(place->queue->c) - place->since;
}

static void wait(struct zkr__meter *m, const struct step *step)
{
    (void)step;
    zkr__meter_wait(m);
}

void zkr__place_meter_wait(struct zkr__place *place)
{
    place->since = zkr__now(place->queue->c);
    run_at_each(place, &(struct step){.run = wait});
}

static bool contended(const struct zkr__place *place) ZKR__LOCKED
{
    const struct zkr__group *group = place->group;
    bool waited = group ? group->waited : place->claim->k.waited;
    for (uint32_t i = 0; group && i < group->spec.count; i++) {
        waited = waited || (group->members[i] && group->members[i]->k.waited);
    }
    return waited;
}

static void grant(struct zkr__meter *m, const struct step *step)
{
    zkr__meter_grant(m, step->took, step->contended);
}

void zkr__place_meter_grant(struct zkr__place *place)
{
    const struct step step = {
        .run = grant, .took = took(place), .contended = contended(place)};
    run_at_each(place, &step);
    place->since += step.took;
}

static void fail(struct zkr__meter *m, const struct step *step)
{
    zkr__meter_fail(m, step->code);
}

void zkr__place_meter_fail(const struct zkr__place *place, int code)
{
    run_at_each(place, &(struct step){.run = fail, .code = code});
}

static void release(struct zkr__meter *m, const struct step *step)
{
    zkr__meter_release(m, step->took);
}

void zkr__place_meter_release(const struct zkr__place *place)
{
    run_at_each(place, &(struct step){.run = release, .took = took(place)});
}

static void lose(struct zkr__meter *m, const struct step *step)
{
    zkr__meter_lose(m, step->took, step->loss);
}

void zkr__place_meter_lose(const struct zkr__place *place)
{
    const struct step step = {
        .run = lose, .took = took(place), .loss = zkr__loss_metered(place->claim)};
    run_at_each(place, &step);
}

/* --- the place --- */

int64_t zkr__place_try_ms(const zkr_client *c)
{
    int64_t third = c->session_ms / 3;
    return third < c->options.connect_timeout_ms ? third
                                                 : c->options.connect_timeout_ms;
}

/* --- one claim, or several --- */

static bool granted(const struct zkr__place *place) ZKR__LOCKED
{
    return place->group ? place->group->state == ZKR__GROUP_HELD
                        : place->claim && place->claim->k.phase == ZKR__HELD;
}

static int failure(const struct zkr__place *place) ZKR__LOCKED
{
    return place->group ? place->group->failure : place->claim->k.failure;
}

/* Behind another: that it waits for no server is certain. */
static bool parked(const struct zkr__place *place) ZKR__LOCKED
{
    const struct zkr__group *group = place->group;
    bool is = !group && place->claim && place->claim->k.phase == ZKR__PARKED;
    for (uint32_t i = 0; group && i < group->spec.count; i++) {
        is = is || zkr__group_member(group, i) == ZKR__MEMBER_PARKED;
    }
    return is;
}

static bool sure(const struct zkr__place *place) ZKR__LOCKED
{
    return granted(place) && zkr__claim_sure(place->claim);
}

static void has_told(const struct zkr__place_queues *queues) ZKR__LOCKED
{
    if (queues->on_told) {
        queues->on_told(queues);
    }
}

static void leave_all(struct zkr__place *place, bool wait) ZKR__LOCKED
{
    struct zkr__claim *claim = place->claim;
    struct zkr__group *group = place->group;
    place->claim = NULL;
    place->group = NULL;
    if (group) {
        zkr__group_leave(group);
        has_told(place->queues);
    } else if (claim && wait) {
        zkr__claim_leave_wait(claim);
    } else if (claim) {
        zkr__claim_leave(claim);
    }
}

static void on_claim(struct zkr__claim *claim, void *ctx) ZKR__LOCKED
{
    struct zkr__place *place = ctx;
    if (place->state == ZKR__PLACE_HELD && claim->k.lost != 0) {
        place->state = ZKR__PLACE_LOST;
        zkr__loss_log(claim, claim->k.lost);
        zkr__place_meter_lose(place);
    }
    if (place->on_change) {
        place->on_change(place);
    }
}

static void on_group(struct zkr__group *group, void *ctx) ZKR__LOCKED
{
    struct zkr__place *place = ctx;
    const struct zkr__place_queues *queues = place->queues;
    place->claim = group->claim;
    if (group->failed_in) {
        place->queue = group->failed_in;
    }
    if (place->claim) {
        on_claim(place->claim, place);
    } else if (place->on_change) {
        place->on_change(place);
    }
    has_told(queues);
}

static void on_step(struct zkr__group *group, void *ctx) ZKR__LOCKED
{
    struct zkr__place *place = ctx;
    place->queues->on_step(group, place);
}

static void give_up(struct zkr__place *place, int code) ZKR__LOCKED
{
    zkr__place_meter_fail(place, code);
    place->state = ZKR__PLACE_FAILED;
    place->failure = code;
    place->detail = place->group   ? place->group->detail
                    : place->claim ? place->claim->detail
                                   : 0;
    leave_all(place, false);
}

static int enter(struct zkr__place *place, const struct zkr__entry *entry) ZKR__LOCKED
{
    const struct zkr__place_queues *queues = place->queues;
    if (!queues) {
        return zkr__claim_enter(&place->claim, place->queue, entry);
    }
    const struct zkr__group_spec spec = {.queues = queues->list,
                                         .count = queues->count,
                                         .first = queues->first,
                                         .entry = *entry,
                                         .on_change = on_group,
                                         .on_step = queues->on_step ? on_step : NULL,
                                         .ctx = place};
    return zkr__group_enter(&place->group, &spec);
}

/* @thread: for the owner text; 0 = the calling one. */
static void join(struct zkr__place *place, long thread) ZKR__LOCKED
{
    bool timer = place->timed && place->deadline != ZKR__NEVER;
    const struct zkr__entry entry = {.once = place->once,
                                     .deadline = timer ? place->deadline : 0,
                                     .thread = thread,
                                     .on_change = on_claim,
                                     .ctx = place};
    place->claim = NULL;
    place->state = ZKR__PLACE_WAITING;
    int rc = enter(place, &entry);
    if (rc != ZKR_OK) {
        give_up(place, rc);
    }
}

void zkr__place_enter(struct zkr__place *place, int64_t timeout_ms, int64_t started)
{
    zkr_client *c = place->queue->c;
    place->once = timeout_ms == 0;
    place->deadline =
        zkr__clock_deadline(started, place->once ? zkr__place_try_ms(c) : timeout_ms);
    zkr__place_meter_wait(place);
    bool refused = c->shut || c->state == ZKR_STATE_AUTH_FAILED; /* which it says */
    if (place->once && !zkr__connected(c) && !refused) {
        give_up(place, ZKR_ENOANSWER);
    } else {
        join(place, 0);
    }
}

/* What was granted came to nothing before anybody was told. */
static void join_anew(struct zkr__place *place) ZKR__LOCKED
{
    if (place->group) {
        zkr__group_enter_anew(place->group);
        return;
    }
    struct zkr__claim *claim = place->claim;
    long thread = claim->thread;
    zkr__claim_leave(claim);
    join(place, thread);
}

/* The owner is told of the hold, and then of the wishes that it ends. */
static void take(struct zkr__claim *claim) ZKR__LOCKED
{
    claim->taken = true;
    zkr__claim_tell_wishes(claim);
}

static void take_all(struct zkr__place *place) ZKR__LOCKED
{
    const struct zkr__group *group = place->group;
    for (uint32_t i = 0; group && i < group->spec.count; i++) {
        if (group->members[i]) {
            take(group->members[i]);
        }
    }
    if (!group) {
        take(place->claim);
    }
}

/* One that waits. @over: the deadline has passed. */
static void move_on(struct zkr__place *place, bool take, bool over) ZKR__LOCKED
{
    if (granted(place) && !take) {
        return;
    }
    if (sure(place)) {
        place->state = ZKR__PLACE_HELD;
        zkr__place_meter_grant(place);
        take_all(place);
    } else if (failure(place) != 0) {
        give_up(place, failure(place));
    } else if (place->claim && place->claim->canceled) {
        give_up(place, ZKR_ECANCELED);
    } else if (over) {
        give_up(place, parked(place) ? ZKR_ETIMEDOUT : ZKR_ENOANSWER);
    } else if (granted(place) || (place->claim && place->claim->k.lost != 0)) {
        join_anew(place);
    }
}

static bool is_over(const struct zkr__place *place)
{
    return place->timed && zkr__now(place->queue->c) >= place->deadline;
}

enum zkr__place_state zkr__place_look(struct zkr__place *place)
{
    if (place->state == ZKR__PLACE_WAITING) {
        move_on(place, true, is_over(place));
    } else if (place->state == ZKR__PLACE_HELD) {
        zkr__claim_check(place->claim);
    }
    return place->state;
}

enum zkr__place_state zkr__place_follow(struct zkr__place *place)
{
    if (place->state == ZKR__PLACE_WAITING) {
        move_on(place, false, is_over(place));
    }
    return place->state;
}

enum zkr__place_state zkr__place_await(struct zkr__place *place)
{
    while (place->state == ZKR__PLACE_WAITING) {
        struct zkr__claim *claim = place->claim;
        zkr__claim_wait(claim, place->deadline);
        move_on(place, true, !zkr__claim_decided(&claim->k) && !claim->canceled);
    }
    return place->state;
}

void zkr__place_cancel(struct zkr__place *place)
{
    if (place->state == ZKR__PLACE_WAITING) {
        zkr__claim_cancel(place->claim);
    }
}

bool zkr__place_granted(const struct zkr__place *place)
{
    return place->state == ZKR__PLACE_HELD ||
           (place->state == ZKR__PLACE_WAITING && granted(place));
}

bool zkr__place_sure(struct zkr__place *place)
{
    if (place->state == ZKR__PLACE_HELD) {
        zkr__claim_check(place->claim);
    }
    return place->state == ZKR__PLACE_HELD && zkr__claim_sure(place->claim);
}

uint32_t zkr__place_claims(const struct zkr__place *place, struct zkr__claim **claims)
{
    const struct zkr__group *group = place->group;
    uint32_t count = 0;
    for (uint32_t i = 0; group && i < group->spec.count; i++) {
        if (group->members[i] && claims) {
            claims[count] = group->members[i];
        }
        count += group->members[i] != NULL;
    }
    if (!group && claims) {
        claims[0] = place->claim;
    }
    return group ? count : 1;
}

int zkr__place_node(const struct zkr__claim *claim, char *buf, size_t size)
{
    size_t need = strlen(claim->node) + 1;
    if (need > size) {
        return zkr__fail(ZKR_EINVAL, claim->node,
                         "the node needs a buffer of %zu bytes", need);
    }
    memcpy(buf, claim->node, need);
    return ZKR_OK;
}

void zkr__place_move(struct zkr__place *from, struct zkr__place *to)
{
    struct zkr__claim *claim = from->claim;
    to->claim = claim;
    to->state = from->state;
    to->since = from->since;
    from->claim = NULL;
    from->state = ZKR__PLACE_NONE;
    claim->on_change_ctx = to;
    to->queue->refs++;
    zkr__queue_unref(claim->q);
    claim->q = to->queue;
    zkr__claim_tell_wishes(claim);
}

bool zkr__place_leave(struct zkr__place *place, bool wait)
{
    if (place->state == ZKR__PLACE_HELD) {
        zkr__claim_check(place->claim);
    }
    bool lost = place->state == ZKR__PLACE_LOST;
    if (place->state == ZKR__PLACE_HELD) {
        zkr__place_meter_release(place);
    } else if (place->state == ZKR__PLACE_WAITING) {
        zkr__place_meter_fail(place, ZKR_ECANCELED);
    }
    place->state = ZKR__PLACE_NONE;
    leave_all(place, wait);
    return lost;
}

int zkr__place_fail(const struct zkr__place *place, int64_t timeout_ms)
{
    const char *dir = place->queue->dir;
    const zkr_client *c = place->queue->c;
    int code = place->failure;
    switch (code) {
    case ZKR_ETIMEDOUT:
        return place->once
                   ? zkr__fail(code, dir, "%s is held by another", dir)
                   : zkr__fail(code, dir,
                               "%s not acquired within %lld ms: held by another", dir,
                               (long long)timeout_ms);
    case ZKR_ENOANSWER:
        return place->once && !zkr__connected(c)
                   ? zkr__fail(code, dir, "not connected: %s",
                               c->obstacle[0] ? c->obstacle : "no session yet")
                   : zkr__fail(code, dir, "no answer about %s in time", dir);
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
        return zkr__fail_zk(code, place->detail, dir, "cannot acquire");
    }
}
