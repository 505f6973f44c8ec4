/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/claim_step.h"

#include <zkr/client.h>

#include "engine/transitions.h"

/* All functions that take an event return actions, as a set of zkr__action. */

/* --- a writer becomes a reader --- */

/*
 * The downgrade may have been asked in vain: ask again, if there is a connection. What was asked before counts no more:
 * it was about the WRIT node, or the downgrade is done by then.
 */
static unsigned downgrade_again(struct zkr__claim_state *k,
                                const struct zkr__claim_event *e)
{
    k->round++;
    k->own = ZKR__OWN_NONE;
    k->downgrade = e->connected ? ZKR__DOWNGRADING : ZKR__DOWNGRADE_OWED;
    return e->connected ? ZKR__DO_DOWNGRADE : 0;
}

/*
 * Those of this client behind us hear at once. A reader may hold from now on: whoever else is not to hold beside
 * it stays behind our node, under whichever name. A writer lists, behind the transaction.
 */
static unsigned begin(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__HELD || k->leaving || k->downgrade != ZKR__SETTLED) {
        return 0;
    }
    return downgrade_again(k, e) | ZKR__DO_STEP_ASIDE;
}

/* The node is another one, whose data nobody has changed yet. */
static void settle(struct zkr__claim_state *k)
{
    k->downgrade = ZKR__SETTLED;
    k->wish = k->told = k->version = 0;
    k->note = ZKR__NOTED; /* as it was made */
}

static unsigned owe(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    k->own = ZKR__OWN_NONE;
    k->downgrade = ZKR__DOWNGRADE_OWED;
    return e->connected ? ZKR__DO_RETRY
                        : 0; /* else it is asked on the next connection */
}

static unsigned answered(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__HELD || k->downgrade != ZKR__DOWNGRADING) {
        return 0;
    }
    if (e->refused) {
        k->round++;
        k->downgrade = ZKR__SETTLED; /* the node is the one that it was */
        return ZKR__DO_QUIET;
    }
    if (e->code == ZKR_OK) {
        k->round++;
        settle(k);
        return ZKR__DO_QUIET;
    }
    if (e->code == ZKR_ENONODE && e->connected) {
        k->own = ZKR__OWN_ASKED; /* done by an earlier one, or our node was deleted */
        return ZKR__DO_GET_OWN;
    }
    return owe(k, e);
}

/*
 * DOWNGRADE: the owner goes on as a reader; only of a hold. DOWNGRADED: that is answered; ZKR_ENONODE: the WRIT node
 * was gone already.
 */
static unsigned downgrade(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    return e->kind == ZKR__EV_DOWNGRADED ? answered(k, e) : begin(k, e);
}

/* After that: the answer to the get of the READ node. */
static unsigned downgrade_seen(struct zkr__claim_state *k,
                               const struct zkr__claim_event *e)
{
    if (e->code == ZKR_OK && e->ours) {
        k->own = e->unwatched ? ZKR__OWN_SEEN : ZKR__OWN_SET;
        settle(k);
        k->wish = e->wish;
        return zkr__heed(k, e);
    }
    bool gone = e->code == ZKR_OK || e->code == ZKR_ENONODE;
    return gone ? zkr__lose(k, e, ZKR_LOST_NODE) : owe(k, e);
}

/* --- news of our own node, which a get leaves a watch on --- */

/* It was deleted. */
static unsigned own_gone(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase == ZKR__HELD && k->downgrade != ZKR__SETTLED) {
        return 0; /* the answer to that tells */
    }
    k->own = ZKR__OWN_NONE;
    if (k->phase == ZKR__HELD && k->departure != ZKR__STAYS) {
        k->departure = ZKR__DEPARTS_AND_GONE;
        return 0;
    }
    if (k->phase == ZKR__HELD) {
        return zkr__lose(k, e, ZKR_LOST_NODE);
    }
    return zkr__claim_waits_with_node(k) ? zkr__requeue(k, e) : 0;
}

