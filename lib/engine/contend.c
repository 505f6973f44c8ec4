/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/contend.h"

#include "base/thread.h"
#include "engine/claim_run.h"
#include "engine/session_events.h"
#include "session/bound.h"

/* No session will come, or nobody is to wait for one. */
static int hopeless(const zkr_client *c) ZKR__LOCKED
{
    return c->shut                             ? ZKR_ECLOSED
           : c->state == ZKR_STATE_AUTH_FAILED ? ZKR_EAUTH
                                               : ZKR_OK;
}

struct zkr__claim *zkr__claim_prepare(struct zkr__queue *q,
                                      const struct zkr__entry *entry)
{
    struct zkr__engine *engine = zkr__engine_of(q->c);
    struct zkr__claim *claim = engine ? zkr__claim_make(q, engine) : NULL;
    if (!claim) {
        return NULL;
    }
    claim->once = entry->once;
    claim->metered = entry->metered;
    claim->give_up_at = entry->deadline == ZKR__NEVER ? 0 : entry->deadline;
    claim->thread = entry->thread != 0 ? entry->thread : zkr__thread_os_id();
    claim->on_change = entry->on_change;
    claim->on_change_ctx = entry->ctx;
    return claim;
}

void zkr__claim_begin(struct zkr__claim *claim)
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
    struct zkr__claim *claim = zkr__claim_prepare(q, entry);
    if (!claim) {
        return ZKR_ENOMEM;
    }
    *out = claim;
    zkr__claim_begin(claim);
    return ZKR_OK;
}

/* False at the deadline. Without a condition variable, of which Linux has always one, it has passed. */
static bool sleep_on(struct zkr__claim *claim, int64_t deadline) ZKR__LOCKED
{
    struct zkr__cv wake;
    if (zkr__cv_init(&wake) != 0) {
        return false;
    }
    claim->sleeper = &wake;
    bool in_time = zkr__wait(claim->q->c, &wake, deadline);
    claim->sleeper = NULL;
    zkr__cv_destroy(&wake);
    return in_time;
}

void zkr__claim_wait(struct zkr__claim *claim, int64_t deadline)
{
    bool in_time = true;
    while (!zkr__claim_decided(&claim->k) && !claim->canceled && in_time) {
        in_time = sleep_on(claim, deadline);
    }
}

void zkr__claim_cancel(struct zkr__claim *claim)
{
    claim->canceled = true;
    zkr__claim_wake(claim);
}

void zkr__claim_let_go(struct zkr__claim *claim)
{
    claim->on_change = NULL;
    claim->give_up_at = 0;
    zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_LEAVE});
}

void zkr__claim_leave(struct zkr__claim *claim)
{
    zkr__claim_let_go(claim);
    zkr__claim_unref(claim);
}

void zkr__claim_leave_wait(struct zkr__claim *claim)
{
    zkr__claim_let_go(claim);
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
