/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/claim_plan.h"

/* --- after a step --- */

static const unsigned actions[ZKR__DEEDS] = {
    [ZKR__DEED_PARENTS] = ZKR__DO_PARENTS,
    [ZKR__DEED_CREATE] = ZKR__DO_CREATE,
    [ZKR__DEED_FIND] = ZKR__DO_FIND,
    [ZKR__DEED_GET_OWN] = ZKR__DO_GET_OWN,
    [ZKR__DEED_ASK_OWNER] = ZKR__DO_ASK_OWNER,
    [ZKR__DEED_LIST] = ZKR__DO_LIST,
    [ZKR__DEED_CHECK_OWN] = ZKR__DO_CHECK_OWN,
    [ZKR__DEED_GET_AHEAD] = ZKR__DO_GET_AHEAD,
    [ZKR__DEED_GET_BEFORE] = ZKR__DO_GET_BEFORE,
    [ZKR__DEED_PROVE] = ZKR__DO_PROVE,
    [ZKR__DEED_DOWNGRADE] = ZKR__DO_DOWNGRADE,
    [ZKR__DEED_RESTORE] = ZKR__DO_RESTORE,
    [ZKR__DEED_HAND_OVER] = ZKR__DO_HAND_OVER,
    [ZKR__DEED_REMOVE] = ZKR__DO_REMOVE,
    [ZKR__DEED_PASS_ON] = ZKR__DO_HAND_OVER,
    [ZKR__DEED_STEP_ASIDE] = ZKR__DO_STEP_ASIDE,
    [ZKR__DEED_LET_LOOK] = ZKR__DO_LET_LOOK,
    [ZKR__DEED_RETRY] = ZKR__DO_RETRY,
    [ZKR__DEED_PACE] = ZKR__DO_PACE,
    [ZKR__DEED_LOOK_LATER] = ZKR__DO_LOOK_LATER,
    [ZKR__DEED_QUIET] = ZKR__DO_QUIET,
    [ZKR__DEED_LINE_UP] = ZKR__DO_LINE_UP,
    [ZKR__DEED_COUNT_LOSS] = ZKR__DO_COUNT_LOSS,
    [ZKR__DEED_NOTIFY] = ZKR__DO_NOTIFY,
    [ZKR__DEED_TELL_REVOCATION] = ZKR__DO_TELL_REVOCATION,
};

unsigned zkr__deed_action(enum zkr__deed deed)
{
    return actions[deed];
}

enum zkr__deed zkr__deed_next(unsigned todo, unsigned *at)
{
    unsigned deed = todo != 0 ? *at : ZKR__DEEDS;
    while (deed < ZKR__DEEDS && !(todo & actions[deed])) {
        deed++;
    }
    *at = deed + 1;
    return (enum zkr__deed)deed;
}

enum zkr__asked zkr__deed_asks(enum zkr__deed deed)
{
    static const enum zkr__asked requests[ZKR__DEEDS] = {
        [ZKR__DEED_CREATE] = ZKR__ASKED_CREATE,
        [ZKR__DEED_FIND] = ZKR__ASKED_LIST,
        [ZKR__DEED_GET_OWN] = ZKR__ASKED_OWN,
        [ZKR__DEED_ASK_OWNER] = ZKR__ASKED_OWNER,
        [ZKR__DEED_LIST] = ZKR__ASKED_LIST,
        [ZKR__DEED_CHECK_OWN] = ZKR__ASKED_CHECK,
        [ZKR__DEED_GET_AHEAD] = ZKR__ASKED_AHEAD,
        [ZKR__DEED_GET_BEFORE] = ZKR__ASKED_BEFORE,
        [ZKR__DEED_PROVE] = ZKR__ASKED_PROVE,
        [ZKR__DEED_DOWNGRADE] = ZKR__ASKED_DOWNGRADE,
        [ZKR__DEED_RESTORE] = ZKR__ASKED_RESTORE,
        [ZKR__DEED_REMOVE] = ZKR__ASKED_REMOVE,
    };
    return requests[deed];
}

