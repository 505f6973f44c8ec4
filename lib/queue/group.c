/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/group.h"

#include "base/fault.h"
#include "base/mem.h"
#include "queue/batch.h"
#include "queue/claim_run.h"
#include "queue/engine.h"
#include "session/must.h"

static zkr_client *client_of(const struct zkr__group *group)
{
    return group->queues->list[0]->c;
}

/* --- members --- */

struct zkr__claim *zkr__group_first(const struct zkr__group *group)
{
    uint32_t i = 0;
    while (i < group->count && !group->members[i]) {
        i++;
    }
    return i < group->count ? group->members[i] : NULL;
}

static void drop(struct zkr__group *group, uint32_t i) ZKR__LOCKED
{
    struct zkr__claim *claim = group->members[i];
    ZKR__MUST(client_of(group), claim->group == group && claim->k.member);
    group->members[i] = NULL;
    group->waited = group->waited || claim->k.waited;
    claim->group = NULL;
    if ((claim->unsent & ZKR__DO_CREATE) && claim->k.phase == ZKR__CREATING) {
        /* The claim waits for the answer to a create that will not be sent, so this ends its wait. */
        zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_CREATED,
                                                        .code = ZKR_ENONODE});
        zkr__claims_let_in(claim->engine);
    }
    zkr__claim_unref(claim);
}

void zkr__group_take_out(struct zkr__group *group,
                         uint32_t first,
                         uint32_t count,
                         const struct zkr__claim *kept)
{
    group->gathering = true;
    for (uint32_t i = first; i < first + count; i++) {
        if (group->members[i] && group->members[i] != kept) {
            zkr__claim_let_go(group->members[i]);
        }
    }
    zkr__batch_send(group);
    for (uint32_t i = first; i < first + count; i++) {
        if (group->members[i] && group->members[i] != kept) {
            drop(group, i);
        }
    }
}

/* Returns ZKR_OK, ZKR_ENOMEM or ZKR_ELIMIT. */
static int make_member(struct zkr__group *group, uint32_t i) ZKR__LOCKED
{
    struct zkr__queue *q = group->queues->list[i];
    ZKR__MUST(q->c, !group->members[i]);
    struct zkr__engine *engine = zkr__engine_of(q->c);
    if (engine && !zkr__claim_fits(q, engine)) {
        return ZKR_ELIMIT;
    }
    struct zkr__claim *claim =
        engine ? zkr__claim_make(q, engine, &group->entry) : NULL;
    if (!claim) {
        return ZKR_ENOMEM;
    }
    claim->group = group;
    claim->k.member = true;
    claim->k.next = ZKR__CREATING; /* needed if the claim ends before it starts */
    claim->k.failures = group->failures;
    claim->k.pauses = group->pauses;
    group->entry.thread = claim->thread;
    group->members[i] = claim;
    return ZKR_OK;
}

void zkr__group_let_in(struct zkr__group *group, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < group->count; i++) {
        const struct zkr__claim *in = group->members[i];
        group->pauses = group->pauses && (!in || zkr__claim_has_none(&in->k));
    }
    for (uint32_t i = first; i < first + count; i++) {
        int rc = make_member(group, i);
        if (rc != ZKR_OK) {
            group->failure = rc;
            return;
        }
    }
    group->gathering = true;
    for (uint32_t i = first; i < first + count; i++) {
        zkr__claim_start(group->members[i]);
    }
    zkr__batch_send(group);
}

