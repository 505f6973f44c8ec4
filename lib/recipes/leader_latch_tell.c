/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a latch tells the application. Not a queue of events: when its turn on the dispatch thread
 * comes it compares what is with what was told, and tells the difference. So gains and losses
 * take turns, nothing stale is told, and the memory needed is fixed.
 */
#include "base/mem.h"
#include "recipes/leader_latch.h"

enum word { NOTHING, LOSS, GAIN, FAILED, NEWS };

/* What is to be told first. Whoever hears of a gain must have heard of the loss before. */
static enum word next_word(const zkr_leader_latch *l) ZKR__LOCKED
{
    const struct zkr__claim *lead = zkr__latch_lead(l);
    if (l->told && (l->told != lead || l->told->k.holds != l->told_hold)) {
        return LOSS;
    }
    if (lead && !l->told) {
        return GAIN;
    }
    return l->failure_untold ? FAILED : l->news_untold ? NEWS : NOTHING;
}

static void post(zkr_leader_latch *l) ZKR__LOCKED
{
    if (!l->posted && !l->dead && next_word(l) != NOTHING) {
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

/* --- on the dispatch thread --- */

static int reason_of(const zkr_leader_latch *l, const struct zkr__claim *told)
{
    if (told->k.lost != 0) {
        return told->k.lost;
    }
    if (told->k.doubted || told->k.holds != l->told_hold) {
        return ZKR_LOST_LEASE;
    }
    return told == l->claim ? ZKR_LOST_SUSPENDED : ZKR_LOST_STOPPED;
}

static zkr_lost lost_of(const zkr_leader_latch *l, const struct zkr__claim *told)
{
    return (zkr_lost){
        .reason = reason_of(l, told), .fencing_token = told->czxid, .node = told->node};
}

static void tell_loss(zkr_leader_latch *l) ZKR__LOCKED
{
    zkr_client *c = l->c;
    struct zkr__claim *told = l->told;
    zkr_lost lost = lost_of(l, told);
    l->told = NULL;
    if (l->o.on_loss) {
        zkr__unlock(c);
        l->o.on_loss(l, &lost, l->o.ctx);
        zkr__lock(c);
    }
    zkr__claim_let(told);
}

static void tell_gain(zkr_leader_latch *l) ZKR__LOCKED
{
    zkr_client *c = l->c;
    struct zkr__claim *lead = zkr__latch_sure_lead(l);
    if (!lead) {
        return;
    }
    int64_t token = lead->czxid;
    l->told = lead;
    l->told_hold = lead->k.holds;
    l->terms++;
    zkr__claim_keep(lead);
    if (l->o.on_gain) {
        zkr__unlock(c);
        l->o.on_gain(l, token, l->o.ctx);
        zkr__lock(c);
    }
}

static void tell_failed(zkr_leader_latch *l) ZKR__LOCKED
{
    zkr_client *c = l->c;
    int code = l->failure;
    l->failure_untold = false;
    if (l->o.on_failed) {
        zkr__unlock(c);
        l->o.on_failed(l, code, l->o.ctx);
        zkr__lock(c);
    }
}

static void tell_news(zkr_leader_latch *l) ZKR__LOCKED
{
    zkr_client *c = l->c;
    l->news_untold = false;
    zkr__unlock(c);
    l->o.on_contenders(l, l->o.ctx);
    zkr__lock(c);
}

static void run_call(struct zkr__call *call)
{
    zkr_leader_latch *l = latch_of(call);
    zkr_client *c = l->c;
    zkr__lock(c);
    l->posted = false;
    l->running = true;
    switch (next_word(l)) {
    case LOSS:
        tell_loss(l);
        break;
    case GAIN:
        tell_gain(l);
        break;
    case FAILED:
        tell_failed(l);
        break;
    case NEWS:
        tell_news(l);
        break;
    case NOTHING:
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
}

void zkr__latch_init_calls(zkr_leader_latch *l)
{
    l->call = (struct zkr__call){.owner = l, .run = run_call};
}

/* --- for stop --- */

void zkr__latch_hush(zkr_leader_latch *l)
{
    struct zkr__claim *told = l->told;
    l->told = NULL;
    if (told) {
        zkr__claim_let(told);
    }
}

void zkr__latch_wait_told(zkr_leader_latch *l)
{
    if (zkr__dispatch_is_self(&l->c->dispatch)) {
        return;
    }
    l->waiting++;
    uint64_t terms = l->terms;
    while (l->told && l->terms == terms) {
        (void)zkr__wait(l->c, &l->changed, ZKR__NEVER);
    }
    uint64_t runs = l->runs;
    while (l->running && l->runs == runs) {
        (void)zkr__wait(l->c, &l->changed, ZKR__NEVER);
    }
    l->waiting--;
}
