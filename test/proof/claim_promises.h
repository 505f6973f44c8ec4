/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The promises of a claim about each step, for any event. The including file defines the reaction to a broken promise:
 * static void must(bool fine, const char *what).
 */
#ifndef ZKT_CLAIM_PROMISES_H
#define ZKT_CLAIM_PROMISES_H

#include <stdbool.h>

#include <zkr/client.h>

#include "queue/claim_invariant.h"

static void must(bool fine, const char *what);

static bool same_outcome(const struct zkr__claim_state *x,
                         const struct zkr__claim_state *y)
{
    return (x->phase == ZKR__HELD) == (y->phase == ZKR__HELD) &&
           x->failure == y->failure && x->lost == y->lost &&
           x->place_lost == y->place_lost;
}

/* Its group is also notified when a member is PARKED or READY. */
static bool same_news(const struct zkr__claim_state *x,
                      const struct zkr__claim_state *y)
{
    bool moved =
        x->phase != y->phase && (y->phase == ZKR__PARKED || y->phase == ZKR__READY);
    return same_outcome(x, y) && !(x->member && moved);
}

/* Returns whether the server has our node, as far as the claim knows. */
static bool has_node(const struct zkr__claim_state *k)
{
    enum zkr__phase stage = zkr__claim_stage(k);
    return zkr__claim_waits_with_node(k) || stage == ZKR__HELD ||
           stage == ZKR__REMOVING;
}

/* Returns whether this event says that the node does not exist, or is not ours. */
static bool takes_node(const struct zkr__claim_event *e)
{
    enum zkr__event_kind kind = e->kind;
    bool is_look = kind == ZKR__EV_GOT_OWN || kind == ZKR__EV_GOT_OWNER;
    if (kind == ZKR__EV_SESSION_OVER || kind == ZKR__EV_OWN_GONE ||
        (kind == ZKR__EV_WRITTEN && e->deletes)) {
        return true;
    }
    if (kind == ZKR__EV_WRITTEN) { /* the write deleted the node, or found it missing */
        return e->deletes || e->code == ZKR_ENONODE;
    }
    if (e->code == ZKR_ENONODE) {
        return kind == ZKR__EV_LISTED || is_look || kind == ZKR__EV_PROVED ||
               kind == ZKR__EV_REMOVED || kind == ZKR__EV_WRITTEN;
    }
    if (e->code == ZKR_OK) {
        return kind == ZKR__EV_REMOVED || (kind == ZKR__EV_LISTED && !e->found) ||
               (is_look && !e->ours);
    }
    return false;
}

/* Returns whether this event says that the node exists. */
static bool brings_node(const struct zkr__claim_event *e)
{
    return (e->kind == ZKR__EV_CREATED && e->code == ZKR_OK) ||
           (e->kind == ZKR__EV_LISTED && e->found);
}

static bool may_pause(enum zkr__phase next)
{
    return next == ZKR__CREATING || next == ZKR__FINDING || next == ZKR__ADOPTING ||
           next == ZKR__LISTING || next == ZKR__PROVING || next == ZKR__DOUBTED ||
           next == ZKR__REMOVING;
}

static void check_node(const struct zkr__claim_state *before,
                       const struct zkr__claim_event *e,
                       const struct zkr__claim_state *after)
{
    bool looked_for =
        before->downgrade != ZKR__SETTLED && zkr__claim_stage(after) == ZKR__FINDING;
    must(!has_node(before) || has_node(after) || takes_node(e) || looked_for,
         "gone, but for a node");
    must(after->downgrade == ZKR__SETTLED || after->phase == ZKR__HELD,
         "downgraded, but not held");
    must(has_node(before) || !has_node(after) || brings_node(e), "a node from nowhere");
}

static void check_doubt(const struct zkr__claim_state *before,
                        const struct zkr__claim_state *after,
                        unsigned actions)
{
    enum zkr__phase was = zkr__claim_stage(before), is = zkr__claim_stage(after);
    /* A claim that loses its hold in a downgrade must first find its node, although no owner is left. */
    bool left = before->downgrade == ZKR__SETTLED ? after->leaving : after->lost == 0;
    bool lost = was == ZKR__HELD && is != ZKR__HELD && !left && !before->kept;
    must(is != ZKR__DOUBTED || before->keeps_place, "kept");
    must(is != ZKR__DOUBTED || was == ZKR__DOUBTED || was == ZKR__HELD,
         "doubted, but never held");
    must(was != ZKR__DOUBTED || is == ZKR__DOUBTED || is == ZKR__HELD ||
             is == ZKR__REMOVING || is == ZKR__GONE,
         "quietly queued again");
    must(lost == ((actions & ZKR__DO_COUNT_LOSS) != 0), "losses counted wrongly");
}

/* Promises about safety, for any event, expected or not. */
static void check_safety(const struct zkr__claim_state *before,
                         const struct zkr__claim_event *e,
                         const struct zkr__claim_state *after,
                         unsigned actions)
{
    const char *fault = zkr__claim_invariant(after);
    must(!fault, fault ? fault : "");
    fault = zkr__claim_step_invariant(before, e, after);
    must(!fault, fault ? fault : "");
    must(after->phase <= ZKR__GONE, "no such phase");
    must(after->phase != ZKR__PAUSED || may_pause(after->next), "nothing to do next");
    must(!(before->leaving && after->phase == ZKR__HELD), "held by nobody");
    must(!(before->leaving && !after->leaving), "came back");
    must(!(before->phase == ZKR__GONE && after->phase != ZKR__GONE), "came back");
    must(!(actions & ZKR__DO_NOTIFY) || !same_news(before, after) || e->announces,
         "told for nothing");
    must(!(actions & ZKR__DO_NOTIFY) || !before->leaving, "told nobody");
    must((actions & ZKR__DO_NOTIFY) || before->leaving || after->leaving ||
             same_news(before, after),
         "not told");
    must(after->phase != ZKR__READY || after->member, "ready for nobody");
    must(before->phase != ZKR__LOOKING || !e->wary || !(actions & ZKR__DO_CREATE),
         "a node in vain");
    must(!after->place_lost || (after->member && after->phase == ZKR__GONE),
         "place_lost");
    must(!after->member || before->phase == ZKR__HELD || after->phase != ZKR__HELD ||
             e->kind == ZKR__EV_ALL_READY || e->kind == ZKR__EV_PROVED,
         "held before the others");
    must(!zkr__claim_decided(before) || before->phase == ZKR__HELD ||
             (after->failure == before->failure && after->lost == before->lost) ||
             before->leaving,
         "decided twice");
    must(before->failure == 0 || after->failure == before->failure, "another reason");
    must(!(after->failure != 0 && after->lost != 0), "failed and lost");
    must(!(actions & (ZKR__DO_TELL_REVOCATION | ZKR__DO_RESTORE)) ||
             after->phase == ZKR__HELD,
         "asked to let go of nothing");
    /* The node of a downgrade is a different node. */
    bool another = before->downgrade != after->downgrade;
    must(!(actions & ZKR__DO_TELL_REVOCATION) || after->told != before->told || another,
         "told twice");
    must(after->phase != ZKR__HELD || after->revocation == 0,
         "a wish is kept from a holder");
    check_node(before, e, after);
    check_doubt(before, after, actions);
}

#endif
