/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/contend.h"

#include "base/mem.h"
#include "base/thread.h"
#include "engine/claim_run.h"
#include "engine/engine.h"
#include "session/bound.h"

/* --- one claim --- */

/* A code if no session will come, or the client is shut down. */
static int hopeless(const zkr_client *c) ZKR__LOCKED
{
    return c->shut                             ? ZKR_ECLOSED
           : c->state == ZKR_STATE_AUTH_FAILED ? ZKR_EAUTH
                                               : ZKR_OK;
}

/* A claim that has not begun. NULL: no memory. */
static struct zkr__claim *prepare(struct zkr__queue *q,
                                  const struct zkr__entry *entry) ZKR__LOCKED
{
    struct zkr__engine *engine = zkr__engine_of(q->c);
    struct zkr__claim *claim = engine ? zkr__claim_make(q, engine) : NULL;
    if (!claim) {
        return NULL;
    }
    claim->once = entry->once;
    claim->give_up_at = entry->deadline == ZKR__NEVER ? 0 : entry->deadline;
    claim->thread = entry->thread != 0 ? entry->thread : zkr__thread_os_id();
    claim->on_change = entry->on_change;
    claim->on_change_ctx = entry->ctx;
    return claim;
}

/* Join the queue with a prepared claim. */
static void begin(struct zkr__claim *claim) ZKR__LOCKED
{
    zkr__claim_start(claim);
    int rc = hopeless(claim->q->c);
    if (rc != ZKR_OK) {
        zkr__claim_run(claim,
                       (struct zkr__claim_event){.kind = ZKR__EV_GIVE_UP, .code = rc});
    }
}

int zkr__claim_enter(struct zkr__claim **out,
                     struct zkr__queue *q,
                     const struct zkr__entry *entry)
{
    struct zkr__claim *claim = prepare(q, entry);
    if (!claim) {
        return ZKR_ENOMEM;
    }
    *out = claim;
    begin(claim);
    return ZKR_OK;
}

/* False: the deadline has passed. */
static bool sleep_on(struct zkr__claim *claim, int64_t deadline) ZKR__LOCKED
{
    struct zkr__cv wake;
    zkr__cv_init(&wake);
    claim->sleeper = &wake;
    bool in_time = zkr__wait(claim->q->c, &wake, deadline);
    claim->sleeper = NULL;
    zkr__cv_destroy(&wake);
    return in_time;
}

void zkr__claim_wait(struct zkr__claim *claim, int64_t deadline)
{
    bool in_time = true;
    while (!zkr__claim_decided(&claim->k) && !claim->canceled && !claim->k.leaving &&
           in_time) {
        in_time = sleep_on(claim, deadline);
    }
}

void zkr__claim_cancel(struct zkr__claim *claim)
{
    claim->canceled = true;
    zkr__claim_wake(claim);
}

/* As zkr__claim_leave(), but the owner keeps its reference. */
static void let_go(struct zkr__claim *claim) ZKR__LOCKED
{
    claim->on_change = NULL;
    claim->give_up_at = 0;
    zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_LEAVE});
}

void zkr__claim_leave(struct zkr__claim *claim)
{
    let_go(claim);
    zkr__claim_unref(claim);
}

void zkr__claim_leave_wait(struct zkr__claim *claim)
{
    let_go(claim);
    bool in_time = true;
    while (claim->k.phase != ZKR__GONE && !claim->k.refused && in_time) {
        in_time = sleep_on(claim, ZKR__NEVER);
    }
    zkr__claim_unref(claim);
}

void zkr__claim_downgrade(struct zkr__claim *claim)
{
    zkr__claim_turn(claim, ZKR__NAME_READ);
    zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_DOWNGRADE});
}

void zkr__claim_check(struct zkr__claim *claim)
{
    if (claim->k.phase == ZKR__HELD && !zkr__claim_sure(claim)) {
        zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_LEASE_EXPIRED});
    }
}

bool zkr__claim_sure(struct zkr__claim *claim)
{
    const zkr_client *c = claim->q->c;
    return claim->k.phase == ZKR__HELD && claim->epoch == c->epoch &&
           zkr__sure(claim->q->c);
}

/* --- a group: its members come and go --- */

static void on_claim(struct zkr__claim *claim, void *ctx) ZKR__LOCKED;

