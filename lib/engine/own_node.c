/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/own_node.h"

#include <zkr/client.h>

#include "engine/downgrade.h"
#include "engine/transitions.h"

unsigned zkr__own_gone(struct zkr__claim_state *k, const struct zkr__claim_event *e)
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
    unsigned todo = zkr__own_gone(k, e);
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
    return e->code == ZKR_OK ? replaced(k, e) : zkr__own_gone(k, e);
}

static unsigned got(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (!zkr__claim_waits_with_node(k) && k->phase != ZKR__HELD) {
        return 0;
    }
    if (k->downgrade != ZKR__SETTLED) {
        return zkr__downgrade_seen(k, e);
    }
    if (e->code == ZKR_ENONODE) {
        return zkr__own_gone(k, e);
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

unsigned zkr__own_event(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    return e->kind == ZKR__EV_GOT_OWN         ? got(k, e)
           : e->kind == ZKR__EV_GOT_OWNER     ? got_owner(k, e)
           : e->kind == ZKR__EV_OWN_UNCHECKED ? unchecked(k, e)
           : e->kind == ZKR__EV_OWN_CHANGED   ? changed(k, e)
           : e->kind == ZKR__EV_NOTING        ? noting(k, e)
                                              : noted(k, e);
}
