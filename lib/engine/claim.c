/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/claim.h"

#include <zkr/client.h>

#include "engine/moves.h"

enum { QUICK_RETRIES = 3 };

static bool answer_lost(int code)
{
    return code == ZKR_ECONNLOSS || code == ZKR_ESESSION;
}

static bool waits_with_node(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__LISTING || k->phase == ZKR__PARKED ||
           k->phase == ZKR__PROVING;
}

/* --- events --- */

static unsigned on_created(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__CREATING) {
        return 0;
    }
    if (e->code == ZKR_OK) {
        k->has_node = true;
        if (k->leaving) {
            return zkr__move_remove(k, e);
        }
        if (e->spent) {
            return zkr__move_fail(k, e, ZKR_ESEQUENCE);
        }
        k->phase = ZKR__LISTING; /* its answer is next */
        return 0;
    }
    if (answer_lost(e->code)) {
        return zkr__move_later(k, e, ZKR__FINDING);
    }
    if (e->code == ZKR_ENONODE && !e->hopeless && !k->leaving) {
        /* The parent never was, or was reaped a moment ago: make it, as often as it takes. */
        if (k->made_parents && k->failures >= QUICK_RETRIES) {
            k->made_parents = false; /* and make them again after the pause */
            return zkr__move_later(k, e, ZKR__IDLE);
        }
        k->failures += k->made_parents;
        k->made_parents = true;
        return ZKR__DO_PARENTS | zkr__move_go(k, e, ZKR__IDLE);
    }
    if (zkr_err_retriable(e->code) && !k->leaving) {
        return zkr__move_later(k, e, ZKR__IDLE);
    }
    return zkr__move_fail(k, e, e->code);
}

static unsigned on_found(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (answer_lost(e->code)) {
        return zkr__move_later(k, e, ZKR__FINDING);
    }
    if (e->code != ZKR_OK && e->code != ZKR_ENONODE) {
        bool again = zkr_err_retriable(e->code) || k->leaving;
        return again ? zkr__move_later(k, e, ZKR__FINDING)
                     : zkr__move_fail(k, e, e->code);
    }
    /*
     * A create that is not seen behind that write will never be: servers drop what comes of a
     * session that has moved, and the same server takes our requests in order.
     */
    if (!e->found) {
        return zkr__move_requeue(k, e);
    }
    k->has_node = true;
    if (k->leaving) {
        return zkr__move_remove(k, e);
    }
    k->adopted = true;
    return zkr__move_go(k, e, ZKR__LISTING);
}

static unsigned park(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->once) {
        return zkr__move_fail(k, e, ZKR_ETIMEDOUT);
    }
    k->phase = ZKR__PARKED;
    k->waited = true;
    k->failures = 0;
    k->ahead_gone = false;
    k->sole = e->sole;
    unsigned ahead = e->local ? 0 : ZKR__DO_AHEAD;
    if (e->sole || e->local) {
        return ahead | zkr__move_watch_own(k, e);
    }
    return ahead | (k->own == ZKR__OWN_NONE ? ZKR__DO_QUIET : 0);
}

static unsigned on_listed(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase == ZKR__FINDING) {
        return on_found(k, e);
    }
    if (k->phase == ZKR__CREATING && e->code != ZKR_OK) {
        return zkr__move_later(
            k, e, ZKR__FINDING); /* it was not sent, and the create may be */
    }
    if (k->phase != ZKR__LISTING) {
        return 0;
    }
    if (answer_lost(e->code)) {
        return zkr__move_later(k, e, ZKR__LISTING);
    }
    if (e->code == ZKR_ENONODE || (e->code == ZKR_OK && !e->found)) {
        return zkr__move_requeue(k, e);
    }
    if (e->code != ZKR_OK) {
        return zkr_err_retriable(e->code) ? zkr__move_later(k, e, ZKR__LISTING)
                                          : zkr__move_fail(k, e, e->code);
    }
    if (k->adopted) { /* its stat could not be asked for: whose it is, we do not know yet */
        return zkr__move_later(k, e, ZKR__LISTING);
    }
    return e->granted ? zkr__move_grant(k, e) : park(k, e);
}

