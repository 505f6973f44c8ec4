/* SPDX-License-Identifier: Apache-2.0 */
#include <zkr/client.h>

#include "queue/claim_state.h"

/* --- looking ahead --- */

/* For PARKED, record from the list what follows the end of the node ahead, and how far to look ahead. */
static unsigned look_ahead(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    k->then = e->then;
    k->look = e->look;
    return zkr__claim_watches_before(k) ? ZKR__DO_GET_BEFORE : 0;
}

/*
 * If the list of a look-ahead is in flight, the PARKED claim becomes LISTING and waits for that list. The claim does
 * not get the node ahead as well, because that answer would arrive after the list, when the claim may wait for another
 * node.
 */
static bool leave_to_list(struct zkr__claim_state *k)
{
    bool asked = k->look == ZKR__LOOK_ASKED;
    k->phase = asked ? ZKR__LISTING : k->phase;
    return asked;
}

static unsigned on_before_gone(struct zkr__claim_state *k,
                               const struct zkr__claim_event *e)
{
    bool last = k->look == ZKR__BEHIND_TWO;
    if (!zkr__claim_watches_before(k)) {
        return 0;
    }
    if (!e->connected) { /* after a re-connection, events arrive in no order */
        k->look = ZKR__LOOKS_NOT;
        return 0;
    }
    k->then = last ? ZKR__THEN_OURS : k->then;
    k->look = last ? ZKR__PREPARED : ZKR__LOOK_ASKED;
    return zkr__watch_own(k, e) | (last ? 0 : ZKR__DO_LIST);
}

static unsigned on_got_before(struct zkr__claim_state *k,
                              const struct zkr__claim_event *e)
{
    if (e->code == ZKR_ENONODE) {
        return on_before_gone(k, e);
    }
    if (zkr__claim_watches_before(k) && (e->code != ZKR_OK || e->unwatched)) {
        k->look = ZKR__LOOKS_NOT;
    }
    return 0;
}

static unsigned on_before_changed(struct zkr__claim_state *k,
                                  const struct zkr__claim_event *e)
{
    if (!zkr__claim_watches_before(k)) {
        return 0;
    }
    k->look = e->connected ? k->look : ZKR__LOOKS_NOT;
    return e->connected ? ZKR__DO_GET_BEFORE : 0;
}

/* After a re-connection, events prove nothing. Only what lists have shown about the nodes ahead remains valid. */
static void look_no_further(struct zkr__claim_state *k)
{
    if (k->look == ZKR__PREPARED) {
        k->then = ZKR__THEN_OURS_IF_HELD;
    }
    if (k->look != ZKR__BEHIND_FIRST) {
        k->look = ZKR__LOOKS_NOT;
    }
}

/* --- a place in the queue --- */

static unsigned park(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (e->wait == ZKR__WAIT_CHILDREN && !k->watch_children) {
        k->watch_children = true; /* each list sets a watch, so no change is missed */
        return zkr__enter(k, e, ZKR__LISTING);
    }
    if (e->wait == ZKR__WAIT_CHILDREN && e->unwatched) {
        return zkr__fail_claim(k, e, ZKR_ELIMIT);
    }
    k->phase = ZKR__PARKED;
    k->own = k->own == ZKR__OWN_UNPROVED ? ZKR__OWN_NONE : k->own;
    k->waited = true;
    k->standstill =
        e->wait == ZKR__WAIT_NODE && e->ahead >= k->ahead ? k->standstill + 1 : 0;
    k->ahead = e->ahead;
    k->failures = k->standstill > ZKR__QUICK_RETRIES ? k->failures : 0;
    k->saw_ahead = false;
    unsigned ahead = e->wait == ZKR__WAIT_NODE ? ZKR__DO_GET_AHEAD : 0;
    ahead |= k->member || e->announces ? ZKR__DO_NOTIFY : 0;
    ahead |= look_ahead(k, e);
    bool soon = e->then == ZKR__THEN_OURS || e->wait == ZKR__WAIT_NEIGHBOUR ||
                k->look == ZKR__BEHIND_TWO || e->near;
    if (soon && k->own != ZKR__OWN_SEEN) {
        /* A grant that follows soon needs the watch. */
        return ahead | zkr__watch_own(k, e);
    }
    return ahead | zkr__look_later(k);
}

