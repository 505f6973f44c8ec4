/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/hold.h"

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
    group->members[i] = NULL;
    group->waited = group->waited || claim->k.waited;
    claim->group = NULL;
    if ((claim->unsent & ZKR__DO_CREATE) && claim->k.phase == ZKR__CREATING) {
        /* The claim waits for the answer to a create that is never sent. */
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

/* ZKR_OK, ZKR_ENOMEM or ZKR_ELIMIT. */
static int make_member(struct zkr__group *group, uint32_t i) ZKR__LOCKED
{
    struct zkr__queue *q = group->hold->queues->list[i];
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
    claim->k.next = ZKR__CREATING; /* if it ends before it has begun */
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
            group->hold->failure = rc;
            return;
        }
    }
    group->gathering = true;
    for (uint32_t i = first; i < first + count; i++) {
        zkr__claim_start(group->members[i]);
    }
    zkr__batch_send(group);
}

void zkr__group_tell_ready(struct zkr__group *group)
{
    group->gathering = true;
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->members[i]) {
            zkr__claim_tell(group->members[i], ZKR__EV_ALL_READY);
        }
    }
    zkr__batch_send(group);
}

void zkr__group_watch_ready(struct zkr__group *group)
{
    bool waits = false;
    for (uint32_t i = 0; i < group->count; i++) {
        waits = waits || zkr__group_member_is(group, i, ZKR__PARKED);
    }
    for (uint32_t i = 0; i < group->count && waits; i++) {
        if (zkr__group_member_is(group, i, ZKR__READY) &&
            group->members[i]->k.own == ZKR__OWN_NONE) {
            zkr__claim_tell(group->members[i], ZKR__EV_QUIET);
        }
    }
}