static unsigned
on_ahead_gone(struct zkr__claim_state *k, const struct zkr__claim_event *e, bool sole)
{
    if (k->phase != ZKR__PARKED) {
        return 0;
    }
    if (sole && k->own == ZKR__OWN_SET) {
        /* Events come in order: had our node been deleted before, we would know. */
        return zkr__move_grant(k, e);
    }
    if (sole && k->own == ZKR__OWN_ASKED) {
        k->ahead_gone = true;
        return 0;
    }
    return zkr__move_go(k, e, ZKR__LISTING);
}

static unsigned on_ahead(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__PARKED || e->code == ZKR_OK) {
        return 0;
    }
    if (e->code == ZKR_ENONODE) {
        return on_ahead_gone(k, e, k->sole);
    }
    if (answer_lost(e->code) || zkr_err_retriable(e->code)) {
        return zkr__move_later(k, e, ZKR__LISTING);
    }
    return zkr__move_fail(k, e, e->code);
}

static unsigned on_own_gone(struct zkr__claim_state *k,
                            const struct zkr__claim_event *e)
{
    k->own = ZKR__OWN_NONE;
    if (k->phase == ZKR__HELD) {
        k->has_node = false;
        return zkr__move_lose(k, e, ZKR_LOST_NODE);
    }
    return waits_with_node(k) ? zkr__move_requeue(k, e) : 0;
}

static unsigned on_own(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (!waits_with_node(k) && k->phase != ZKR__HELD) {
        return 0;
    }
    if (e->code == ZKR_ENONODE) {
        return on_own_gone(k, e);
    }
    if (e->code == ZKR_OK) {
        if (k->adopted && !e->ours) {
            /* Of a session that is ending: no more ours than anybody's. */
            return zkr__move_requeue(k, e);
        }
        if (k->adopted && e->spent) {
            return zkr__move_fail(k, e, ZKR_ESEQUENCE);
        }
        k->adopted = false;
        k->own = ZKR__OWN_SET;
        return k->phase == ZKR__PARKED && k->ahead_gone ? zkr__move_grant(k, e) : 0;
    }
    k->own = ZKR__OWN_NONE;
    bool again = answer_lost(e->code) || zkr_err_retriable(e->code);
    if (k->phase == ZKR__HELD) {
        return again ? ZKR__DO_QUIET : 0; /* the lease probe looks after it, too */
    }
    if (again) {
        return zkr__move_later(k, e, k->doubted ? ZKR__PROVING : ZKR__LISTING);
    }
    return zkr__move_fail(k, e, e->code);
}

static unsigned on_proved(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__PROVING) {
        return 0;
    }
    if (e->code == ZKR_OK) {
        return zkr__move_grant(k, e); /* or asks again, if that proved too little */
    }
    if (e->code == ZKR_ENONODE) {
        return zkr__move_requeue(k, e);
    }
    if (answer_lost(e->code) || zkr_err_retriable(e->code)) {
        return zkr__move_later(k, e, ZKR__PROVING);
    }
    return zkr__move_fail(k, e, e->code);
}

static unsigned on_removed(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__REMOVING) {
        return 0;
    }
    /* What we may not do now we never may: answer.c says so in the log. */
    if (e->code != ZKR_OK && e->code != ZKR_ENONODE && e->code != ZKR_EAUTH) {
        k->leaving = true; /* no limit to retries any more */
        return zkr__move_later(k, e, ZKR__REMOVING);
    }
    k->has_node = false;
    k->phase = ZKR__GONE;
    return 0;
}