/*
 * Ours is gone, and under its name stands one of somebody else, or of a session of ours that is ending. Those behind
 * us look, as that one may be in their way.
 */
static unsigned replaced(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    unsigned todo = own_gone(k, e);
    bool aside = (todo & ZKR__DO_STEP_ASIDE) != 0;
    return (todo & ~(unsigned)ZKR__DO_STEP_ASIDE) | (aside ? ZKR__DO_LET_LOOK : 0);
}

static unsigned seen(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (!e->ours) {
        return replaced(k, e);
    }
    if (k->phase == ZKR__ADOPTING) {
        if (e->spent) {
            return zkr__fail_claim(k, e, ZKR_ESEQUENCE);
        }
        k->phase = ZKR__LISTING; /* its answer is next */
    }
    k->own = e->unwatched ? ZKR__OWN_SEEN : ZKR__OWN_SET;
    k->unchecked = false;
    k->refusals = 0;
    k->version = e->version;
    if (k->note != ZKR__NOTING) {
        k->note = e->noted ? ZKR__NOTED : ZKR__UNNOTED;
    }
    k->wish = e->wish; /* one that comes before the grant is told with it */
    return k->phase == ZKR__CONFIRMING ? zkr__grant(k, e)
           : k->phase == ZKR__HELD     ? zkr__heed(k, e) | zkr__look_later(k)
                                       : zkr__look_later(k);
}

/*
 * We may not read it, or its server is too busy, or whatever else: a hold is not lost by that, for the session lives.
 * Whose node it is older servers tell anybody, newer ones those who may read it (ZOOKEEPER-2590); and now and then it
 * is tried whether it can be watched again.
 */
static unsigned unseen(struct zkr__claim_state *k)
{
    k->own = ZKR__OWN_NONE;
    k->refusals++;
    return ZKR__DO_ASK_OWNER | ZKR__DO_LOOK_LATER;
}

static unsigned unchecked(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__HELD || k->downgrade != ZKR__SETTLED || !e->connected) {
        return 0;
    }
    k->unchecked = true;
    return unseen(k);
}

static unsigned got_owner(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    bool ours = e->code != ZKR_OK && e->code != ZKR_ENONODE;
    ours = ours || (e->code == ZKR_OK && e->ours);
    if (ours || k->phase != ZKR__HELD || k->downgrade != ZKR__SETTLED) {
        return 0;
    }
    return e->code == ZKR_OK ? replaced(k, e) : own_gone(k, e);
}

static unsigned got(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (!zkr__claim_waits_with_node(k) && k->phase != ZKR__HELD) {
        return 0;
    }
    if (k->downgrade != ZKR__SETTLED) {
        return downgrade_seen(k, e);
    }
    if (e->code == ZKR_ENONODE) {
        return own_gone(k, e);
    }
    if (e->code == ZKR_OK) {
        return seen(k, e);
    }
    k->own = ZKR__OWN_NONE;
    enum zkr__phase stage = zkr__claim_stage(k);
    if (stage == ZKR__HELD) {
        return zkr__worth_repeating(e->code) ? ZKR__DO_QUIET : unseen(k);
    }
    bool again = stage == ZKR__ADOPTING || stage == ZKR__DOUBTED;
    return zkr__retry_or_fail(k, e, again ? stage : ZKR__LISTING);
}

static unsigned changed(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    k->own = ZKR__OWN_NONE;
    k->version = -1;
    return zkr__claim_waits_with_node(k) || k->phase == ZKR__HELD ? zkr__watch_own(k, e)
                                                                  : 0;
}

/* --- the note --- */

/* Right behind the write, so that the watch is not used up by it. */
static unsigned noting(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    k->note = ZKR__NOTING;
    return k->phase == ZKR__HELD ? zkr__watch_own(k, e) : 0;
}

/*
 * Another version: somebody has asked us to let go, of which the watch tells. For any other reason, as an ACL, it would
 * be refused again, and with it each probe.
 */
