/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/claim_invariant.h"

#include "base/fault.h"

#define SET_OF(phase) (1U << (unsigned)(phase))

enum {
    /* The phases that may follow a pause. */
    PAUSES = SET_OF(ZKR__CREATING) | SET_OF(ZKR__FINDING) | SET_OF(ZKR__ADOPTING) |
             SET_OF(ZKR__LISTING) | SET_OF(ZKR__PROVING) | SET_OF(ZKR__DOUBTED) |
             SET_OF(ZKR__REMOVING),
    /* The phases of a claim that is leaving. It finds out whether its node exists, and deletes the node. */
    LEAVES = SET_OF(ZKR__CREATING) | SET_OF(ZKR__FINDING) | SET_OF(ZKR__REMOVING) |
             SET_OF(ZKR__GONE),
    /* The phases in which the claim knows its node. */
    HAS_NODE = SET_OF(ZKR__ADOPTING) | SET_OF(ZKR__LISTING) | SET_OF(ZKR__PARKED) |
               SET_OF(ZKR__READY) | SET_OF(ZKR__CONFIRMING) | SET_OF(ZKR__PROVING) |
               SET_OF(ZKR__HELD) | SET_OF(ZKR__DOUBTED)
};

static bool is_in(enum zkr__phase phase, unsigned set)
{
    return (SET_OF(phase) & set) != 0;
}

/* --- a state --- */

static const char *hold_fault(const struct zkr__claim_state *k)
{
    ZKR__FAULT_IF(k->holds == 0, "held but never granted");
    ZKR__FAULT_IF(k->leaving, "held but leaving");
    ZKR__FAULT_IF(k->failures != 0, "held but failing");
    ZKR__FAULT_IF(k->failure != 0 || k->lost != 0, "held but failed or lost");
    ZKR__FAULT_IF(k->revocation != 0, "held with a request that was not reported");
    ZKR__FAULT_IF(k->departure != ZKR__STAYS && k->writing == 0,
                  "a release without a write");
    return NULL;
}

/* A new node must not inherit anything from the node before it. */
static const char *create_fault(const struct zkr__claim_state *k)
{
    ZKR__FAULT_IF(k->own != ZKR__OWN_NONE, "a new node is watched");
    ZKR__FAULT_IF(k->metadata != ZKR__METADATA_DUE, "a new node has metadata");
    ZKR__FAULT_IF(k->version != 0, "a new node has a version");
    ZKR__FAULT_IF(k->revocation != 0 || k->told != 0, "a new node has a request");
    ZKR__FAULT_IF(k->ahead != INT64_MAX || k->standstill != 0,
                  "a new node waits behind another");
    return NULL;
}

static const char *park_fault(const struct zkr__claim_state *k)
{
    bool prepared = k->look == ZKR__PREPARED || k->look == ZKR__BEHIND_FIRST;
    ZKR__FAULT_IF(!k->waited, "parked without waiting");
    ZKR__FAULT_IF(k->member && k->look != ZKR__LOOKS_NOT, "a member looks ahead");
    ZKR__FAULT_IF(prepared && k->then != ZKR__THEN_OURS, "prepared without being next");
    ZKR__FAULT_IF(k->standstill < 0, "a negative standstill");
    return NULL;
}

