/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/claim_settled.h"

#include "base/fault.h"

/* --- the claim: its place --- */

static const char *list_fault(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__directory *d = claim->directory;
    if (claim->list == ZKR__NO_LIST) {
        return NULL;
    }
    ZKR__FAULT_IF(!zkr__claim_awaits_list(&claim->k),
                  "a list that the claim does not await");
    ZKR__FAULT_IF(claim->list == ZKR__THIS_LIST && !(d->askers && d->listing),
                  "awaits a list that was not requested");
    ZKR__FAULT_IF(claim->list == ZKR__NEXT_LIST && !d->later,
                  "awaits a later list that is not planned");
    return NULL;
}

static const char *place_fault(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__claim_state *k = &claim->k;
    bool known = claim->by_node.path != NULL;
    bool path = claim->ahead_watcher.path != NULL;
    bool before = claim->before != NULL;
    ZKR__FAULT_IF(known != (claim->ours_prev != NULL),
                  "found only by its path, or only in its directory");
    ZKR__FAULT_IF(known && zkr__claim_has_none(k), "knows a node that was not created");
    ZKR__FAULT_IF((k->phase == ZKR__PARKED) != (claim->ahead || path),
                  "parked but behind nothing, or the reverse");
    ZKR__FAULT_IF(claim->ahead && path, "behind two others");
    ZKR__FAULT_IF(before != zkr__claim_watches_before(k),
                  "looks ahead without a watch, or the reverse");
    return NULL;
}

/* Check that the claim's node belongs to the current session. */
static const char *node_fault(const struct zkr__claim *claim) ZKR__LOCKED
{
    const enum zkr__phase stage = zkr__claim_stage(&claim->k);
    if ((stage >= ZKR__LISTING && stage <= ZKR__HELD) || stage == ZKR__DOUBTED) {
        ZKR__FAULT_IF(claim->epoch != claim->engine->c->epoch,
                      "a node of another session");
        ZKR__FAULT_IF(claim->czxid <= 0, "a node without a token");
    }
    return NULL;
}

/* --- the claim: the line in which it waits --- */

static const char *line_fault(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__directory *d = claim->directory;
    const struct zkr__engine *engine = claim->engine;
    bool paused = claim->k.phase == ZKR__PAUSED && claim->k.next == ZKR__CREATING;
    ZKR__FAULT_IF(claim->admitted != (claim->k.phase == ZKR__CREATING),
                  "creates a node without admission, or the reverse");
    ZKR__FAULT_IF(claim->admitted && d->joining == 0,
                  "creates a node but is not counted");
    ZKR__FAULT_IF(d->joining > engine->joining,
                  "the directory creates more nodes than the engine");
    ZKR__FAULT_IF(claim->in_line && claim->awaits_admission, "waits in two lines");
    ZKR__FAULT_IF(claim->in_line && !(paused && d->keep && d->keep->line),
                  "waits for a kept node that does not exist");
    ZKR__FAULT_IF(claim->awaits_admission && !(paused && engine->line),
                  "waits for an admission without a line");
    return NULL;
}

static const char *keep_fault(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__keep *keep = claim->directory->keep;
    if (!keep) {
        return claim->stands ? "counted in a directory without a kept node" : NULL;
    }
    ZKR__FAULT_IF(keep->standing < (int)claim->stands,
                  "waits for a kept node but is not counted");
    ZKR__FAULT_IF(keep->standing == 0 && (keep->until != 0 || keep->over),
                  "a kept node without claims");
    return NULL;
}

/* --- its memory --- */

static const char *memory_fault(const struct zkr__claim *claim) ZKR__LOCKED
{
    bool gone = claim->k.phase == ZKR__GONE;
    ZKR__FAULT_IF(claim->refs <= 0 || claim->directory->refs <= 0,
                  "without a reference");
    ZKR__FAULT_IF(gone != (claim->bytes == 0), "gone but takes room, or the reverse");
    ZKR__FAULT_IF(claim->bytes > claim->engine->node_bytes,
                  "less room than its node takes");
    ZKR__FAULT_IF(gone && claim->timer.at != 0, "gone with a timer set");
    ZKR__FAULT_IF(gone == claim->live, "gone but alive, or the reverse");
    return NULL;
}

/* --- the counts --- */

/*
 * Each claim that is not GONE is counted once, as waiting, as held, or as a pending delete. A kept node counts as a
 * pending delete. Every other counter counts a subset of these claims, so it is not higher.
 */
static const char *count_fault(const struct zkr__engine *engine) ZKR__LOCKED
{
    const zkr_client *c = engine->c;
    const zkr_stats *n = &c->stats;
    int64_t unheld = n->waiting + n->pending_deletes;
    ZKR__FAULT_IF(n->waiting < 0 || n->held < 0 || n->pending_deletes < 0,
                  "a negative count of claims");
    ZKR__FAULT_IF(n->held > 0 && !engine->held, "a count of holds without a hold");
    ZKR__FAULT_IF(engine->joining < 0 || engine->joining > unheld,
                  "a wrong count of nodes being created");
    ZKR__FAULT_IF(c->prepared < 0 || c->prepared > unheld,
                  "a wrong count of claims that keep the lease");
    ZKR__FAULT_IF(c->refused_deletes < 0 || c->refused_deletes > n->pending_deletes,
                  "a wrong count of refused deletes");
    return NULL;
}

const char *zkr__claim_settled(const struct zkr__claim *claim)
{
    const char *fault = place_fault(claim);
    fault = fault ? fault : list_fault(claim);
    fault = fault ? fault : node_fault(claim);
    fault = fault ? fault : line_fault(claim);
    fault = fault ? fault : keep_fault(claim);
    fault = fault ? fault : memory_fault(claim);
    return fault ? fault : count_fault(claim->engine);
}