static unsigned take_place(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    return e->foreign   ? zkr__fail_claim(k, e, ZKR_EFOREIGN)
           : e->granted ? zkr__grant(k, e)
           : e->once    ? zkr__fail_claim(k, e, ZKR_ETIMEDOUT)
           : e->full    ? zkr__fail_claim(k, e, ZKR_EBUSY)
                        : park(k, e);
}

/* The parent does not exist, or was just deleted. Create the parents, again if necessary. */
static unsigned make_parents(struct zkr__claim_state *k,
                             const struct zkr__claim_event *e)
{
    if (k->made_parents && k->failures >= ZKR__QUICK_RETRIES) {
        k->made_parents = false; /* after the pause, the parents are created again */
        return zkr__retry_in(k, e, ZKR__CREATING);
    }
    k->failures += k->made_parents;
    k->made_parents = true;
    return ZKR__DO_PARENTS | zkr__enter(k, e, ZKR__CREATING);
}

/* Our node was just created, so no get precedes this list. */
static unsigned list_at_once(struct zkr__claim_state *k,
                             const struct zkr__claim_event *e)
{
    return e->connected ? ZKR__DO_LIST : zkr__enter(k, e, ZKR__LISTING);
}

static unsigned on_created(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__CREATING) {
        return 0;
    }
    if (e->code == ZKR_OK) {
        k->phase = ZKR__LISTING; /* the answer to the list follows */
        return k->leaving     ? zkr__remove(k, e)
               : e->exhausted ? zkr__fail_claim(k, e, ZKR_ESEQUENCE)
               : e->placed    ? take_place(k, e)
               : e->bare      ? list_at_once(k, e)
                              : 0;
    }
    if (e->code == ZKR_ECONNLOSS || e->code == ZKR_ESESSION) {
        k->made_parents = false; /* the servers may not have created the parents */
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

/* Handles the list of FINDING. */
static unsigned on_found(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    bool fails = e->code != ZKR_OK && e->code != ZKR_ENONODE;
    k->refused = fails && !zkr__worth_retrying(e->code);
    if (fails) {
        return k->leaving ? zkr__retry_in(k, e, ZKR__FINDING)
                          : zkr__retry_or_fail(k, e, ZKR__FINDING);
    }
    /*
     * If the list after the write of FINDING lacks our node, the node will never be created, because servers drop late
     * requests of a session that has moved, and a server processes our requests in order.
     */
    if (!e->found) {
        return zkr__requeue(k, e);
    }
    return k->leaving ? zkr__remove(k, e) : zkr__enter(k, e, ZKR__ADOPTING);
}

/* A list may lack our node although the node exists, because the server is wrong or the node has a new name. */
static unsigned look_for_own(struct zkr__claim_state *k,
                             const struct zkr__claim_event *e)
{
    if (k->failures >= ZKR__QUICK_RETRIES) {
        return zkr__retry_in(k, e, ZKR__ADOPTING);
    }
    k->failures++;
    return zkr__enter(k, e, ZKR__ADOPTING);
}

/* Handles the list of a look-ahead. If the list fails, the claim lists when the node ahead is gone. */
static unsigned on_foreseen(struct zkr__claim_state *k,
                            const struct zkr__claim_event *e)
{
    if (e->code == ZKR_OK && !e->found) {
        return look_for_own(k, e);
    }
    if (e->code == ZKR_ENOMEM) { /* the watch on the node ahead may be lost */
        return zkr__retry_in(k, e, ZKR__LISTING);
    }
    if (e->code != ZKR_OK) {
        k->look = ZKR__LOOKS_NOT;
        return 0;
    }
    if (!e->same) {
        return take_place(k, e); /* the node ahead is gone, too */
    }
    unsigned todo = look_ahead(k, e);
    if (k->then == ZKR__THEN_OURS) {
        k->look = ZKR__PREPARED;
    }
    return todo;
}

/* Handles the list of LOOKING. A missing directory counts as empty. */
static unsigned on_looked(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (e->code != ZKR_OK && e->code != ZKR_ENONODE) {
        k->phase = ZKR__CREATING;
        return zkr__retry_or_fail(k, e, ZKR__CREATING);
    }
    return e->foreign ? zkr__fail_claim(k, e, ZKR_EFOREIGN)
           : e->wary  ? zkr__fail_claim(k, e, ZKR_ETIMEDOUT)
                      : zkr__enter(k, e, ZKR__CREATING);
}

static unsigned on_listed(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase == ZKR__LOOKING) {
        return on_looked(k, e);
    }
    if (k->phase == ZKR__CREATING) {
        /* The list was not sent, and the create has no answer yet. Treat both replies as lost. */
        return zkr__retry_in(k, e, ZKR__FINDING);
    }
    if (k->phase == ZKR__FINDING) {
        return on_found(k, e);
    }
    if (k->phase == ZKR__ADOPTING) {
        /* The get of our node was not sent, so the owner of the node is still unknown. */
        return zkr__retry_in(k, e, ZKR__ADOPTING);
    }
    if (k->phase == ZKR__PARKED && k->look == ZKR__LOOK_ASKED) {
        return on_foreseen(k, e);
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

/* --- the node ahead --- */

/*
 * Send a list that will probably grant. A short hold needs no watch on our node, because the watch would only report
 * our own delete. If more lists may follow, the watch makes gets unnecessary.
 */
static unsigned list_for_turn(struct zkr__claim_state *k,
                              const struct zkr__claim_event *e)
{
    unsigned todo = zkr__enter(k, e, ZKR__LISTING);
    bool lasts = k->member || k->watch_children;
    if (!lasts && (todo & ZKR__DO_GET_OWN)) {
        k->own = ZKR__OWN_UNPROVED;
        todo &= ~(unsigned)ZKR__DO_GET_OWN;
    }
    return todo;
}

/* @held is true if the claim ahead is of this client, and held until it released. */
static unsigned
ahead_gone(struct zkr__claim_state *k, const struct zkr__claim_event *e, bool held)
{
    if (k->phase != ZKR__PARKED) {
        return 0;
    }
    bool ours =
        k->then == ZKR__THEN_OURS || (k->then == ZKR__THEN_OURS_IF_HELD && held);
    if (ours && k->own == ZKR__OWN_SET && (e->connected || held)) {
        /*
         * Events arrive in order, so the event of an earlier deletion of our node would have arrived. But after a
         * re-connection events arrive in no order, possibly before ZKR__EV_CONNECTED.
         */
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
    if (leave_to_list(k)) {
        return 0;
    }
    return k->standstill > ZKR__QUICK_RETRIES ? zkr__retry_in(k, e, ZKR__LISTING)
                                              : list_for_turn(k, e);
}

static unsigned on_ahead_gone(struct zkr__claim_state *k,
                              const struct zkr__claim_event *e)
{
    return ahead_gone(k, e, e->kind == ZKR__EV_AHEAD_RELEASED);
}

/*
 * The node ahead still exists, but its owner no longer holds. No node can come between, and no earlier node holds,
 * because the node ahead held. So the news grants as ZKR__EV_AHEAD_RELEASED does. But there is no order between news
 * and events, so news proves nothing about our own node. Only a watch that has not fired, or the answer to a get,
 * proves that our node exists. News that cannot be used now is dropped, because the end of the node ahead also causes
 * an event.
 */
static unsigned on_ahead_told(struct zkr__claim_state *k,
                              const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__PARKED || k->then == ZKR__THEN_LOOK || !e->connected) {
        return 0;
    }
    if (k->own == ZKR__OWN_SET) {
        return zkr__grant(k, e);
    }
    unsigned get = zkr__watch_own(k, e);
    k->phase = ZKR__CONFIRMING;
    return get;
}

static unsigned on_list_again(struct zkr__claim_state *k,
                              const struct zkr__claim_event *e)
{
    return k->phase == ZKR__PARKED ? zkr__enter(k, e, ZKR__LISTING) : 0;
}

static unsigned on_got_ahead(struct zkr__claim_state *k,
                             const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__PARKED) {
        return 0;
    }
    if (e->code == ZKR_OK) {
        k->saw_ahead = true;
        return e->unwatched ? zkr__fail_claim(k, e, ZKR_ELIMIT)
               : e->near    ? zkr__watch_own(k, e) /* needed for a grant by news */
                            : 0;
    }
    if (e->code == ZKR_EAUTH && k->saw_ahead) {
        return 0; /* both nodes exist; EV_UNHEARD will retry */
    }
    return e->code == ZKR_ENONODE ? ahead_gone(k, e, false)
                                  : zkr__retry_or_fail(k, e, ZKR__LISTING);
}

static unsigned on_ahead_changed(struct zkr__claim_state *k,
                                 const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__PARKED) {
        return 0;
    }
    if (leave_to_list(k)) {
        return 0;
    }
    if (k->watch_children) {
        return zkr__enter(k, e, ZKR__LISTING);
    }
    return e->connected ? ZKR__DO_GET_AHEAD : zkr__retry_in(k, e, ZKR__LISTING);
}