static const char *phase_fault(const struct zkr__claim_state *k)
{
    switch (k->phase) {
    case ZKR__PAUSED:
        return is_in(k->next, PAUSES) ? NULL : "pauses without a next phase";
    case ZKR__CREATING:
        return create_fault(k);
    case ZKR__PARKED:
        return park_fault(k);
    case ZKR__READY:
        return k->member ? NULL : "ready but not a member";
    case ZKR__ADOPTING:
    case ZKR__CONFIRMING:
        return k->own == ZKR__OWN_ASKED ? NULL : "awaits an answer without a request";
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
    return "in an unknown phase";
}

static const char *outcome_fault(const struct zkr__claim_state *k)
{
    bool ends = is_in(zkr__claim_stage(k), LEAVES);
    ZKR__FAULT_IF(k->leaving && !ends, "left but continues");
    ZKR__FAULT_IF(k->failure != 0 && !ends, "failed but continues");
    ZKR__FAULT_IF(k->lost != 0 && !ends, "lost but continues");
    ZKR__FAULT_IF(k->failure != 0 && k->lost != 0, "failed and lost");
    ZKR__FAULT_IF(k->lost != 0 && k->holds == 0, "lost but never held");
    ZKR__FAULT_IF(k->place_lost && !(k->member && k->phase == ZKR__GONE),
                  "a lost place, but not of a member that has gone");
    ZKR__FAULT_IF(k->kept && (k->member || !(ends || k->phase == ZKR__HELD)),
                  "kept but not held");
    ZKR__FAULT_IF(k->refused && !(k->leaving && ends),
                  "a refused delete without a departure");
    return NULL;
}

const char *zkr__claim_invariant(const struct zkr__claim_state *k)
{
    bool doubted = zkr__claim_stage(k) == ZKR__DOUBTED;
    bool lists = k->phase == ZKR__LISTING;
    ZKR__FAULT_IF(k->own == ZKR__OWN_UNPROVED && is_in(k->phase, HAS_NODE) && !lists,
                  "continues with a node that is not proved to be its own");
    ZKR__FAULT_IF(k->downgrade != ZKR__SETTLED && k->phase != ZKR__HELD,
                  "downgraded but not held");
    ZKR__FAULT_IF(k->downgrade != ZKR__SETTLED && k->own == ZKR__OWN_SET,
                  "downgraded but watched");
    ZKR__FAULT_IF(doubted && !(k->keeps_place && k->holds > 0),
                  "in doubt but never held");
    ZKR__FAULT_IF(k->version < -1, "a negative version");
    ZKR__FAULT_IF(k->failures < 0 || k->refusals < 0, "a negative count");
    const char *fault = outcome_fault(k);
    return fault ? fault : phase_fault(k);
}

/* --- a step --- */

/* Returns whether the claim loses its node in this step. */
static bool parts(const struct zkr__claim_state *before,
                  const struct zkr__claim_state *after)
{
    return is_in(zkr__claim_stage(before), HAS_NODE) &&
           !is_in(zkr__claim_stage(after), HAS_NODE);
}

static const char *grant_fault(const struct zkr__claim_state *before,
                               const struct zkr__claim_event *e,
                               const struct zkr__claim_state *after)
{
    bool held = before->phase != ZKR__HELD && after->phase == ZKR__HELD;
    bool taken = e->kind == ZKR__EV_TAKEN && before->kept;
    bool proved = e->kind == ZKR__EV_PROVED;
    ZKR__FAULT_IF(after->holds != before->holds + (held || taken),
                  "holds are miscounted");
    ZKR__FAULT_IF(held && !(proved ? e->sure : e->ample), "held without a lease");
    ZKR__FAULT_IF(held && after->member && !proved && e->kind != ZKR__EV_ALL_READY,
                  "held before the other members");
    return NULL;
}

static const char *event_fault(const struct zkr__claim_state *before,
                               const struct zkr__claim_event *e,
                               const struct zkr__claim_state *after)
{
    bool has_node = is_in(zkr__claim_stage(after), HAS_NODE);
    if (e->kind == ZKR__EV_SESSION_OVER) {
        ZKR__FAULT_IF(has_node, "a node outlives its session");
        ZKR__FAULT_IF(after->own != ZKR__OWN_NONE, "a watch outlives its session");
    }
    if (e->kind == ZKR__EV_WRITTEN) {
        ZKR__FAULT_IF(after->writing + 1 != before->writing, "writes are miscounted");
        ZKR__FAULT_IF(e->deletes && after->departure != ZKR__STAYS,
                      "departs without end");
    }
    return NULL;
}

const char *zkr__claim_step_invariant(const struct zkr__claim_state *before,
                                      const struct zkr__claim_event *e,
                                      const struct zkr__claim_state *after)
{
    bool parks = before->phase != ZKR__PARKED && after->phase == ZKR__PARKED;
    ZKR__FAULT_IF(before->leaving && !after->leaving, "came back");
    ZKR__FAULT_IF(before->phase == ZKR__GONE && after->phase != ZKR__GONE, "came back");
    ZKR__FAULT_IF(before->failure != 0 && after->failure != before->failure,
                  "failed twice");
    ZKR__FAULT_IF(parts(before, after) && after->round == before->round,
                  "answers about an earlier node still count");
    ZKR__FAULT_IF(parks && after->saw_ahead, "has seen a node that it did not request");
    const char *fault = grant_fault(before, e, after);
    return fault ? fault : event_fault(before, e, after);
}
