/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, and the life of claims in them. */
#include "engine/queue.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/thread.h"
#include "engine/engine.h"
#include "session/bound.h"
#include "session/wake.h"

/* How the counters see a claim. */
enum { AS_NOTHING, AS_WAITING, AS_HELD, AS_PENDING };

/* --- queues --- */

static void free_queue(struct zkr__queue *q)
{
    zkr__mem_free(q->dir);
    zkr__mem_free(q->prefix);
    zkr__mem_free(q->owner);
    zkr__mem_free(q->data);
    zkr__mem_free(q);
}

int zkr__queue_create(struct zkr__queue **out,
                      zkr_client *c,
                      const struct zkr__queue_spec *spec)
{
    struct zkr__queue *q = zkr__mem_alloc(sizeof(*q));
    if (!q) {
        return ZKR_ENOMEM;
    }
    q->c = c;
    q->refs = 1;
    q->rule = spec->rule;
    q->rule_arg = spec->rule_arg;
    q->data_len = spec->data_len;
    q->persistent_parent = spec->persistent_parent;
    q->keeps_place = spec->keeps_place;
    q->watch_node = spec->watch_node;
    q->dir = zkr__mem_string(spec->dir);
    q->prefix = zkr__mem_string(spec->prefix);
    q->owner = spec->owner ? zkr__mem_string(spec->owner) : NULL;
    q->data = spec->data ? zkr__mem_copy(spec->data, spec->data_len) : NULL;
    if (!q->dir || !q->prefix || (spec->owner && !q->owner) ||
        (spec->data && !q->data)) {
        free_queue(q);
        return ZKR_ENOMEM;
    }
    *out = q;
    return ZKR_OK;
}

void zkr__queue_unref(struct zkr__queue *q)
{
    if (--q->refs == 0) {
        free_queue(q);
    }
}

/* --- the end of a claim --- */

static int count_as(const struct zkr__claim *claim)
{
    const struct zkr__claim_state *k = &claim->k;
    if (k->phase == ZKR__HELD) {
        return AS_HELD;
    }
    if (k->phase == ZKR__GONE) {
        return AS_NOTHING;
    }
    return k->leaving || zkr__claim_decided(k) ? AS_PENDING : AS_WAITING;
}

static void recount(struct zkr__claim *claim) ZKR__LOCKED
{
    zkr_client *c = claim->q->c;
    int now = count_as(claim);
    if (now == claim->counted_as) {
        return;
    }
    int64_t *const counters[] = {NULL, &c->stats.waiting, &c->stats.held,
                                 &c->stats.pending_deletes};
    if (claim->counted_as != AS_NOTHING) {
        (*counters[claim->counted_as])--;
    }
    if (now != AS_NOTHING) {
        (*counters[now])++;
    }
    if (now == AS_HELD) {
        c->stats.grants++;
        c->stats.contended += claim->k.waited;
        /* A short hold costs no probe, unless there is little left. */
        int64_t pause = zkr__amply_sure(c) ? c->session_ms * ZKR__MS / 16 : 0;
        zkr__wake_by(c, zkr__now(c) + pause);
    }
    bool cleared = claim->counted_as == AS_PENDING && c->stats.pending_deletes == 0;
    claim->counted_as = now;
    if (cleared) {
        zkr__cv_broadcast(&c->changed);
    }
}

void zkr__claim_settle(struct zkr__claim *claim)
{
    if (claim->k.phase != ZKR__PARKED) {
        zkr__claim_forget_ahead(claim);
    }
    if (claim->k.phase == ZKR__GONE || claim->k.phase == ZKR__IDLE) {
        zkr__claim_forget_node(claim);
    }
    recount(claim);
    if (claim->k.phase != ZKR__GONE) {
        return;
    }
    zkr__engine_forget_timers(claim);
    zkr__cv_signal(&claim->decided); /* zkr__claim_leave_wait() */
    if (!claim->detached || claim->in_flight > 0 || claim->busy > 0) {
        return;
    }
    if (claim->behind) {
        claim->behind->ahead = NULL;
    }
    DL_DELETE(claim->engine->claims, claim);
    zkr__queue_unref(claim->q);
    zkr__cv_destroy(&claim->decided);
    zkr__mem_free(claim);
}

/* --- what recipes call --- */

int zkr__claim_enter(struct zkr__claim **out,
                     struct zkr__queue *q,
                     bool once,
                     void (*on_change)(struct zkr__claim *claim, void *ctx),
                     void *ctx)
{
    struct zkr__engine *engine = zkr__engine_of(q->c);
    size_t room = zkr__claim_node_room(q);
    struct zkr__claim *claim = engine ? zkr__mem_alloc(sizeof(*claim) + room) : NULL;
    if (!claim) {
        return ZKR_ENOMEM;
    }
    if (zkr__cv_init(&claim->decided) != 0) {
        zkr__mem_free(claim);
        return ZKR_ESYS;
    }
    claim->engine = engine;
    claim->q = q;
    claim->on_change = on_change;
    claim->on_change_ctx = ctx;
    claim->thread = zkr__thread_os_id();
    claim->k.once = once;
    claim->k.keeps = q->keeps_place;
    q->refs++;
    DL_APPEND(engine->claims, claim);
    *out = claim;
    zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_START});
    if (q->c->state == ZKR_STATE_AUTH_FAILED) {
        zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_REFUSED,
                                                        .code = ZKR_EAUTH});
    }
    return ZKR_OK;
}

void zkr__claim_wait(struct zkr__claim *claim, int64_t deadline)
{
    zkr_client *c = claim->q->c;
    bool in_time = true;
    while (!zkr__claim_decided(&claim->k) && !claim->canceled && in_time) {
        in_time = zkr__wait(c, &claim->decided, deadline);
    }
}

void zkr__claim_cancel(struct zkr__claim *claim)
{
    claim->canceled = true;
    zkr__cv_signal(&claim->decided);
}

void zkr__claim_leave(struct zkr__claim *claim)
{
    claim->on_change = NULL;
    claim->detached = true;
    zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_LEAVE});
}

void zkr__claim_leave_wait(struct zkr__claim *claim)
{
    zkr_client *c = claim->q->c;
    claim->on_change = NULL;
    zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_LEAVE});
    while (claim->k.phase != ZKR__GONE) {
        (void)zkr__wait(c, &claim->decided, ZKR__NEVER);
    }
    claim->detached = true;
    zkr__claim_settle(claim);
}

void zkr__claim_check(struct zkr__claim *claim)
{
    if (claim->k.phase == ZKR__HELD && !zkr__claim_sure(claim)) {
        zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_LEASE_OVER});
    }
}

void zkr__claim_keep(struct zkr__claim *claim)
{
    claim->busy++;
}

void zkr__claim_let(struct zkr__claim *claim)
{
    claim->busy--;
    zkr__claim_settle(claim);
}

bool zkr__claim_sure(struct zkr__claim *claim)
{
    return claim->k.phase == ZKR__HELD && claim->epoch == claim->q->c->epoch &&
           zkr__sure(claim->q->c);
}