static unsigned noted(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    static const int other_version = ZKR_EZK(-103);
    if (k->note != ZKR__NOTING) {
        return 0;
    }
    bool other = e->refused && e->code == other_version;
    k->note = e->code == ZKR_OK || (e->refused && !other) ? ZKR__NOTED : ZKR__UNNOTED;
    k->version = other ? -1 : k->version;
    return other && k->phase == ZKR__HELD ? zkr__watch_own(k, e) : 0;
}

/*
 * The answer to the get, or to the question whose node it is, where one of another session, or nobody's, is as if ours was
 * deleted; its data changed, which used up the watch; it was deleted; a probe was
 * refused for its sake; a note is on its way, or answered.
 */
static unsigned own_event(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    return e->kind == ZKR__EV_GOT_OWN         ? got(k, e)
           : e->kind == ZKR__EV_GOT_OWNER     ? got_owner(k, e)
           : e->kind == ZKR__EV_OWN_UNCHECKED ? unchecked(k, e)
           : e->kind == ZKR__EV_OWN_CHANGED   ? changed(k, e)
           : e->kind == ZKR__EV_OWN_GONE      ? own_gone(k, e)
           : e->kind == ZKR__EV_NOTING        ? noting(k, e)
                                              : noted(k, e);
}

/* --- the step --- */

enum { QUICK_RETRIES = 3 };

static bool reply_lost(int code)
{
    return code == ZKR_ECONNLOSS || code == ZKR_ESESSION;
}

/* --- making the node --- */

/* The parent never was, or was reaped a moment ago: make it, as often as it takes. */
static unsigned make_parents(struct zkr__claim_state *k,
                             const struct zkr__claim_event *e)
{
    if (k->made_parents && k->failures >= QUICK_RETRIES) {
        k->made_parents = false; /* and make them again after the pause */
        return zkr__retry_in(k, e, ZKR__CREATING);
    }
    k->failures += k->made_parents;
    k->made_parents = true;
    return ZKR__DO_PARENTS | zkr__enter(k, e, ZKR__CREATING);
}

static unsigned on_found(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (e->code != ZKR_OK && e->code != ZKR_ENONODE) {
        return k->leaving ? zkr__retry_in(k, e, ZKR__FINDING)
                          : zkr__retry_or_fail(k, e, ZKR__FINDING);
    }
    /*
     * A create that is not seen behind that write will never be. Servers drop what comes of a session that has
     * moved, and the same server takes our requests in order.
     */
    if (!e->found) {
        return zkr__requeue(k, e);
    }
    return k->leaving ? zkr__remove(k, e) : zkr__enter(k, e, ZKR__ADOPTING);
}

/* --- waiting --- */

static unsigned park(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (e->wait == ZKR__WAIT_CHILDREN && !k->watch_children) {
        k->watch_children =
            true; /* from now on each list leaves a watch, so nothing is missed */
        return zkr__enter(k, e, ZKR__LISTING);
    }
    k->phase = ZKR__PARKED;
    k->waited = true;
    k->standstill =
        e->wait == ZKR__WAIT_NODE && e->ahead >= k->ahead ? k->standstill + 1 : 0;
    k->ahead = e->ahead;
    k->failures = k->standstill > QUICK_RETRIES ? k->failures : 0;
    k->then = e->then;
    k->saw_ahead = false;
    k->blind = e->wait == ZKR__WAIT_CHILDREN && e->unwatched;
    unsigned ahead = e->wait == ZKR__WAIT_NODE ? ZKR__DO_GET_AHEAD
                     : k->blind                ? ZKR__DO_LOOK
                                               : 0;
    ahead |= k->member ? ZKR__DO_NOTIFY : 0;
    if (e->then == ZKR__THEN_OURS || e->wait == ZKR__WAIT_NEIGHBOUR) {
        return ahead | zkr__watch_own(k, e); /* the grant may need it at once */
    }
    return ahead | zkr__look_later(k);
}

