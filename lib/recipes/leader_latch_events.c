/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/leader_latch_events.h"

#include "engine/loss.h"

enum callback { NONE, ON_LOSS, ON_GAIN, ON_FAILED, ON_CONTENDERS };

/* Which is due next. The loss comes before the next gain. */
static enum callback next_callback(const zkr_leader_latch *l) ZKR__LOCKED
{
    const struct zkr__claim *lead = zkr__latch_lead(l);
    if (l->reported &&
        (l->reported != lead || l->reported->k.holds != l->reported_hold)) {
        return ON_LOSS;
    }
    if (lead && !l->reported) {
        return ON_GAIN;
    }
    return l->failure_due ? ON_FAILED : l->contenders_due ? ON_CONTENDERS : NONE;
}

static void post(zkr_leader_latch *l) ZKR__LOCKED
{
    if (!l->posted && !l->dead && next_callback(l) != NONE) {
        l->posted = true;
        zkr__dispatch_post(&l->c->dispatch, &l->call);
    }
}

void zkr__latch_changed(zkr_leader_latch *l)
{
    zkr__cv_broadcast(&l->changed);
    post(l);
}

static zkr_leader_latch *latch_of(struct zkr__call *call)
{
    return ZKR__OWNER_OF(call, zkr_leader_latch, call);
}

/* --- on the dispatch thread: true when the application was called --- */

static int reason_of(const zkr_leader_latch *l, const struct zkr__claim *reported)
{
    if (reported->k.lost != 0) {
        return reported->k.lost;
    }
    if (zkr__claim_stage(&reported->k) == ZKR__DOUBTED ||
        reported->k.holds != l->reported_hold) {
        return ZKR_LOST_LEASE;
    }
    return reported == l->claim ? ZKR_LOST_SUSPENDED : ZKR_LOST_STOPPED;
}

static bool report_loss(zkr_leader_latch *l) ZKR__LOCKED
{
    zkr_client *c = l->c;
    struct zkr__claim *reported = l->reported;
    char text[ZKR__LOSS_TEXT_MAX];
    int reason = reason_of(l, reported);
    if (reason == ZKR_LOST_STOPPED || reason == ZKR_LOST_SUSPENDED) {
        zkr__loss_note(reported); /* it is no loss to the engine */
    }
    zkr_lost lost = zkr__loss_tell(reported, reason, text);
    l->reported = NULL;
    if (l->o.on_loss) {
        zkr__unlock(c);
        l->o.on_loss(l, &lost, l->o.ctx);
        zkr__lock(c);
    }
    zkr__claim_unref(reported);
    return l->o.on_loss != NULL;
}

static bool report_gain(zkr_leader_latch *l) ZKR__LOCKED
{
    zkr_client *c = l->c;
    struct zkr__claim *lead = zkr__latch_sure_lead(l);
    if (!lead) {
        return false;
    }
    int64_t token = lead->czxid;
    l->reported = lead;
    l->reported_hold = lead->k.holds;
    l->gains++;
    zkr__claim_ref(lead);
    if (l->o.on_gain) {
        zkr__unlock(c);
        l->o.on_gain(l, token, l->o.ctx);
        zkr__lock(c);
    }
    return l->o.on_gain != NULL;
}

static bool report_failed(zkr_leader_latch *l) ZKR__LOCKED
{
    zkr_client *c = l->c;
    int code = l->failure;
    l->failure_due = false;
    if (l->o.on_failed) {
        zkr__unlock(c);
        l->o.on_failed(l, code, l->o.ctx);
        zkr__lock(c);
    }
    return l->o.on_failed != NULL;
}

static bool report_contenders(zkr_leader_latch *l) ZKR__LOCKED
{
    zkr_client *c = l->c;
    l->contenders_due = false;
    zkr__unlock(c);
    l->o.on_contenders(l, l->o.ctx);
    zkr__lock(c);
    return true;
}

static bool run_call(struct zkr__call *call)
{
    zkr_leader_latch *l = latch_of(call);
    zkr_client *c = l->c;
    zkr__lock(c);
    l->posted = false;
    l->running = true;
    bool called = false;
    switch (next_callback(l)) {
    case ON_LOSS:
        called = report_loss(l);
        break;
    case ON_GAIN:
        called = report_gain(l);
        break;
    case ON_FAILED:
        called = report_failed(l);
        break;
    case ON_CONTENDERS:
        called = report_contenders(l);
        break;
    case NONE:
        break;
    }
    l->running = false;
    l->runs++;
    bool dead = l->dead;
    zkr__latch_changed(l);
    zkr__unlock(c);
    if (dead) {
        zkr__latch_free(l);
    }
    return called;
}

void zkr__latch_init_callbacks(zkr_leader_latch *l)
{
    l->call = (struct zkr__call){.owner = l, .run = run_call};
}

/* --- for stop --- */

void zkr__latch_skip_loss(zkr_leader_latch *l)
{
    struct zkr__claim *reported = l->reported;
    l->reported = NULL;
    if (reported) {
        zkr__claim_unref(reported);
    }
}

/* Until something changes. Where the application dispatches, it may be this thread that has to. */
static void await_change(zkr_leader_latch *l) ZKR__LOCKED
{
    zkr_client *c = l->c;
    if (l->posted && zkr__dispatch_by_hand(&c->dispatch)) {
        zkr__unlock(c);
        zkr__dispatch_run_owner(&c->dispatch, l);
        zkr__lock(c);
    } else {
        (void)zkr__wait(c, &l->changed, ZKR__NEVER);
    }
}

void zkr__latch_await_callbacks(zkr_leader_latch *l)
{
    if (zkr__dispatch_is_self(&l->c->dispatch)) {
        return;
    }
    l->waiting++;
    uint64_t gains = l->gains;
    while (l->reported && l->gains == gains) {
        await_change(l);
    }
    uint64_t runs = l->runs;
    while (l->running && l->runs == runs) {
        await_change(l);
    }
    l->waiting--;
}
