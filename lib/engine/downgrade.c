/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/downgrade.h"

#include <zkr/client.h>

#include "engine/transitions.h"

/* What was asked before counts no more: it was about the WRIT node, or it will be done by then. */
unsigned zkr__downgrade_again(struct zkr__claim_state *k,
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
    return zkr__downgrade_again(k, e) | ZKR__DO_STEP_ASIDE;
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

unsigned zkr__downgrade(struct zkr__claim_state *k, const struct zkr__claim_event *e)
{
    return e->kind == ZKR__EV_DOWNGRADED ? answered(k, e) : begin(k, e);
}

unsigned zkr__downgrade_seen(struct zkr__claim_state *k,
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