/* Check the invariants of a group after a step. @first is the group's first member. */
static const char *fault_of(const struct zkr__group *group,
                            const struct zkr__claim *first) ZKR__LOCKED
{
    bool held = group->state == ZKR__GROUP_HELD;
    bool failed = group->state == ZKR__GROUP_FAILED;
    bool lost = group->state == ZKR__GROUP_LOST;
    ZKR__FAULT_IF(group->gathering, "requests of the group were not sent");
    ZKR__FAULT_IF(group->failures < 0, "a negative count of failures");
    ZKR__FAULT_IF(held && (group->partial || !first), "held by some members only");
    ZKR__FAULT_IF(held && first->k.phase != ZKR__HELD,
                  "held, but its first claim is not held");
    ZKR__FAULT_IF(lost && !(first && first->k.lost != 0), "lost without a lost member");
    ZKR__FAULT_IF(failed != (group->failure != 0),
                  "failed without a reason, or the reverse");
    ZKR__FAULT_IF(failed && first, "a failed group still has members in the queue");
    return NULL;
}

/* Notify the members that all of them are READY or HELD. */
static void tell_ready(struct zkr__group *group) ZKR__LOCKED
{
    group->gathering = true;
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->members[i]) {
            zkr__claim_tell(group->members[i], ZKR__EV_ALL_READY);
        }
    }
    zkr__batch_send(group);
}

/* If a member is PARKED, the READY members watch their own nodes, because an old list will grant them. */
static void watch_ready(struct zkr__group *group) ZKR__LOCKED
{
    bool waits = false;
    for (uint32_t i = 0; i < group->count; i++) {
        waits = waits || zkr__group_member_is(group, i, ZKR__PARKED);
    }
    for (uint32_t i = 0; i < group->count && waits; i++) {
        if (zkr__group_member_is(group, i, ZKR__READY) &&
            group->members[i]->k.own != ZKR__OWN_SET) {
            zkr__claim_tell(group->members[i], ZKR__EV_QUIET);
        }
    }
}

/* --- the state of the group --- */

/* A busy group examines its members when its current step ends. */
static void on_member(struct zkr__claim *claim, void *ctx) ZKR__LOCKED
{
    struct zkr__group *group = ctx;
    (void)claim;
    if (!group->busy) {
        zkr__group_step(group);
    }
}

static void fail(struct zkr__group *group, const struct zkr__claim *by) ZKR__LOCKED
{
    bool late =
        by && (by->k.failure == ZKR_ETIMEDOUT || by->k.failure == ZKR_ENOANSWER);
    for (uint32_t i = 0; i < group->count && late; i++) {
        if (group->members[i] && zkr__claim_is_parked(group->members[i])) {
            /* If another member waits behind a holder, report ETIMEDOUT, no matter which member's timer fired first. */
            group->failure = ZKR_ETIMEDOUT;
            by = group->members[i];
            late = false;
        }
    }
    if (by) {
        group->failure = group->failure != 0 ? group->failure : by->k.failure;
        group->detail = by->detail;
        group->fails_in = by->q;
    }
    group->state = ZKR__GROUP_FAILED;
    zkr__group_take_out(group, 0, group->count, NULL);
}

static void enter_anew(struct zkr__group *group, struct zkr__claim *by) ZKR__LOCKED
{
    group->failures = by ? by->k.failures : 0;
    group->pauses = by && by->k.pauses;
    zkr__group_take_out(group, 0, group->count, NULL);
    group->partial = false;
    zkr__group_let_in(group, 0, group->queues->first);
}

/* Returns a member whose end ends the group, or NULL if there is none. */
static struct zkr__claim *ended(const struct zkr__group *group) ZKR__LOCKED
{
    struct zkr__claim *found = NULL;
    for (uint32_t i = 0; i < group->count; i++) {
        struct zkr__claim *claim = group->members[i];
        bool over = claim && (claim->k.place_lost || claim->k.lost != 0);
        if (claim && claim->k.failure != 0) {
            return claim;
        }
        found = over && !found ? claim : found;
    }
    return found;
}