static unsigned on_quiet(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    bool stands =
        k->phase == ZKR__PARKED || k->phase == ZKR__READY || k->phase == ZKR__HELD;
    return stands ? zkr__watch_own(k, e) : 0;
}

/*
 * A watch has been silent for so long that it is doubted. A hold renews the watch on its own node. A waiting claim
 * renews the watch on the node ahead or on the children of its directory.
 */
static unsigned on_unheard(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase == ZKR__HELD && k->own == ZKR__OWN_SET && e->connected) {
        k->own = ZKR__OWN_NONE;
        return zkr__watch_own(k, e);
    }
    if (k->phase != ZKR__PARKED || !e->connected || leave_to_list(k)) {
        return 0;
    }
    return k->watch_children ? zkr__enter(k, e, ZKR__LISTING) : ZKR__DO_GET_AHEAD;
}

/* --- the grant and the removal --- */

/* Nothing blocks any member of the group. */
static unsigned on_all_ready(struct zkr__claim_state *k,
                             const struct zkr__claim_event *e)
{
    return k->phase == ZKR__READY ? zkr__grant(k, e) : 0;
}

static unsigned on_proved(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__PROVING && k->phase != ZKR__DOUBTED) {
        return 0;
    }
    if (e->code == ZKR_OK) {
        return zkr__grant(k, e); /* or prove again if the lease is still not sure */
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
        k->leaving = true;                 /* from now on, retries have no limit */
        k->refused = e->code == ZKR_EAUTH; /* claim_io.c logs the refusal */
        return zkr__retry_in(k, e, ZKR__REMOVING);
    }
    k->phase = ZKR__GONE;
    return 0;
}

