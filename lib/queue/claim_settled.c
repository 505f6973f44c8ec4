/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/claim_settled.h"

/* --- the claim: where it stands --- */

static const char *place_fault(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__claim_state *k = &claim->k;
    const struct zkr__directory *d = claim->directory;
    bool parked = k->phase == ZKR__PARKED;
    bool known = claim->by_node.path != NULL;
    bool path = claim->ahead_watcher.path != NULL;
    return known != (claim->ours_prev != NULL) ? "known by its path or in its directory"
           : known && zkr__claim_has_none(k)   ? "knows a node that was not made"
           : parked != (claim->ahead || path)  ? "parked, or behind another"
           : claim->ahead && path              ? "behind two others"
           : (claim->before != NULL) != zkr__claim_watches_before(k)
               ? "watches the node before or does not look ahead"
           : claim->list != ZKR__NO_LIST && !zkr__claim_awaits_list(k)
               ? "a list for nothing"
           : claim->list == ZKR__THIS_LIST && !(d->askers && d->listing)
               ? "awaits a list that is not on its way"
           : claim->list == ZKR__NEXT_LIST && !d->later
               ? "awaits a list that nobody wants"
               : NULL;
}

/* Our node is of the present session. */
static const char *node_fault(const struct zkr__claim *claim) ZKR__LOCKED
{
    const enum zkr__phase stage = zkr__claim_stage(&claim->k);
    bool seen = (stage >= ZKR__LISTING && stage <= ZKR__HELD) || stage == ZKR__DOUBTED;
    return seen && claim->epoch != claim->q->c->epoch ? "a node of another session"
           : seen && claim->czxid <= 0                ? "a node without a token"
                                                      : NULL;
}

/* --- the claim: what it waits for --- */

static const char *line_fault(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__directory *d = claim->directory;
    const struct zkr__engine *engine = claim->engine;
    bool waits = claim->in_line || claim->awaits_admission;
    bool creating = claim->k.phase == ZKR__CREATING;
    bool paused = claim->k.phase == ZKR__PAUSED && claim->k.next == ZKR__CREATING;
    return claim->admitted != creating                 ? "makes a node, or is admitted"
           : waits && !paused                          ? "stands in line for nothing"
           : claim->in_line && claim->awaits_admission ? "stands in two lines"
           : claim->in_line && !(d->keep && d->keep->line) ? "stands in no line"
           : claim->awaits_admission && !engine->line      ? "stands in no line"
           : claim->admitted && d->joining == 0 ? "makes a node, and is not counted"
           : d->joining > engine->joining       ? "more nodes are made here than in all"
                                                : NULL;
}

static const char *keep_fault(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__keep *keep = claim->directory->keep;
    if (!keep) {
        return claim->stands ? "stands where nothing is kept" : NULL;
    }
    return claim->stands && keep->standing <= 0 ? "stands, and is not counted"
           : keep->standing == 0 && (keep->until != 0 || keep->over)
               ? "keeps a node of nobody"
           : keep->standing < 0 ? "fewer than none stand here"
                                : NULL;
}

/* --- its memory --- */

static const char *memory_fault(const struct zkr__claim *claim) ZKR__LOCKED
{
    bool gone = claim->k.phase == ZKR__GONE;
    return claim->refs <= 0              ? "without a reference"
           : claim->directory->refs <= 0 ? "a directory without a reference"
           : gone != (claim->bytes == 0) ? "the room of its node"
           : claim->bytes > claim->engine->node_bytes ? "less room than its node takes"
           : gone && claim->timer.at != 0             ? "gone, and a timer is set"
           : gone && claim->live                      ? "gone, and alive"
                                                      : NULL;
}

/* --- what is counted --- */

/*
 * Each claim that is not gone counts once: it waits, is held, or is a pending delete, as is a node that is only kept. So
 * those that are counted for something else are no more than these.
 */
static const char *count_fault(const struct zkr__engine *engine) ZKR__LOCKED
{
    const zkr_client *c = engine->c;
    const zkr_stats *n = &c->stats;
    int64_t pending = n->pending_deletes;
    return n->waiting < 0 || n->held < 0 || pending < 0 ? "fewer claims than none"
           : n->held > 0 && !engine->held               ? "held, and nobody holds"
           : engine->joining < 0 || engine->joining > n->waiting + pending
               ? "the count of nodes being made"
           : c->prepared < 0 || c->prepared > n->waiting + pending
               ? "the count of claims that keep the lease"
           : c->refused_deletes < 0 || c->refused_deletes > pending
               ? "the count of refused deletes"
               : NULL;
}

const char *zkr__claim_settled(const struct zkr__claim *claim)
{
    const char *fault = place_fault(claim);
    fault = fault ? fault : node_fault(claim);
    fault = fault ? fault : line_fault(claim);
    fault = fault ? fault : keep_fault(claim);
    fault = fault ? fault : memory_fault(claim);
    return fault ? fault : count_fault(claim->engine);
}