/* If a member has ended, end the group or let it enter again. Returns true if the group still waits or holds. */
static bool end_or_repeat(struct zkr__group *group) ZKR__LOCKED
{
    struct zkr__claim *claim = ended(group);
    if (group->state == ZKR__GROUP_HELD) {
        if (claim) {
            group->state = ZKR__GROUP_LOST;
            zkr__group_take_out(group, 0, group->count, claim);
        }
        return !claim;
    }
    if (claim && claim->k.failure == 0 && group->failure == 0) {
        enter_anew(group, claim->k.place_lost ? claim : NULL);
        claim = ended(group); /* a member may fail while it enters */
    }
    if (claim || group->failure != 0) {
        fail(group, claim);
    }
    return group->state == ZKR__GROUP_WAITING;
}

/* Advance the group. Returns true if its state changed, so that the caller must check again. */
static bool go_on(struct zkr__group *group) ZKR__LOCKED
{
    uint32_t in = 0, ready = 0, held = 0;
    if (group->queues->on_step) {
        group->queues->on_step(group->queues, group);
        if (group->state == ZKR__GROUP_WAITING && ended(group)) {
            /* A member that on_step let in may have failed at once. */
            return true;
        }
    }
    for (uint32_t i = 0; i < group->count; i++) {
        in += group->members[i] != NULL;
        ready += zkr__group_member_is(group, i, ZKR__READY);
        held += zkr__group_member_is(group, i, ZKR__HELD);
    }
    bool complete = in > 0 && ready + held == in && !group->partial;
    if (group->failure != 0 ||
        (complete && held == in && group->state == ZKR__GROUP_WAITING)) {
        group->state = group->failure == 0 ? ZKR__GROUP_HELD : group->state;
        return true;
    }
    if (complete && ready > 0) {
        tell_ready(group);
        return true;
    }
    watch_ready(group);
    return false;
}

static void has_told(const struct zkr__hold_queues *queues, bool over) ZKR__LOCKED
{
    if (queues->on_told) {
        queues->on_told(queues, over);
    }
}

void zkr__group_step(struct zkr__group *group)
{
    const struct zkr__hold_queues *queues = group->queues;
    enum zkr__group_state state = group->state;
    if (state > ZKR__GROUP_HELD) {
        return;
    }
    group->busy = true;
    while (end_or_repeat(group) && go_on(group)) {
    }
    group->busy = false;
    const struct zkr__claim *first = zkr__group_first(group);
    ZKR__MUST_NOT(client_of(group), fault_of(group, first));
    if (group->state != ZKR__GROUP_WAITING || group->state != state ||
        group->first != first) {
        group->first = first;
        group->on_change(group, group->ctx); /* may free the group */
        has_told(queues, false);
    }
}

/* --- the end of a group --- */

void zkr__group_free(struct zkr__group *group)
{
    const struct zkr__hold_queues *queues = group->queues;
    group->busy = true;
    zkr__group_take_out(group, 0, group->count, NULL);
    zkr__mem_free(group);
    has_told(queues, true);
}

int zkr__group_make(struct zkr__group **out,
                    const struct zkr__hold_queues *queues,
                    const struct zkr__entry *entry,
                    void (*on_change)(struct zkr__group *group, void *ctx),
                    void *ctx)
{
    struct zkr__group *group =
        zkr__mem_alloc(sizeof(*group) + queues->count * sizeof(struct zkr__claim *));
    if (!group) {
        return ZKR_ENOMEM;
    }
    group->queues = queues;
    group->on_change = on_change;
    group->ctx = ctx;
    group->entry = *entry;
    group->entry.on_change = on_member;
    group->entry.ctx = group;
    group->count = queues->count;
    group->busy = true;
    zkr__group_let_in(group, 0, queues->first);
    int rc = group->failure;
    if (rc != ZKR_OK) {
        zkr__group_free(group);
        return rc;
    }
    *out = group;
    return ZKR_OK;
}

void zkr__group_enter_anew(struct zkr__group *group)
{
    group->busy = true;
    group->state = ZKR__GROUP_WAITING;
    enter_anew(group, NULL);
    zkr__group_step(group);
}
