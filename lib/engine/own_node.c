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

static unsigned seen(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    if (k->phase == ZKR__ADOPTING) {
        if (!e->ours) {
            /* Of a session that is ending: no more ours than anybody's. */
            return zkr__requeue(k, e);
        }
        if (e->spent) {
            return zkr__fail_claim(k, e, ZKR_ESEQUENCE);
        }
        k->phase = ZKR__LISTING; /* its answer is next */
    }
    k->own = ZKR__OWN_SET;
    k->version = e->version;
    if (k->note != ZKR__NOTING) {
        k->note = e->noted ? ZKR__NOTED : ZKR__UNNOTED;
    }
    k->wish = e->wish; /* one that comes before the grant is told with it */
    return k->phase == ZKR__CONFIRMING ? zkr__grant(k, e)
           : k->phase == ZKR__HELD     ? zkr__heed(k, e)
                                       : 0;
}

unsigned zkr__own_got(struct zkr__claim_state *k, const struct zkr__claim_event *e)
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
    if (stage == ZKR__HELD) { /* the lease probe looks after it, too */
        return zkr__worth_repeating(e->code) ? ZKR__DO_QUIET : 0;
    }
    bool again = stage == ZKR__ADOPTING || stage == ZKR__DOUBTED;
    return zkr__retry_or_fail(k, e, again ? stage : ZKR__LISTING);
}

unsigned zkr__own_changed(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    k->own = ZKR__OWN_NONE;
    k->version = -1;
    return zkr__claim_waits_with_node(k) || k->phase == ZKR__HELD ? zkr__watch_own(k, e)
                                                                  : 0;
}

/* --- the note --- */

/* Right behind the write, so that the watch is not used up by it. */
unsigned zkr__noting(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    k->note = ZKR__NOTING;
    return k->phase == ZKR__HELD ? zkr__watch_own(k, e) : 0;
}

/*
 * Another version: somebody has asked us to let go, of which the watch tells. For any other reason, as an ACL, it would
 * be refused again, and with it each probe.
 */
unsigned zkr__noted(struct zkr__claim_state *k, const struct zkr__claim_event *e)
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