static unsigned take_place(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    return e->granted ? zkr__grant(k, e)
           : e->once  ? zkr__fail_claim(k, e, ZKR_ETIMEDOUT)
                      : park(k, e);
}

static unsigned on_created(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__CREATING) {
        return 0;
    }
    if (e->code == ZKR_OK) {
        k->phase = ZKR__LISTING; /* its answer is next */
        return k->leaving  ? zkr__remove(k, e)
               : e->spent  ? zkr__fail_claim(k, e, ZKR_ESEQUENCE)
               : e->placed ? take_place(k, e)
               : e->bare   ? zkr__enter(k, e, ZKR__LISTING)
                           : 0;
    }
    if (reply_lost(e->code)) {
        return zkr__retry_in(k, e, ZKR__FINDING);
    }
    if (k->leaving) {
        return zkr__fail_claim(k, e, e->code);
    }
    if (e->code == ZKR_ENONODE && !e->hopeless) {
        return make_parents(k, e);
    }
    return zkr__retry_or_fail(k, e, ZKR__CREATING);
}

/* A list may lie, or speak of another path than that of our node: what is not in it may be there. */
static unsigned look_for_own(struct zkr__claim_state *k,
                             const struct zkr__claim_event *e)
{
    if (k->failures >= QUICK_RETRIES) {
        return zkr__retry_in(k, e, ZKR__ADOPTING);
    }
    k->failures++;
    return zkr__enter(k, e, ZKR__ADOPTING);
}

/* Without the directory there is room, too. */
static unsigned on_looked(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (e->code != ZKR_OK && e->code != ZKR_ENONODE) {
        k->phase = ZKR__CREATING;
        return zkr__retry_or_fail(k, e, ZKR__CREATING);
    }
    return e->wary ? zkr__fail_claim(k, e, ZKR_ETIMEDOUT)
                   : zkr__enter(k, e, ZKR__CREATING);
}

static unsigned on_listed(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase == ZKR__LOOKING) {
        return on_looked(k, e);
    }
    if (k->phase == ZKR__CREATING) {
        /* It was not sent, and the create is not answered: as if both replies were lost. */
        return zkr__retry_in(k, e, ZKR__FINDING);
    }
    if (k->phase == ZKR__FINDING) {
        return on_found(k, e);
    }
    if (k->phase == ZKR__ADOPTING) {
        /* The get of our node was not sent: whose it is, we do not know yet. */
        return zkr__retry_in(k, e, ZKR__ADOPTING);
    }
    if (k->phase != ZKR__LISTING) {
        return 0;
    }
    if (e->code == ZKR_ENONODE || (e->code == ZKR_OK && !e->found)) {
        return look_for_own(k, e);
    }
    if (e->code != ZKR_OK) {
        return zkr__retry_or_fail(k, e, ZKR__LISTING);
    }
    return take_place(k, e);
}

/* @held: the one ahead held until now. */
static unsigned
on_ahead_gone(struct zkr__claim_state *k, const struct zkr__claim_event *e, bool held)
{
    if (k->phase != ZKR__PARKED) {
        return 0;
    }
    bool ours =
        k->then == ZKR__THEN_OURS || (k->then == ZKR__THEN_OURS_IF_HELD && held);
    if (ours && k->own == ZKR__OWN_SET && (e->connected || held)) {
        /* Events come in order: had our node been deleted before, we would know. Those that a re-connection brings do
           not, and they come before the claims are told of it when the credentials are to be taken first. */
        return zkr__grant(k, e);
    }
    if (ours && k->own == ZKR__OWN_ASKED) {
        k->phase = ZKR__CONFIRMING;
        return 0;
    }
    if (ours && k->own == ZKR__OWN_SEEN && e->connected) {
        unsigned get = zkr__watch_own(k, e);
        k->phase = ZKR__CONFIRMING;
        return get;
    }
    return k->standstill > QUICK_RETRIES ? zkr__retry_in(k, e, ZKR__LISTING)
                                         : zkr__enter(k, e, ZKR__LISTING);
}

