/* SPDX-License-Identifier: Apache-2.0 */
#include <zkr/client.h>

#include "queue/claim_state.h"

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
        k->revocation = k->told = k->version = 0;
        k->metadata = ZKR__METADATA_DUE;
        k->ahead = INT64_MAX;
        k->standstill = 0;
        return ZKR__DO_CREATE;
    case ZKR__FINDING:
        return ZKR__DO_FIND;
    case ZKR__ADOPTING:
        if (k->own == ZKR__OWN_ASKED) {
            return ZKR__DO_LIST; /* a get is in flight */
        }
        k->own = ZKR__OWN_ASKED;
        return ZKR__DO_GET_OWN | ZKR__DO_LIST;
    case ZKR__LISTING: /* a list or a check does not show the owner, so a get precedes it */
        return ZKR__DO_LIST | zkr__watch_own(k, e);
    case ZKR__PROVING:
    case ZKR__DOUBTED:
        return ZKR__DO_PROVE | zkr__watch_own(k, e);
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
    /* First, the claim finds out which node exists. */
    if (k->downgrade != ZKR__SETTLED) {
        k->downgrade = ZKR__SETTLED;
        k->leaving = true;
        return zkr__enter(k, e, ZKR__FINDING);
    }
    return zkr__enter(k, e, ZKR__REMOVING);
}

/* Pause, and ignore the answers to requests in flight. */
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
    if (k->failure == 0) { /* otherwise, the code of an earlier failure stays */
        k->failure = code;
    }
    enum zkr__phase stage = zkr__claim_stage(k);
    if (stage == ZKR__CREATING || stage == ZKR__LOOKING) {
        k->round++;
        k->phase = ZKR__GONE;
        return notify;
    }
    if (stage == ZKR__FINDING) {
        /* The owner need not wait until the claim knows whether there is a node to delete. */
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

/*
 * Like zkr__worth_retrying(), but for requests of a hold. A hold must not miss its events because memory ran out for a
 * moment.
 */
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
    /* FINDING has already counted the lost create. A list has shown that there is no node, so the connection works. */
    bool counted = stage == ZKR__FINDING;
    bool pauses = k->failures > (counted ? ZKR__QUICK_CREATES : ZKR__QUICK_RETRIES - 1);
    k->failures += !pauses - counted; /* a pause itself adds one to failures */
    if (k->member) {
        k->pauses = pauses;
        k->place_lost = true;
        k->phase = ZKR__GONE;
        return ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY;
    }
    unsigned todo =
        pauses ? zkr__retry_in(k, e, ZKR__CREATING) : zkr__enter(k, e, ZKR__CREATING);
    return todo | ZKR__DO_STEP_ASIDE;
}

unsigned zkr__heed(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    int revocation = k->revocation;
    k->revocation = 0;
    if (revocation == 0) {
        return 0;
    }
    /* The write includes the metadata. Without a connection, the next get will show the request again. */
    unsigned todo = e->connected ? ZKR__DO_RESTORE : 0;
    k->metadata = e->connected ? ZKR__METADATA_WRITTEN : k->metadata;
    todo |= revocation != k->told ? ZKR__DO_TELL_REVOCATION : 0;
    k->told = revocation;
    return todo;
}