/* --- the session and the owner --- */

/* A member pauses first if its group has already entered without success. */
static unsigned on_start(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    bool pauses = k->pauses;
    k->pauses = false;
    return pauses ? zkr__retry_in(k, e, ZKR__CREATING)
                  : zkr__enter(k, e, ZKR__CREATING);
}

static unsigned on_connected(struct zkr__claim_state *k,
                             const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__PAUSED && k->downgrade != ZKR__SETTLED) {
        return zkr__downgrade_again(k, e);
    }
    k->standstill = 0;
    look_no_further(k);
    /*
     * The events from the time without a connection arrive in no order. If a node was deleted and created again, its
     * event reports only a change, and a node without a watch has no event. So a claim that has a node first gets the
     * node, with a watch. An older watch proves nothing, and neither a list nor a check of the path shows the owner.
     * Later requests of the claim, and the first probe (session_events.c), are answered after the get. By then the
     * server has shown the owner of the node, and has sent any event of the watch. A check of the version could not
     * replace the get, because another client's node has version 0, as ours had before its metadata, and any revocation
     * request would make the probe fail.
     */
    k->own = k->own == ZKR__OWN_SET ? ZKR__OWN_NONE : k->own;
    unsigned todo = k->phase == ZKR__PAUSED ? zkr__enter(k, e, k->next) : 0;
    bool has_node = zkr__claim_waits_with_node(k) || k->phase == ZKR__HELD;
    return has_node ? todo | zkr__watch_own(k, e) : todo;
}