static unsigned on_got_ahead(struct zkr__claim_state *k,
                             const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__PARKED) {
        return 0;
    }
    if (e->code == ZKR_OK) {
        k->saw_ahead = true;
        k->blind = e->unwatched;
        return k->blind ? ZKR__DO_LOOK : 0;
    }
    if (e->code == ZKR_EAUTH && k->saw_ahead) {
        return 0; /* it is there, and so are we: UNHEARD follows */
    }
    return e->code == ZKR_ENONODE ? on_ahead_gone(k, e, false)
                                  : zkr__retry_or_fail(k, e, ZKR__LISTING);
}

static unsigned on_ahead_changed(struct zkr__claim_state *k,
                                 const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__PARKED) {
        return 0;
    }
    if (k->watch_children) {
        return zkr__enter(k, e, ZKR__LISTING);
    }
    return e->connected ? ZKR__DO_GET_AHEAD : zkr__retry_in(k, e, ZKR__LISTING);
}

/* --- granted, removed --- */

static unsigned on_proved(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__PROVING && k->phase != ZKR__DOUBTED) {
        return 0;
    }
    if (e->code == ZKR_OK) {
        return zkr__grant(k, e); /* or asks again, if that proved too little */
    }
    return e->code == ZKR_ENONODE ? zkr__requeue(k, e)
                                  : zkr__retry_or_fail(k, e, k->phase);
}

static unsigned on_removed(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__REMOVING) {
        return 0;
    }
    if (e->code != ZKR_OK && e->code != ZKR_ENONODE) {
        k->leaving = true;                 /* no limit to retries any more */
        k->refused = e->code == ZKR_EAUTH; /* claim_io.c says so in the log */
        return zkr__retry_in(k, e, ZKR__REMOVING);
    }
    k->phase = ZKR__GONE;
    return 0;
}

/* --- the session, the owner --- */

static unsigned on_connected(struct zkr__claim_state *k,
                             const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__PAUSED && k->downgrade != ZKR__SETTLED) {
        return downgrade_again(k, e);
    }
    k->standstill = 0;
    /*
     * What happened while there was no connection is told in no order, and of a node that was deleted and made again
     * only that it has changed; of one that was not watched, nothing. So a watch of before vouches for nothing, nor
     * does a list or a check of the path, which knows no owner: whoever has a node gets it first. What it asks next is
     * answered behind that. So is the first probe (session_events.c): the server has answered whose node it
     * was, with a watch, tells what the watch sees in the order in which it happened, and only then that the probe is
     * written. A check of the version would not do in place of the get. The node of another has version 0 as
     * ours had before its note, and any wish would refuse the probe.
     */
    k->own = k->own == ZKR__OWN_SET ? ZKR__OWN_NONE : k->own;
    unsigned todo = k->phase == ZKR__PAUSED ? zkr__enter(k, e, k->next) : 0;
    bool has_node = zkr__claim_waits_with_node(k) || k->phase == ZKR__HELD;
    todo |= k->phase == ZKR__PARKED && k->blind ? ZKR__DO_LOOK : 0;
    return has_node ? todo | zkr__watch_own(k, e) : todo;
}

static unsigned on_lease_expired(struct zkr__claim_state *k,
                                 const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__HELD) {
        return 0;
    }
    return k->keeps_place ? zkr__doubt(k, e) : zkr__lose(k, e, ZKR_LOST_LEASE);
}

static bool may_have_node(const struct zkr__claim_state *k)
{
    return k->phase == ZKR__CREATING || zkr__claim_stage(k) == ZKR__FINDING;
}