enum zkr__event_kind zkr__deed_tells(enum zkr__deed deed)
{
    return deed == ZKR__DEED_HAND_OVER    ? ZKR__EV_AHEAD_RELEASED
           : deed == ZKR__DEED_STEP_ASIDE ? ZKR__EV_AHEAD_GONE
                                          : ZKR__EV_AHEAD_WRITES;
}

/* A hold by a kept node notifies nobody, and neither does a hold whose delete was not sent (news.h). */
bool zkr__claim_may_pass_on(const struct zkr__claim_state *k)
{
    bool sent = k->phase == ZKR__REMOVING || k->phase == ZKR__GONE;
    return sent && k->holds == 1;
}

unsigned zkr__claim_forgets(const struct zkr__claim_state *k)
{
    bool gone = k->phase == ZKR__GONE;
    bool found = zkr__claim_stage(k) != ZKR__FINDING;
    unsigned forgets = k->phase != ZKR__PARKED ? ZKR__FORGET_AHEAD : 0;
    forgets |= gone || !found || zkr__claim_has_none(k) ? ZKR__FORGET_NODE : 0;
    forgets |= !zkr__claim_awaits_list(k) ? ZKR__FORGET_LIST : 0;
    forgets |= !found ? ZKR__FORGET_CACHE : 0;
    return forgets | (gone ? ZKR__FORGET_TIMERS : 0);
}

/* --- answers --- */

enum zkr__event_kind zkr__asked_event(enum zkr__asked asked)
{
    static const enum zkr__event_kind kinds[] = {
        [ZKR__ASKED_CREATE] = ZKR__EV_CREATED,
        [ZKR__ASKED_LIST] = ZKR__EV_LISTED,
        [ZKR__ASKED_OWN] = ZKR__EV_GOT_OWN,
        [ZKR__ASKED_AHEAD] = ZKR__EV_GOT_AHEAD,
        [ZKR__ASKED_PROVE] = ZKR__EV_PROVED,
        [ZKR__ASKED_REMOVE] = ZKR__EV_REMOVED,
        [ZKR__ASKED_DOWNGRADE] = ZKR__EV_DOWNGRADED,
        [ZKR__ASKED_RESTORE] = ZKR__EV_RESTORED,
        [ZKR__ASKED_OWNER] = ZKR__EV_GOT_OWNER,
        [ZKR__ASKED_BEFORE] = ZKR__EV_GOT_BEFORE,
        [ZKR__ASKED_CHECK] = ZKR__EV_GOT_OWN,
    };
    return kinds[asked];
}

/* --- a wait --- */

/* Returns how far the claim looks ahead of the node for which it waits. */
static enum zkr__look_ahead look_ahead(const struct zkr__verdict *verdict,
                                       const struct zkr__standing *s)
{
    return verdict->then == ZKR__THEN_OURS              ? ZKR__BEHIND_FIRST
           : !s->pays || verdict->before == ZKR__NOBODY ? ZKR__LOOKS_NOT
           : verdict->last                              ? ZKR__BEHIND_TWO
                                                        : ZKR__BEHIND_MORE;
}

void zkr__plan_wait(struct zkr__claim_event *e,
                    const struct zkr__claim_state *k,
                    const struct zkr__verdict *verdict,
                    const struct zkr__children *children,
                    const struct zkr__standing *s)
{
    e->then = verdict->then;
    if (verdict->watch == ZKR__ALL_CHILDREN) {
        e->wait = ZKR__WAIT_CHILDREN;
        return;
    }
    /*
     * A node ahead of a holder comes from a client that chooses its numbers. Only a list shows whether that node
     * blocks.
     */
    bool intruded = s->neighbour && s->held && verdict->watch > 0;
    if (verdict->then == ZKR__THEN_OURS_IF_HELD && intruded) {
        e->then = ZKR__THEN_LOOK;
    }
    e->same = s->same;
    e->ahead = children->list[verdict->watch].sequence;
    e->wait = s->neighbour ? ZKR__WAIT_NEIGHBOUR : ZKR__WAIT_NODE;
    e->near = s->near && !s->neighbour;
    bool looks = s->known && !s->neighbour && s->may_look && !k->member;
    e->look = looks ? look_ahead(verdict, s) : ZKR__LOOKS_NOT;
}
