/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/transitions.h"

#include <zkr/client.h>

enum { QUICK_RETRIES = 3 };

static unsigned
pause_until(struct zkr__claim_state *k, enum zkr__phase next, unsigned action)
{
    k->phase = ZKR__PAUSED;
    k->next = next;
    return action;
}

unsigned zkr__enter(struct zkr__claim_state *k,
                    const struct zkr__claim_event *e,
                    enum zkr__phase phase)
{
    if (!e->connected) {
        return pause_until(k, phase, 0);
    }
    if (phase == ZKR__CREATING && e->wary) {
        k->round++;
        k->phase = ZKR__LOOKING;
        return ZKR__DO_LIST;
    }
    if (phase == ZKR__CREATING && e->crowded) {
        return pause_until(k, phase, ZKR__DO_LINE_UP);
    }
    k->phase = phase;
    switch (phase) {
    case ZKR__CREATING:
        k->round++;
        k->own = ZKR__OWN_NONE;
        k->wish = k->told = k->version = 0;
        k->note = ZKR__UNNOTED;
        k->ahead = INT64_MAX;
        k->standstill = 0;
        return ZKR__DO_CREATE;
    case ZKR__FINDING:
        return ZKR__DO_FIND;
    case ZKR__ADOPTING:
        k->own = ZKR__OWN_ASKED;
        return ZKR__DO_GET_OWN | ZKR__DO_LIST;
    case ZKR__LISTING:
        return ZKR__DO_LIST;
    case ZKR__PROVING:
    case ZKR__DOUBTED:
        return ZKR__DO_PROVE;
    case ZKR__REMOVING:
        return ZKR__DO_REMOVE;
    case ZKR__PAUSED:
    case ZKR__LOOKING:
    case ZKR__PARKED:
    case ZKR__READY:
    case ZKR__CONFIRMING:
    case ZKR__HELD:
    case ZKR__GONE:
        break;
    }
    return 0;
}

unsigned zkr__remove(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    k->round++;
    if (k->downgrade != ZKR__SETTLED) { /* which of two nodes is there? */
        k->downgrade = ZKR__SETTLED;
        k->leaving = true;
        return zkr__enter(k, e, ZKR__FINDING);
    }
    return zkr__enter(k, e, ZKR__REMOVING);
}

/* What is in flight counts no more. */
static unsigned pause_for_retry(struct zkr__claim_state *k, enum zkr__phase next)
{
    k->round++;
    k->own = k->own == ZKR__OWN_ASKED ? ZKR__OWN_NONE : k->own;
    k->failures++;
    return pause_until(k, next, ZKR__DO_RETRY);
}

unsigned
zkr__fail_claim(struct zkr__claim_state *k, const struct zkr__claim_event *e, int code)
{
    unsigned notify = k->leaving ? 0 : ZKR__DO_NOTIFY;
    if (k->failure == 0) { /* else it has given up before, and said why */
        k->failure = code;
    }
    enum zkr__phase stage = zkr__claim_stage(k);
    if (stage == ZKR__CREATING || stage == ZKR__LOOKING) {
        k->round++;
        k->phase = ZKR__GONE;
        return notify;
    }
    if (stage == ZKR__FINDING) {
        /* The owner knows all it needs. Whether there is a node to delete we do not yet. */
        k->leaving = true;
        return notify | pause_for_retry(k, ZKR__FINDING);
    }
    return notify | zkr__remove(k, e) | ZKR__DO_STEP_ASIDE;
}

unsigned zkr__retry_in(struct zkr__claim_state *k,
                       const struct zkr__claim_event *e,
                       enum zkr__phase phase)
{
    if (!e->patient && !k->leaving) {
        k->phase = phase;
        return zkr__fail_claim(k, e, ZKR_ECONNLOSS);
    }
    return pause_for_retry(k, phase);
}

bool zkr__worth_retrying(int code)
{
    return code == ZKR_ECONNLOSS || code == ZKR_ESESSION || zkr_err_retriable(code);
}

bool zkr__worth_repeating(int code)
{
    return zkr__worth_retrying(code) || code == ZKR_ENOMEM || code == ZKR_ESYS;
}