unsigned zkr__grant(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    /* The answer to a write is the best proof, even if the lease that remains is short. */
    bool proved = e->kind == ZKR__EV_PROVED;
    if (k->member && !proved && e->kind != ZKR__EV_ALL_READY) {
        k->phase = ZKR__READY;
        return ZKR__DO_NOTIFY | zkr__look_later(k);
    }
    if (k->own == ZKR__OWN_ASKED && k->phase == ZKR__DOUBTED) {
        /* The answer to a new check arrives after the answer to the get. */
        return zkr__enter(k, e, ZKR__DOUBTED);
    }
    bool unproved = k->own == ZKR__OWN_UNPROVED;
    if (unproved) {
        k->own = e->ours || !e->connected ? ZKR__OWN_NONE : ZKR__OWN_ASKED;
    }
    /* The get will show whether the node is still ours. */
    if (k->own == ZKR__OWN_ASKED) {
        k->phase = ZKR__CONFIRMING;
        return unproved ? ZKR__DO_CHECK_OWN : 0;
    }
    /*
     * A request that is sent just after the connection broke is answered on the next connection, possibly before
     * ZKR__EV_CONNECTED. If our node has changed meanwhile, it may belong to another session, and only a get shows
     * that.
     */
    bool unsure = unproved ? !e->ours : k->version < 0;
    if (!e->connected && k->own == ZKR__OWN_NONE && unsure) {
        return zkr__enter(k, e, proved ? k->phase : ZKR__LISTING);
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
    /* A hold in doubt has already been counted as lost. */
    unsigned todo = ZKR__DO_STEP_ASIDE | ZKR__DO_NOTIFY |
                    (k->phase == ZKR__HELD && !k->kept ? ZKR__DO_COUNT_LOSS : 0);
    k->lost = reason;
    if (reason == ZKR_LOST_NODE) {
        k->round++;
        k->downgrade = ZKR__SETTLED;
        k->phase = ZKR__GONE;
        return todo;
    }
    return todo | zkr__remove(k, e);
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
    return k->own == ZKR__OWN_NONE ? ZKR__DO_QUIET : 0;
}

/*
 * The name of our node now belongs to a node of another client, or of an ending session of ours. That node may block
 * the claims behind us, so they list.
 */
unsigned zkr__not_past(unsigned todo)
{
    bool aside = (todo & ZKR__DO_STEP_ASIDE) != 0;
    return (todo & ~(unsigned)ZKR__DO_STEP_ASIDE) | (aside ? ZKR__DO_LET_LOOK : 0);
}

/* --- our own node --- */

unsigned zkr__on_own_gone(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase == ZKR__HELD && k->downgrade != ZKR__SETTLED) {
        return 0; /* the answer to the downgrade decides */
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

static unsigned replaced(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    return zkr__not_past(zkr__on_own_gone(k, e));
}

static unsigned seen(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (!e->ours) {
        return replaced(k, e);
    }
    if (k->phase == ZKR__ADOPTING) {
        if (e->exhausted) {
            return zkr__fail_claim(k, e, ZKR_ESEQUENCE);
        }
        k->phase = ZKR__LISTING; /* the answer to the list follows */
    }
    k->own = e->checked ? ZKR__OWN_NONE : e->unwatched ? ZKR__OWN_SEEN : ZKR__OWN_SET;
    /* An old list grants a READY member, so the member needs the watch. */
    if (e->unwatched && k->phase == ZKR__READY) {
        return zkr__fail_claim(k, e, ZKR_ELIMIT);
    }
    k->unchecked = false;
    k->refusals = 0;
    k->version = e->version;
    if (k->metadata != ZKR__METADATA_ASKED) {
        k->metadata = e->with_metadata ? ZKR__METADATA_WRITTEN : ZKR__METADATA_DUE;
    }
    k->revocation = e->revocation; /* reported now, or together with the grant */
    if (k->phase == ZKR__CONFIRMING) {
        return zkr__grant(k, e);
    }
    unsigned later = e->checked ? zkr__look_later(k) : 0;
    return later | (k->phase == ZKR__HELD ? zkr__heed(k, e) : 0);
}

/*
 * The client may not read our node, or the server is too busy. The hold stays, because the session is alive. Ask which
 * session owns the node (ZOOKEEPER-2590), and try later to watch the node again.
 */
static unsigned unseen(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    k->own = ZKR__OWN_NONE;
    k->refusals++;
    return ZKR__DO_LOOK_LATER | (e->connected ? ZKR__DO_ASK_OWNER : 0);
}

unsigned zkr__on_own_unchecked(struct zkr__claim_state *k,
                               const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__HELD || k->downgrade != ZKR__SETTLED || !e->connected) {
        return 0;
    }
    k->unchecked = true;
    return k->own == ZKR__OWN_ASKED ? 0 /* the get in flight will show the node */
                                    : unseen(k, e);
}

unsigned zkr__on_got_owner(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    bool answered = e->code == ZKR_OK || e->code == ZKR_ENONODE;
    bool ours = e->code == ZKR_OK && e->ours;
    if (!answered || ours || k->phase != ZKR__HELD || k->downgrade != ZKR__SETTLED) {
        return 0;
    }
    return e->code == ZKR_OK ? replaced(k, e) : zkr__on_own_gone(k, e);
}

unsigned zkr__on_got_own(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (!zkr__claim_waits_with_node(k) && k->phase != ZKR__HELD) {
        return 0;
    }
    if (e->code == ZKR_ENONODE) {
        return zkr__on_own_gone(k, e);
    }
    if (e->code == ZKR_OK) {
        return seen(k, e);
    }
    k->own = ZKR__OWN_NONE;
    enum zkr__phase stage = zkr__claim_stage(k);
    if (stage == ZKR__HELD) {
        return zkr__worth_repeating(e->code) ? ZKR__DO_QUIET : unseen(k, e);
    }
    bool again = stage == ZKR__ADOPTING || stage == ZKR__DOUBTED;
    return zkr__retry_or_fail(k, e, again ? stage : ZKR__LISTING);
}

unsigned zkr__on_own_changed(struct zkr__claim_state *k,
                             const struct zkr__claim_event *e)
{
    if (k->downgrade != ZKR__SETTLED) {
        /* Because of the change, the server refuses the downgrade in flight. */
        return 0;
    }
    k->version = -1;
    if (k->own == ZKR__OWN_ASKED) {
        return 0; /* the answer arrives after the event, so it shows the change */
    }
    k->own = ZKR__OWN_NONE;
    return zkr__claim_waits_with_node(k) || k->phase == ZKR__HELD ? zkr__watch_own(k, e)
                                                                  : 0;
}

/* --- a hold's writes to its node --- */

/* Get our node right after the write, so that the write does not use up the watch. */
unsigned zkr__on_metadata_sent(struct zkr__claim_state *k,
                               const struct zkr__claim_event *e)
{
    k->metadata = ZKR__METADATA_ASKED;
    return k->phase == ZKR__HELD ? zkr__watch_own(k, e) : 0;
}

/*
 * A refusal because of the version means that another client has written a revocation request, which the watch reports.
 * After any other refusal, for example by an ACL, the metadata count as written, because another attempt, and the probe
 * that makes it, would be refused, too.
 */
unsigned zkr__on_noted(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->metadata != ZKR__METADATA_ASKED) {
        return 0;
    }
    bool other = e->refused && e->code == ZKR__OTHER_VERSION;
    k->metadata = e->code == ZKR_OK || (e->refused && !other) ? ZKR__METADATA_WRITTEN
                                                              : ZKR__METADATA_DUE;
    k->version = other && k->downgrade == ZKR__SETTLED ? -1 : k->version;
    return other && k->phase == ZKR__HELD ? zkr__watch_own(k, e) : 0;
}

/* If our text was not written over the request, read the request again later, unless a get in flight will show it. */
unsigned zkr__on_restored(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase != ZKR__HELD || !zkr__worth_repeating(e->code) ||
        k->own == ZKR__OWN_ASKED) {
        return 0;
    }
    k->own = ZKR__OWN_NONE;
    return ZKR__DO_QUIET;
}

unsigned zkr__on_writing(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    k->writing++;
    k->departure = e->deletes ? ZKR__DEPARTS : k->departure;
    return 0;
}

/* The code ZKR_ENONODE means that our node does not exist. */
unsigned zkr__on_written(struct zkr__claim_state *k, const struct zkr__claim_event *e)
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
    /* During a downgrade, only the answer to the downgrade decides. */
    return gone && k->downgrade == ZKR__SETTLED ? zkr__lose(k, e, ZKR_LOST_NODE) : 0;
}