static struct zkr__claim *first_in(const struct zkr__group *group)
{
    for (uint32_t i = 0; i < group->spec.count; i++) {
        if (group->members[i]) {
            return group->members[i];
        }
    }
    return NULL;
}

static void drop(struct zkr__group *group, uint32_t i) ZKR__LOCKED
{
    struct zkr__claim *claim = group->members[i];
    group->members[i] = NULL;
    group->waited = group->waited || claim->k.waited;
    claim->batch = NULL;
    if ((claim->unsent & ZKR__DO_CREATE) && claim->k.phase == ZKR__CREATING) {
        /* The claim waits for the answer to a create that is never sent. */
        zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_CREATED,
                                                        .code = ZKR_ENONODE});
        zkr__claims_let_in(claim->engine);
    }
    zkr__claim_unref(claim);
}

/* All but @kept; NULL: all. */
static void take_out(struct zkr__group *group,
                     uint32_t first,
                     uint32_t count,
                     const struct zkr__claim *kept) ZKR__LOCKED
{
    zkr__batch_gather(&group->batch);
    for (uint32_t i = first; i < first + count; i++) {
        if (group->members[i] && group->members[i] != kept) {
            let_go(group->members[i]);
        }
    }
    zkr__batch_send(&group->batch);
    for (uint32_t i = first; i < first + count; i++) {
        if (group->members[i] && group->members[i] != kept) {
            drop(group, i);
        }
    }
}

static bool make(struct zkr__group *group, uint32_t i) ZKR__LOCKED
{
    struct zkr__entry entry = group->spec.entry;
    entry.on_change = on_claim;
    entry.ctx = group;
    struct zkr__claim *claim = prepare(group->spec.queues[i], &entry);
    if (!claim) {
        return false;
    }
    claim->batch = &group->batch;
    claim->k.member = true;
    claim->k.next = ZKR__CREATING; /* if it ends before it has begun */
    claim->k.failures = group->failures;
    group->spec.entry.thread = claim->thread;
    group->members[i] = claim;
    return true;
}

void zkr__group_let_in(struct zkr__group *group, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        if (!make(group, i)) {
            group->failure = ZKR_ENOMEM;
            return;
        }
    }
    zkr__batch_gather(&group->batch);
    for (uint32_t i = first; i < first + count; i++) {
        begin(group->members[i]);
    }
    zkr__batch_send(&group->batch);
}

/* --- what becomes of a group --- */

static void fail(struct zkr__group *group, const struct zkr__claim *by) ZKR__LOCKED
{
    bool late =
        by && (by->k.failure == ZKR_ETIMEDOUT || by->k.failure == ZKR_ENOANSWER);
    for (uint32_t i = 0; i < group->spec.count && late; i++) {
        if (zkr__group_member(group, i) == ZKR__MEMBER_PARKED) {
            /* Another member waits behind a holder: that is the reason, whichever timer was first. */
            group->failure = ZKR_ETIMEDOUT;
            by = group->members[i];
            late = false;
        }
    }
    if (by) {
        group->failure = group->failure != 0 ? group->failure : by->k.failure;
        group->detail = by->detail;
        group->failed_in = by->q;
    }
    group->state = ZKR__GROUP_FAILED;
    take_out(group, 0, group->spec.count, NULL);
}

static void enter_anew(struct zkr__group *group, int64_t failures) ZKR__LOCKED
{
    take_out(group, 0, group->spec.count, NULL);
    group->partial = false;
    group->failures = failures;
    zkr__group_let_in(group, 0, group->spec.first);
}

/* A member whose end decides for all; NULL: none. */
static struct zkr__claim *ended(const struct zkr__group *group) ZKR__LOCKED
{
    struct zkr__claim *found = NULL;
    for (uint32_t i = 0; i < group->spec.count; i++) {
        struct zkr__claim *claim = group->members[i];
        bool over = claim && (claim->k.place_lost || claim->k.lost != 0);
        if (claim && claim->k.failure != 0) {
            return claim;
        }
        found = over && !found ? claim : found;
    }
    return found;
}

/* True: the group still waits or holds. */
static bool end_or_repeat(struct zkr__group *group) ZKR__LOCKED
{
    struct zkr__claim *claim = ended(group);
    if (group->state == ZKR__GROUP_HELD) {
        if (claim) {
            group->state = ZKR__GROUP_LOST;
            take_out(group, 0, group->spec.count, claim);
        }
        return !claim;
    }
    if (claim && claim->k.failure == 0 && group->failure == 0) {
        enter_anew(group, claim->k.place_lost ? claim->k.failures : 0);
        claim = ended(group); /* a member that enters may fail at once */
    }
    if (claim || group->failure != 0) {
        fail(group, claim);
    }
    return group->state == ZKR__GROUP_WAITING;
}

