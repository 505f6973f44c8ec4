/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/leader_selector_rounds.h"

#include "engine/loss.h"
#include "session/log.h"

/* --- the end of a candidacy --- */

static bool run_failed(struct zkr__call *call)
{
    zkr_leader_selector *s = ZKR__OWNER_OF(call, zkr_leader_selector, failed);
    zkr_client *c = s->c;
    zkr__lock(c);
    int code = s->failure;
    s->posted = false;
    s->running = true;
    zkr__unlock(c);
    if (code != 0) {
        s->o.on_failed(s, code, s->ctx);
    }
    zkr__lock(c);
    s->running = false;
    bool dead = s->dead;
    zkr__unlock(c);
    if (dead) {
        zkr__selector_free(s);
    }
    return code != 0;
}

static void end_candidacy(zkr_leader_selector *s, int code) ZKR__LOCKED
{
    s->queued = false;
    s->failure = code;
    zkr__log(s->c, ZKR_LOG_ERROR,
             ZKR__EVENT("candidacy_over", .path = s->queue->dir,
                        .reason = zkr_strerror(code)));
    if (s->o.on_failed && !s->posted) {
        s->posted = true;
        zkr__dispatch_post(&s->c->dispatch, &s->failed);
    }
}

/* --- rounds, on the selector's thread --- */

static void on_change(struct zkr__claim *claim, void *ctx) ZKR__LOCKED
{
    zkr_leader_selector *s = ctx;
    if (claim->k.lost != 0 && s->leading) {
        zkr__loss_log(claim, claim->k.lost);
    }
    zkr__cv_broadcast(&s->changed);
}

static void on_state(struct zkr__listener *listener, int state) ZKR__LOCKED
{
    zkr_leader_selector *s = ZKR__OWNER_OF(listener, zkr_leader_selector, listener);
    if (state != ZKR_STATE_CONNECTED) {
        s->lead.suspended = true;
        zkr__cv_broadcast(&s->changed);
    }
}

/* Queue up and wait. ZKR_ESESSION: granted, but over before we woke up. */
static int contend(zkr_leader_selector *s) ZKR__LOCKED
{
    const struct zkr__entry entry = {.metered = true, .on_change = on_change, .ctx = s};
    int rc = zkr__claim_enter(&s->claim, s->queue, &entry);
    if (rc != ZKR_OK) {
        return rc;
    }
    struct zkr__claim *claim = s->claim;
    zkr__claim_wait(claim, ZKR__NEVER);
    s->lead = (struct zkr_leadership){
        .s = s,
        .claim = claim,
        .suspended = s->o.step_down_when_suspended && !zkr__connected(s->c),
    };
    if (!s->stopping && claim->k.phase == ZKR__HELD && zkr__leadership_sure(&s->lead)) {
        return ZKR_OK;
    }
    rc = s->stopping             ? ZKR_ECANCELED
         : claim->k.failure != 0 ? claim->k.failure
                                 : ZKR_ESESSION;
    s->claim = NULL;
    zkr__claim_leave(claim);
    return rc;
}

static void lead(zkr_leader_selector *s) ZKR__LOCKED
{
    zkr_client *c = s->c;
    s->leading = true;
    s->queued = s->o.auto_requeue != 0;
    zkr__unlock(c);
    s->take(&s->lead, s->ctx);
    zkr__lock(c);
    struct zkr__claim *claim = s->claim;
    s->leading = false;
    s->claim = NULL;
    zkr__claim_leave(claim);
}

static void pause_between(zkr_leader_selector *s) ZKR__LOCKED
{
    zkr_client *c = s->c;
    int64_t deadline = zkr__clock_deadline(zkr__now(c), s->o.requeue_delay_ms);
    bool in_time = s->o.auto_requeue && s->o.requeue_delay_ms > 0;
    while (!s->stopping && in_time) {
        in_time = zkr__wait(c, &s->changed, deadline);
    }
}

void *zkr__selector_run(void *arg)
{
    zkr_leader_selector *s = arg;
    zkr_client *c = s->c;
    zkr__lock(c);
    while (!s->stopping) {
        if (!s->queued) {
            (void)zkr__wait(c, &s->changed, ZKR__NEVER);
            continue;
        }
        int rc = contend(s);
        if (rc == ZKR_OK) {
            lead(s);
            pause_between(s);
        } else if (rc != ZKR_ECANCELED && !zkr_err_retriable(rc)) {
            end_candidacy(s, rc);
        }
    }
    s->ended = true;
    zkr__cv_broadcast(&s->changed);
    zkr__unlock(c);
    return NULL;
}

void zkr__selector_init_callbacks(zkr_leader_selector *s)
{
    s->failed = (struct zkr__call){.owner = s, .run = run_failed};
    s->listener.on_state = on_state;
}