unsigned zkr__retry_or_fail(struct zkr__claim_state *k,
                            const struct zkr__claim_event *e,
                            enum zkr__phase phase)
{
    return zkr__worth_retrying(e->code) ? zkr__retry_in(k, e, phase)
                                        : zkr__fail_claim(k, e, e->code);
}

unsigned zkr__requeue(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    enum zkr__phase stage = zkr__claim_stage(k);
    if (stage == ZKR__DOUBTED) {
        return zkr__lose(k, e, ZKR_LOST_NODE);
    }
    k->round++;
    if (k->leaving) {
        k->phase = ZKR__GONE;
        return 0;
    }
    if (k->member) {
        k->failures++;
        k->displaced = true;
        k->phase = ZKR__GONE;
        return ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY;
    }
    if (k->failures >= QUICK_RETRIES) {
        return zkr__retry_in(k, e, ZKR__CREATING) | ZKR__DO_STEP_ASIDE;
    }
    k->failures++;
    return zkr__enter(k, e, ZKR__CREATING) | ZKR__DO_STEP_ASIDE;
}

unsigned zkr__heed(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    int wish = k->wish;
    k->wish = 0;
    if (wish == 0) {
        return 0;
    }
    /* Without a connection it will be seen again, as the watch is set anew. */
    unsigned todo = e->connected ? ZKR__DO_RESTORE : 0;
    k->note = e->connected ? ZKR__NOTED : k->note; /* by the same write */
    todo |= wish != k->told ? ZKR__DO_TELL_WISH : 0;
    k->told = wish;
    return todo;
}

unsigned zkr__restored(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__HELD || !zkr__worth_repeating(e->code) ||
        k->own == ZKR__OWN_ASKED) { /* what was asked will show the wish */
        return 0;
    }
    k->own = ZKR__OWN_NONE;
    return ZKR__DO_QUIET;
}

unsigned zkr__grant(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    /* A write answered just now is the best there is, however little it proves. */
    bool proved = e->kind == ZKR__EV_PROVED;
    if (k->member && !proved && e->kind != ZKR__EV_ALL_READY) {
        k->phase = ZKR__READY;
        return ZKR__DO_NOTIFY | zkr__look_later(k);
    }
    if (k->own == ZKR__OWN_ASKED && k->phase == ZKR__DOUBTED) {
        return zkr__enter(k, e, ZKR__DOUBTED); /* behind that answer */
    }
    if (k->own == ZKR__OWN_ASKED) { /* it has changed meanwhile: is it still ours? */
        k->phase = ZKR__CONFIRMING;
        return 0;
    }
    if (proved && !e->sure) {
        return pause_until(k, k->phase, ZKR__DO_PACE);
    }
    if (!proved && !e->ample) {
        return zkr__enter(k, e, ZKR__PROVING);
    }
    k->phase = ZKR__HELD;
    k->holds++;
    k->failures = k->refusals = 0;
    k->unchecked = false;
    return ZKR__DO_NOTIFY | zkr__look_later(k) | zkr__heed(k, e);
}

unsigned
zkr__lose(struct zkr__claim_state *k, const struct zkr__claim_event *e, int reason)
{
    /* A hold in doubt has been counted. */
    unsigned todo = ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY |
                    (k->phase == ZKR__HELD ? ZKR__DO_COUNT_LOSS : 0);
    k->lost = reason;
    if (reason == ZKR_LOST_NODE) {
        k->round++;
        k->downgrade = ZKR__SETTLED;
        k->phase = ZKR__GONE;
        return todo;
    }
    return todo | zkr__remove(k, e);
}

unsigned zkr__doubt(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->told != 0) { /* is our text back? If it is held again, that is looked at */
        k->own = ZKR__OWN_NONE;
    }
    unsigned todo = zkr__enter(k, e, ZKR__DOUBTED) | zkr__watch_own(k, e);
    return todo | ZKR__DO_COUNT_LOSS | ZKR__DO_NOTIFY;
}

