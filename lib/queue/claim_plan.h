/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides what happens between a step of a claim (claim_state.h) and its requests:
 * - which deeds follow from the actions of a step, and in which order
 * - what the claim forgets after the step
 * - how the claim waits, given the verdict of a rule
 * - which event an answer is
 *
 * The library carries out the decisions in claim_run.c and claim_io.c, and test/proof in models of ZooKeeper. Pure.
 */
#ifndef ZKR_QUEUE_CLAIM_PLAN_H
#define ZKR_QUEUE_CLAIM_PLAN_H

#include <stddef.h>

#include "queue/asked.h"
#include "queue/claim_state.h"

/* --- after a step --- */

/*
 * A deed carries out an action of a step. Deeds are done in the order of this enum. DO_HAND_OVER has two deeds, and
 * each other action has one.
 */
enum zkr__deed {
    /* Requests. */
    ZKR__DEED_PARENTS,
    /* Create our node, and list right behind the create, unless the number of the node will probably be enough. */
    ZKR__DEED_CREATE,
    ZKR__DEED_FIND, /* write, and list right behind the write */
    ZKR__DEED_GET_OWN,
    ZKR__DEED_ASK_OWNER,
    ZKR__DEED_LIST,
    ZKR__DEED_CHECK_OWN,
    ZKR__DEED_GET_AHEAD,
    ZKR__DEED_GET_BEFORE,
    ZKR__DEED_PROVE,
    ZKR__DEED_DOWNGRADE,
    ZKR__DEED_RESTORE,
    /* Before DEED_REMOVE, so that the next claim's requests go out before the delete. */
    ZKR__DEED_HAND_OVER,
    ZKR__DEED_REMOVE, /* a request, too */
    /* Second deed of DO_HAND_OVER: notify the next process (news.h) after the delete was sent. */
    ZKR__DEED_PASS_ON,
    ZKR__DEED_STEP_ASIDE,
    ZKR__DEED_LET_LOOK,
    /* Timers. */
    ZKR__DEED_RETRY,
    ZKR__DEED_PACE,
    ZKR__DEED_LOOK_LATER,
    ZKR__DEED_QUIET,
    ZKR__DEED_LINE_UP,
    ZKR__DEED_COUNT_LOSS,
    ZKR__DEED_NOTIFY,
    ZKR__DEED_TELL_REVOCATION,
    ZKR__DEEDS
};

/*
 * Returns the next deed for the actions @todo, or ZKR__DEEDS if no deed is left. *@at is the position in the iteration,
 * and starts as 0.
 */
enum zkr__deed zkr__deed_next(unsigned todo, unsigned *at);
/* Returns the action of the deed. */
unsigned zkr__deed_action(enum zkr__deed deed);
/*
 * Returns the request of a deed other than ZKR__DEED_PARENTS. Of the requests of ZKR__DEED_FIND, it is the list, for
 * which the claim waits.
 */
enum zkr__asked zkr__deed_asks(enum zkr__deed deed);
/* Returns the event that HAND_OVER, STEP_ASIDE or LET_LOOK delivers to the claims behind us. */
enum zkr__event_kind zkr__deed_tells(enum zkr__deed deed);

/* Returns whether the claim may notify the next process (DEED_PASS_ON). The caller also checks the lease. */
bool zkr__claim_may_pass_on(const struct zkr__claim_state *k);

/* Returns whether DEED_GET_OWN reads the WRIT node, because its data changed during a downgrade. */
static inline bool zkr__claim_reads_writer(const struct zkr__claim_state *k)
{
    return k->downgrade == ZKR__DOWNGRADE_READS;
}

/* What a claim forgets after all deeds. */
enum zkr__forget {
    ZKR__FORGET_AHEAD = 1 << 0, /* the node ahead, and the node before it */
    ZKR__FORGET_NODE = 1 << 1,  /* the path of our node */
    ZKR__FORGET_LIST = 1 << 2,  /* the list that the claim waits for */
    ZKR__FORGET_CACHE =
        1 << 3, /* the known children of its directory (children_cache.h) */
    ZKR__FORGET_TIMERS = 1 << 4
};

/* Returns a set of zkr__forget. */
unsigned zkr__claim_forgets(const struct zkr__claim_state *k);

/* Returns true if requests that are sent from now on will not see our node, because its delete precedes them. */
static inline bool zkr__claim_is_going(const struct zkr__claim_state *k)
{
    return zkr__claim_stage(k) == ZKR__REMOVING;
}

/* --- answers --- */

enum zkr__event_kind zkr__asked_event(enum zkr__asked asked);

/* --- a wait --- */

/* Returns whether the claim must wait. If so, zkr__plan_wait() completes @e. */
static inline bool zkr__event_waits(const struct zkr__claim_event *e)
{
    return !e->granted && !e->once && !e->full && !e->foreign;
}

/* Returns whether a claim that looks ahead in this way watches the node before the node ahead. */
static inline bool zkr__look_watches(enum zkr__look_ahead look)
{
    return look == ZKR__BEHIND_MORE || look == ZKR__BEHIND_TWO;
}

/* The facts that decide how a claim waits behind the child that the rule chose. */
struct zkr__standing {
    bool known;     /* there was enough memory to record the wait */
    bool same;      /* the claim already waited behind the child */
    bool neighbour; /* the child is the node of a claim of this client */
    bool held;      /* neighbour: that claim holds */
    bool near;      /* a guess: the child's process can send news */
    bool may_look;  /* the claim may look ahead */
    bool pays;      /* looking ahead saves more time than it costs */
};

/*
 * Fill in how a claim waits: `wait`, `then`, `ahead`, `same`, `near` and `look` of @e. If zkr__look_watches(e->look),
 * the caller watches the node before the node ahead. If it cannot, it sets e->look to ZKR__LOOKS_NOT.
 */
void zkr__plan_wait(struct zkr__claim_event *e,
                    const struct zkr__claim_state *k,
                    const struct zkr__verdict *verdict,
                    const struct zkr__children *children,
                    const struct zkr__standing *s);

#endif