static unsigned on_session_over(struct zkr__claim_state *k,
                                const struct zkr__claim_event *e)
{
    (void)e;
    enum zkr__phase stage = zkr__claim_stage(k);
    bool held = stage == ZKR__HELD || stage == ZKR__DOUBTED;
    bool ends = k->leaving || stage == ZKR__REMOVING || stage == ZKR__GONE;
    /* A member without a node stays, because the group decides which members create their nodes first. */
    bool made = stage != ZKR__CREATING && stage != ZKR__LOOKING;
    bool place_lost = k->member && !held && !ends && made;
    unsigned todo = held || place_lost ? ZKR__DO_NOTIFY : 0;
    todo |= stage == ZKR__HELD && !k->kept ? ZKR__DO_COUNT_LOSS : 0;
    k->lost = held ? ZKR_LOST_SESSION : k->lost;
    k->round++;
    k->own = ZKR__OWN_NONE;
    k->downgrade = ZKR__SETTLED;
    k->made_parents = false;
    k->failures = 0;
    k->place_lost = k->place_lost || place_lost;
    k->phase = held || ends || place_lost ? ZKR__GONE : ZKR__PAUSED;
    k->next = ZKR__CREATING;
    return todo;
}

/* A hold that keeps its place is in doubt until a write proves that its node still exists. Any other hold is lost. */
static unsigned on_lease_expired(struct zkr__claim_state *k,
                                 const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__HELD) {
        return 0;
    }
    if (!k->keeps_place) {
        return zkr__lose(k, e, ZKR_LOST_LEASE);
    }
    /* Read our node, which may still contain the request, unless a get in flight will show it. */
    if (k->told != 0 && k->own != ZKR__OWN_ASKED) {
        k->own = ZKR__OWN_NONE;
    }
    return zkr__enter(k, e, ZKR__DOUBTED) | ZKR__DO_COUNT_LOSS | ZKR__DO_NOTIFY;
}

/* Giving up ends a wait, but never a hold. */
static unsigned on_give_up(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    enum zkr__phase stage = zkr__claim_stage(k);
    if (k->leaving || zkr__claim_decided(k) || stage == ZKR__DOUBTED) {
        return 0;
    }
    if (k->phase == ZKR__CREATING || stage == ZKR__FINDING) {
        /* The answer will show whether there is a node to delete. */
        k->failure = e->code;
        k->leaving = true;
        return ZKR__DO_NOTIFY;
    }
    return zkr__fail_claim(k, e, e->code);
}

/* From now on, watch our own node, because the next hold begins without a request. */
static unsigned on_kept(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    k->kept = k->phase == ZKR__HELD;
    return k->kept ? zkr__watch_own(k, e) : 0;
}