static void tell_all_ready(struct zkr__group *group) ZKR__LOCKED
{
    zkr__batch_gather(&group->batch);
    for (uint32_t i = 0; i < group->spec.count; i++) {
        if (group->members[i]) {
            zkr__claim_run(group->members[i],
                           (struct zkr__claim_event){.kind = ZKR__EV_ALL_READY});
        }
    }
    zkr__batch_send(&group->batch);
}

/* True: something has changed, so look again. */
static bool go_on(struct zkr__group *group) ZKR__LOCKED
{
    uint32_t in = 0, ready = 0, held = 0;
    if (group->spec.on_step) {
        group->spec.on_step(group, group->spec.ctx);
        if (group->state == ZKR__GROUP_WAITING && ended(group)) {
            return true; /* a member that was let in has failed at once */
        }
    }
    for (uint32_t i = 0; i < group->spec.count; i++) {
        enum zkr__member member = zkr__group_member(group, i);
        in += member != ZKR__MEMBER_OUT;
        ready += member == ZKR__MEMBER_READY;
        held += member == ZKR__MEMBER_HELD;
    }
    bool complete = in > 0 && ready + held == in && !group->partial;
    if (group->failure != 0 ||
        (complete && held == in && group->state == ZKR__GROUP_WAITING)) {
        group->state = group->failure == 0 ? ZKR__GROUP_HELD : group->state;
        return true;
    }
    if (complete && ready > 0) {
        tell_all_ready(group);
        return true;
    }
    return false;
}

void zkr__group_step(struct zkr__group *group)
{
    const struct zkr__claim *claim = group->claim;
    enum zkr__group_state state = group->state;
    if (state > ZKR__GROUP_HELD) {
        return;
    }
    group->busy = true;
    while (end_or_repeat(group) && go_on(group)) {
    }
    group->busy = false;
    group->claim = first_in(group);
    if (group->state != ZKR__GROUP_WAITING || group->state != state ||
        group->claim != claim) {
        group->spec.on_change(group, group->spec.ctx);
    }
}

/* A busy group looks at its members later. */
static void on_claim(struct zkr__claim *claim, void *ctx)
{
    struct zkr__group *group = ctx;
    (void)claim;
    if (!group->busy) {
        zkr__group_step(group);
    }
}

/* --- what the owner of a group asks for --- */

int zkr__group_enter(struct zkr__group **out, const struct zkr__group_spec *spec)
{
    struct zkr__group *group =
        zkr__mem_alloc(sizeof(*group) + spec->count * sizeof(struct zkr__claim *));
    if (!group) {
        return ZKR_ENOMEM;
    }
    group->spec = *spec;
    group->batch = (struct zkr__batch){.count = spec->count, .claims = group->members};
    group->busy = true;
    zkr__group_let_in(group, 0, spec->first);
    if (group->failure != 0) {
        zkr__group_leave(group);
        return ZKR_ENOMEM;
    }
    *out = group;
    zkr__group_step(group);
    return ZKR_OK;
}

void zkr__group_leave(struct zkr__group *group)
{
    take_out(group, 0, group->spec.count, NULL);
    zkr__mem_free(group);
}

void zkr__group_enter_anew(struct zkr__group *group)
{
    group->busy = true;
    group->state = ZKR__GROUP_WAITING;
    enter_anew(group, 0);
    zkr__group_step(group);
}

enum zkr__member zkr__group_member(const struct zkr__group *group, uint32_t i)
{
    const struct zkr__claim *claim = group->members[i];
    if (!claim) {
        return ZKR__MEMBER_OUT;
    }
    return claim->k.phase == ZKR__PARKED  ? ZKR__MEMBER_PARKED
           : claim->k.phase == ZKR__READY ? ZKR__MEMBER_READY
           : claim->k.phase == ZKR__HELD  ? ZKR__MEMBER_HELD
                                          : ZKR__MEMBER_COMING;
}

void zkr__group_take_out(struct zkr__group *group, uint32_t first, uint32_t count)
{
    take_out(group, first, count, NULL);
}