/* A hold, also one in doubt, stays. */
static unsigned on_give_up(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    enum zkr__phase stage = zkr__claim_stage(k);
    if (k->leaving || zkr__claim_decided(k) || stage == ZKR__DOUBTED) {
        return 0;
    }
    if (may_have_node(k)) { /* the answer tells, then it is removed */
        k->failure = e->code;
        k->leaving = true;
        return ZKR__DO_NOTIFY;
    }
    return zkr__fail_claim(k, e, e->code);
}

static unsigned on_leave(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->leaving) {
        return 0;
    }
    k->leaving = true;
    if (k->phase == ZKR__HELD) {
        /* What is on its way is written before the answer to a list that the next one sends behind it. */
        bool look = k->writing > 0 || k->downgrade != ZKR__SETTLED;
        return (look ? ZKR__DO_LET_LOOK : ZKR__DO_HAND_OVER) | zkr__remove(k, e);
    }
    if (zkr__claim_waits_with_node(k)) {
        return ZKR__DO_STEP_ASIDE | zkr__remove(k, e);
    }
    if (zkr__claim_has_none(k)) {
        k->round += k->phase == ZKR__LOOKING;
        k->phase = ZKR__GONE;
    }
    return 0; /* or wait for the answer: is there a node? */
}

static unsigned on_pause_over(struct zkr__claim_state *k,
                              const struct zkr__claim_event *e)
{
    return k->phase == ZKR__PAUSED               ? zkr__enter(k, e, k->next)
           : k->downgrade == ZKR__DOWNGRADE_OWED ? downgrade_again(k, e)
                                                 : 0;
}

unsigned zkr__claim_step(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    switch (e->kind) {
    case ZKR__EV_START:
        return zkr__start(k, e);
    case ZKR__EV_CONNECTED:
        return on_connected(k, e);
    case ZKR__EV_PAUSE_OVER:
        return on_pause_over(k, e);
    case ZKR__EV_SESSION_OVER:
        return zkr__session_gone(k);
    case ZKR__EV_CREATED:
        return on_created(k, e);
    case ZKR__EV_LISTED:
        return on_listed(k, e);
    case ZKR__EV_GOT_AHEAD:
        return on_got_ahead(k, e);
    case ZKR__EV_GOT_OWN:
    case ZKR__EV_GOT_OWNER:
    case ZKR__EV_OWN_UNCHECKED:
    case ZKR__EV_OWN_CHANGED:
    case ZKR__EV_OWN_GONE:
    case ZKR__EV_NOTING:
    case ZKR__EV_NOTED:
        return own_event(k, e);
    case ZKR__EV_AHEAD_GONE:
    case ZKR__EV_AHEAD_RELEASED:
        return on_ahead_gone(k, e, e->kind == ZKR__EV_AHEAD_RELEASED);
    case ZKR__EV_AHEAD_WRITES:
        return k->phase == ZKR__PARKED ? zkr__enter(k, e, ZKR__LISTING) : 0;
    case ZKR__EV_AHEAD_CHANGED:
        return on_ahead_changed(k, e);
    case ZKR__EV_ALL_READY:
        return zkr__all_ready(k, e);
    case ZKR__EV_PROVED:
        return on_proved(k, e);
    case ZKR__EV_REMOVED:
        return on_removed(k, e);
    case ZKR__EV_RESTORED:
        return zkr__restored(k, e);
    case ZKR__EV_QUIET:
        return zkr__quiet(k, e);
    case ZKR__EV_UNHEARD:
        return zkr__unheard(k, e);
    case ZKR__EV_LEASE_EXPIRED:
        return on_lease_expired(k, e);
    case ZKR__EV_GIVE_UP:
        return on_give_up(k, e);
    case ZKR__EV_WRITING:
        return zkr__writing(k, e);
    case ZKR__EV_WRITTEN:
        return zkr__written(k, e);
    case ZKR__EV_DOWNGRADE:
    case ZKR__EV_DOWNGRADED:
        return downgrade(k, e);
    case ZKR__EV_LEAVE:
        return on_leave(k, e);
    case ZKR__EV_KINDS:
        break;
    }
    return 0;
}