static unsigned on_taken(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->kept) {
        k->kept = false;
        k->waited = e->passed;
        k->holds++;
        /* The metadata describe only the first hold of a node. */
        k->metadata =
            k->metadata == ZKR__METADATA_DUE ? ZKR__METADATA_WRITTEN : k->metadata;
    }
    return 0;
}

static unsigned on_leave(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    k->kept = false;
    if (k->leaving) {
        return 0;
    }
    k->leaving = true;
    if (k->phase == ZKR__HELD) {
        /*
         * While a write is in flight, the next claim sends a list after the write, and so is granted after the write.
         */
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
    return 0; /* the coming answer shows whether there is a node to delete */
}

static unsigned on_pause_over(struct zkr__claim_state *k,
                              const struct zkr__claim_event *e)
{
    return k->phase == ZKR__PAUSED               ? zkr__enter(k, e, k->next)
           : k->downgrade == ZKR__DOWNGRADE_OWED ? zkr__downgrade_again(k, e)
                                                 : 0;
}

static unsigned on_got_own(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    return k->downgrade == ZKR__SETTLED ? zkr__on_got_own(k, e)
                                        : zkr__on_got_downgrading(k, e);
}

unsigned zkr__claim_step(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    static zkr__step *const on[ZKR__EV_KINDS] = {
        [ZKR__EV_START] = on_start,
        [ZKR__EV_CONNECTED] = on_connected,
        [ZKR__EV_PAUSE_OVER] = on_pause_over,
        [ZKR__EV_SESSION_OVER] = on_session_over,
        [ZKR__EV_CREATED] = on_created,
        [ZKR__EV_LISTED] = on_listed,
        [ZKR__EV_GOT_AHEAD] = on_got_ahead,
        [ZKR__EV_GOT_OWN] = on_got_own,
        [ZKR__EV_GOT_OWNER] = zkr__on_got_owner,
        [ZKR__EV_AHEAD_GONE] = on_ahead_gone,
        [ZKR__EV_AHEAD_RELEASED] = on_ahead_gone,
        [ZKR__EV_AHEAD_WRITES] = on_list_again,
        [ZKR__EV_AHEAD_TOLD] = on_ahead_told,
        [ZKR__EV_AHEAD_CHANGED] = on_ahead_changed,
        [ZKR__EV_GOT_BEFORE] = on_got_before,
        [ZKR__EV_BEFORE_GONE] = on_before_gone,
        [ZKR__EV_BEFORE_CHANGED] = on_before_changed,
        [ZKR__EV_OWN_GONE] = zkr__on_own_gone,
        [ZKR__EV_OWN_CHANGED] = zkr__on_own_changed,
        [ZKR__EV_OWN_UNCHECKED] = zkr__on_own_unchecked,
        [ZKR__EV_ALL_READY] = on_all_ready,
        [ZKR__EV_PROVED] = on_proved,
        [ZKR__EV_REMOVED] = on_removed,
        [ZKR__EV_RESTORED] = zkr__on_restored,
        [ZKR__EV_QUIET] = on_quiet,
        [ZKR__EV_UNHEARD] = on_unheard,
        [ZKR__EV_LEASE_EXPIRED] = on_lease_expired,
        [ZKR__EV_GIVE_UP] = on_give_up,
        [ZKR__EV_WRITING] = zkr__on_writing,
        [ZKR__EV_WRITTEN] = zkr__on_written,
        [ZKR__EV_METADATA_SENT] = zkr__on_metadata_sent,
        [ZKR__EV_NOTED] = zkr__on_noted,
        [ZKR__EV_DOWNGRADE] = zkr__on_downgrade,
        [ZKR__EV_DOWNGRADED] = zkr__on_downgraded,
        [ZKR__EV_KEPT] = on_kept,
        [ZKR__EV_TAKEN] = on_taken,
        [ZKR__EV_LEAVE] = on_leave,
    };
    return on[e->kind](k, e);
}
