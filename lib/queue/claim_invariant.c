/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/claim_invariant.h"

#define SET_OF(phase) (1U << (unsigned)(phase))

enum {
    /* A claim may pause before these. */
    PAUSES = SET_OF(ZKR__CREATING) | SET_OF(ZKR__FINDING) | SET_OF(ZKR__ADOPTING) |
             SET_OF(ZKR__LISTING) | SET_OF(ZKR__PROVING) | SET_OF(ZKR__DOUBTED) |
             SET_OF(ZKR__REMOVING),
    /* Without an owner, a claim only learns whether there is a node, and deletes it. */
    LEAVES = SET_OF(ZKR__CREATING) | SET_OF(ZKR__FINDING) | SET_OF(ZKR__REMOVING) |
             SET_OF(ZKR__GONE),
    /* The claim knows its node. */
    HAS_NODE = SET_OF(ZKR__ADOPTING) | SET_OF(ZKR__LISTING) | SET_OF(ZKR__PARKED) |
               SET_OF(ZKR__READY) | SET_OF(ZKR__CONFIRMING) | SET_OF(ZKR__PROVING) |
               SET_OF(ZKR__HELD) | SET_OF(ZKR__DOUBTED),
    /* From here on nothing was asked about the node yet. */
    NEW = SET_OF(ZKR__LOOKING) | SET_OF(ZKR__CREATING)
};

static bool is_in(enum zkr__phase phase, unsigned set)
{
    return (SET_OF(phase) & set) != 0;
}

/* --- a state --- */

static const char *hold_fault(const struct zkr__claim_state *k)
{
    return k->holds == 0        ? "held, and never granted"
           : k->leaving         ? "held by nobody"
           : k->failures != 0   ? "held, and failing"
           : k->failure != 0    ? "held, and failed"
           : k->lost != 0       ? "held, and lost"
           : k->revocation != 0 ? "held, and a request is not told"
           : k->writing == 0 && k->departure != ZKR__STAYS ? "a release without a write"
                                                           : NULL;
}

/* What a new node must not have from the node before. */
static const char *create_fault(const struct zkr__claim_state *k)
{
    return k->own != ZKR__OWN_NONE              ? "a new node is watched"
           : k->metadata != ZKR__METADATA_DUE   ? "a new node has metadata"
           : k->version != 0                    ? "a new node has a version"
           : k->revocation != 0 || k->told != 0 ? "a new node has a request"
           : k->ahead != INT64_MAX || k->standstill != 0
               ? "a new node waits behind another"
               : NULL;
}

static const char *park_fault(const struct zkr__claim_state *k)
{
    bool prepared = k->look == ZKR__PREPARED || k->look == ZKR__BEHIND_FIRST;
    return !k->waited                               ? "parked, and has not waited"
           : k->member && k->look != ZKR__LOOKS_NOT ? "a member looks ahead"
           : prepared && k->then != ZKR__THEN_OURS  ? "prepared for nothing"
           : k->standstill < 0                      ? "a negative standstill"
                                                    : NULL;
}

static const char *phase_fault(const struct zkr__claim_state *k)
{
    switch (k->phase) {
    case ZKR__PAUSED:
        return is_in(k->next, PAUSES) ? NULL : "pauses before nothing";
    case ZKR__CREATING:
        return create_fault(k);
    case ZKR__PARKED:
        return park_fault(k);
    case ZKR__READY:
        return k->member ? NULL : "ready for nobody";
    case ZKR__ADOPTING:
    case ZKR__CONFIRMING:
        return k->own == ZKR__OWN_ASKED ? NULL : "awaits an answer, and has not asked";
    case ZKR__HELD:
        return hold_fault(k);
    case ZKR__LOOKING:
    case ZKR__FINDING:
    case ZKR__LISTING:
    case ZKR__PROVING:
    case ZKR__DOUBTED:
    case ZKR__REMOVING:
    case ZKR__GONE:
        return NULL;
    }
    return "in no phase";
}

const char *zkr__claim_invariant(const struct zkr__claim_state *k)
{
    const enum zkr__phase stage = zkr__claim_stage(k);
    bool ends = is_in(stage, LEAVES);
    const char *fault = phase_fault(k);
    return fault                             ? fault
           : k->leaving && !ends             ? "left, and goes on"
           : k->failure != 0 && !ends        ? "failed, and goes on"
           : k->failure != 0 && k->lost != 0 ? "failed and lost"
           : k->lost != 0 && !ends           ? "lost, and goes on"
           : k->lost != 0 && k->holds == 0   ? "lost what was never held"
           : k->downgrade != ZKR__SETTLED && k->phase != ZKR__HELD
               ? "downgraded, and not held"
           : stage == ZKR__DOUBTED && (!k->keeps_place || k->holds == 0)
               ? "doubted, and never held"
           : k->place_lost && (!k->member || k->phase != ZKR__GONE)
               ? "a place lost by nobody"
           : k->kept && (k->member || !(ends || k->phase == ZKR__HELD))
               ? "kept, and not held"
           : k->refused && !(k->leaving && ends) ? "a delete refused to nobody"
           : k->version < -1                     ? "a negative version"
           : k->failures < 0 || k->refusals < 0  ? "a negative count"
                                                 : NULL;
}

/* --- a step --- */

/* After the end of a node, answers about it must not count. */
static bool forgets(const struct zkr__claim_state *before,
                    const struct zkr__claim_state *after)
{
    bool had = is_in(zkr__claim_stage(before), HAS_NODE);
    return had && !is_in(zkr__claim_stage(after), HAS_NODE);
}

const char *zkr__claim_step_invariant(const struct zkr__claim_state *before,
                                      const struct zkr__claim_event *e,
                                      const struct zkr__claim_state *after)
{
    bool held = before->phase != ZKR__HELD && after->phase == ZKR__HELD;
    bool taken = e->kind == ZKR__EV_TAKEN && before->kept;
    bool proved = e->kind == ZKR__EV_PROVED;
    bool parks = before->phase != ZKR__PARKED && after->phase == ZKR__PARKED;
    return after->holds != before->holds + (held || taken) ? "holds are miscounted"
           : held && !(proved ? e->sure : e->ample)        ? "held without a lease"
           : held && after->member && !proved && e->kind != ZKR__EV_ALL_READY
               ? "held before the other members"
           : forgets(before, after) && after->round == before->round
               ? "answers about a node of before still count"
           : before->leaving && !after->leaving                        ? "came back"
           : before->phase == ZKR__GONE && after->phase != ZKR__GONE   ? "came back"
           : before->failure != 0 && after->failure != before->failure ? "failed twice"
           : parks && after->saw_ahead ? "has seen the node ahead before it asked"
           : e->kind == ZKR__EV_SESSION_OVER &&
                   (is_in(zkr__claim_stage(after), HAS_NODE) ||
                    after->own != ZKR__OWN_NONE)
               ? "a node outlives its session"
           : e->kind == ZKR__EV_WRITTEN && e->deletes && after->departure != ZKR__STAYS
               ? "departs for ever"
           : e->kind == ZKR__EV_WRITTEN && after->writing + 1 != before->writing
               ? "writes are miscounted"
               : NULL;
}