static unsigned on_over(struct zkr__claim_state *k)
{
    bool held = k->phase == ZKR__HELD || (k->phase == ZKR__PROVING && k->doubted);
    bool ended = k->phase == ZKR__REMOVING || k->phase == ZKR__GONE;
    k->round++;
    k->own = ZKR__OWN_NONE;
    k->has_node = false;
    k->made_parents = false;
    k->failures = 0;
    k->stalled = true;
    if (held) {
        k->lost = ZKR_LOST_SESSION;
        k->phase = ZKR__GONE;
        return ZKR__DO_TELL;
    }
    k->phase = ended || k->leaving ? ZKR__GONE : ZKR__IDLE;
    return 0;
}

static unsigned on_leave(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->leaving) {
        return 0;
    }
    k->leaving = true;
    switch (k->phase) {
    case ZKR__IDLE:
        k->phase = ZKR__GONE;
        return 0;
    case ZKR__HELD:
        return ZKR__DO_PASS | zkr__move_remove(k, e);
    case ZKR__LISTING:
    case ZKR__PARKED:
    case ZKR__PROVING:
        return zkr__move_remove(k, e) | ZKR__DO_YIELD;
    case ZKR__CREATING: /* wait for the answer: is there a node? */
    case ZKR__FINDING:
    case ZKR__REMOVING:
    case ZKR__GONE:
        break;
    }
    return 0;
}

static unsigned on_up(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->stalled) {
        return zkr__move_go(k, e, k->phase);
    }
    /*
     * Its time to watch its own node may have come while there was no connection. And what happened
     * meanwhile is told in no order, so a watch of before vouches for nothing.
     */
    k->own = k->own == ZKR__OWN_SET ? ZKR__OWN_NONE : k->own;
    bool unwatched = k->own == ZKR__OWN_NONE;
    return unwatched && (k->phase == ZKR__PARKED || k->phase == ZKR__HELD)
               ? ZKR__DO_QUIET
               : 0;
}

unsigned zkr__claim_step(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    switch (e->kind) {
    case ZKR__EV_START:
        return zkr__move_go(k, e, ZKR__IDLE);
    case ZKR__EV_UP:
        return on_up(k, e);
    case ZKR__EV_OVER:
        return on_over(k);
    case ZKR__EV_CREATED:
        return on_created(k, e);
    case ZKR__EV_LISTED:
        return on_listed(k, e);
    case ZKR__EV_AHEAD:
        return on_ahead(k, e);
    case ZKR__EV_OWN:
        return on_own(k, e);
    case ZKR__EV_AHEAD_GONE:
        return on_ahead_gone(k, e, k->sole);
    case ZKR__EV_AHEAD_PASSED:
        return on_ahead_gone(k, e, true);
    case ZKR__EV_AHEAD_CHANGED:
        if (k->phase != ZKR__PARKED) {
            return 0;
        }
        return e->connected ? ZKR__DO_AHEAD : zkr__move_later(k, e, ZKR__LISTING);
    case ZKR__EV_OWN_GONE:
        return on_own_gone(k, e);
    case ZKR__EV_OWN_CHANGED:
        k->own = ZKR__OWN_NONE;
        return waits_with_node(k) || k->phase == ZKR__HELD ? zkr__move_watch_own(k, e)
                                                           : 0;
    case ZKR__EV_PROVED:
        return on_proved(k, e);
    case ZKR__EV_REMOVED:
        return on_removed(k, e);
    case ZKR__EV_QUIET:
        return k->phase == ZKR__PARKED || k->phase == ZKR__HELD
                   ? zkr__move_watch_own(k, e)
                   : 0;
    case ZKR__EV_LEASE_OVER:
        return k->phase != ZKR__HELD ? 0
               : k->keeps            ? zkr__move_doubt(k, e)
                                     : zkr__move_lose(k, e, ZKR_LOST_LEASE);
    case ZKR__EV_REFUSED:
        return k->phase == ZKR__IDLE ? zkr__move_fail(k, e, e->code) : 0;
    case ZKR__EV_LEAVE:
        return on_leave(k, e);
    case ZKR__EV_KINDS:
        break;
    }
    return 0;
}