unsigned zkr__watch_own(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    bool asked = k->own == ZKR__OWN_ASKED || k->own == ZKR__OWN_SET;
    if (asked || !e->connected || k->downgrade != ZKR__SETTLED) {
        return 0;
    }
    k->own = ZKR__OWN_ASKED;
    return ZKR__DO_GET_OWN;
}

unsigned zkr__look_later(const struct zkr__claim_state *k)
{
    return k->own == ZKR__OWN_NONE ? ZKR__DO_QUIET
           : zkr__claim_looks(k)   ? ZKR__DO_LOOK
                                   : 0;
}

unsigned zkr__quiet(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    bool stands = k->phase == ZKR__PARKED || k->phase == ZKR__READY;
    unsigned own = stands || k->phase == ZKR__HELD ? zkr__watch_own(k, e) : 0;
    if (k->phase != ZKR__PARKED || !k->blind || !e->connected) {
        return own;
    }
    return own |
           (k->watch_children ? zkr__enter(k, e, ZKR__LISTING) : ZKR__DO_GET_AHEAD);
}

unsigned zkr__unheard(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase == ZKR__HELD && k->own == ZKR__OWN_SET && e->connected &&
        k->downgrade == ZKR__SETTLED) {
        k->own = ZKR__OWN_NONE;
        return zkr__watch_own(k, e);
    }
    if (k->phase != ZKR__PARKED || !e->connected) {
        return 0;
    }
    return k->watch_children ? zkr__enter(k, e, ZKR__LISTING) : ZKR__DO_GET_AHEAD;
}

unsigned zkr__start(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    return k->failures > QUICK_RETRIES ? zkr__retry_in(k, e, ZKR__CREATING)
                                       : zkr__enter(k, e, ZKR__CREATING);
}

unsigned zkr__all_ready(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__READY) {
        return 0;
    }
    if (k->own == ZKR__OWN_ASKED) {
        k->phase = ZKR__CONFIRMING;
        return 0;
    }
    return zkr__grant(k, e); /* watched, or seen a moment ago */
}

unsigned zkr__session_gone(struct zkr__claim_state *k)
{
    enum zkr__phase stage = zkr__claim_stage(k);
    bool held = stage == ZKR__HELD || stage == ZKR__DOUBTED;
    bool ends = k->leaving || stage == ZKR__REMOVING || stage == ZKR__GONE;
    /* Which members are to be made first, the group says. */
    bool made = stage != ZKR__CREATING && stage != ZKR__LOOKING;
    bool displaced = k->member && !held && !ends && made;
    unsigned todo = held || displaced ? ZKR__DO_NOTIFY : 0;
    todo |= stage == ZKR__HELD ? ZKR__DO_COUNT_LOSS : 0;
    k->lost = held ? ZKR_LOST_SESSION : k->lost;
    k->round++;
    k->own = ZKR__OWN_NONE;
    k->downgrade = ZKR__SETTLED;
    k->made_parents = false;
    k->failures = 0;
    k->displaced = k->displaced || displaced;
    k->phase = held || ends || displaced ? ZKR__GONE : ZKR__PAUSED;
    k->next = ZKR__CREATING;
    return todo;
}

unsigned zkr__writing(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    k->writing++;
    k->departure = e->deletes ? ZKR__DEPARTS : k->departure;
    return 0;
}

unsigned zkr__written(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    bool gone = e->code == ZKR_ENONODE;
    k->writing -= k->writing > 0;
    if (e->deletes) {
        gone = gone || k->departure == ZKR__DEPARTS_AND_GONE;
        k->departure = ZKR__STAYS;
    }
    if (k->phase != ZKR__HELD) {
        return 0;
    }
    if (e->deletes && e->code == ZKR_OK) {
        k->leaving = true;
        k->round++;
        k->downgrade = ZKR__SETTLED;
        k->phase = ZKR__GONE;
        return ZKR__DO_HAND_OVER;
    }
    /* The answer to a downgrade tells more. */
    return gone && k->downgrade == ZKR__SETTLED ? zkr__lose(k, e, ZKR_LOST_NODE) : 0;
}
