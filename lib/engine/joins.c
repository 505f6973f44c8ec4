/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/joins.h"

#include "engine/batch.h"

/* How many nodes are to be made with that of the claim; 0: the others are there, or under way. */
static int count_due(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__batch *batch = claim->batch; /* NULL: alone */
    int due = !batch;
    for (uint32_t i = 0; batch && i < batch->count; i++) {
        const struct zkr__claim *member = batch->claims[i];
        if (member && (member->joins || !zkr__claim_has_none(&member->k))) {
            return 0;
        }
        due += member != NULL;
    }
    return due;
}

static bool has_room(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__engine *engine = claim->engine;
    int due = count_due(claim);
    bool first = !engine->line || engine->line == claim;
    bool fits = engine->joining == 0 || engine->joining + due <= engine->joining_max;
    return due == 0 || (first && fits);
}

bool zkr__joins_crowded(const struct zkr__claim *claim)
{
    return !claim->joins && !has_room(claim);
}

static void leave(struct zkr__claim *claim) ZKR__LOCKED
{
    if (claim->in_line) {
        DL_DELETE2(claim->engine->line, claim, held_prev, held_next);
    }
    claim->engine->joining -= claim->joins;
    claim->in_line = claim->joins = false;
}

static void join(struct zkr__claim *claim) ZKR__LOCKED
{
    leave(claim);
    claim->joins = true;
    claim->engine->joining++;
}

/* One of its group that stands in line; NULL: none. */
static struct zkr__claim *find_beside(const struct zkr__claim *claim) ZKR__LOCKED
{
    struct zkr__claim *beside = NULL;
    for (uint32_t i = 0; claim->batch && i < claim->batch->count; i++) {
        struct zkr__claim *member = claim->batch->claims[i];
        beside = member && member->in_line ? member : beside;
    }
    return beside;
}

void zkr__joins_line_up(struct zkr__claim *claim)
{
    if (claim->in_line) {
        return;
    }
    struct zkr__claim *beside = find_beside(claim);
    if (beside) {
        DL_APPEND_ELEM2(claim->engine->line, beside, claim, held_prev, held_next);
    } else {
        DL_APPEND2(claim->engine->line, claim, held_prev, held_next);
    }
    claim->in_line = true;
}

void zkr__joins_settle(struct zkr__claim *claim)
{
    const struct zkr__claim_state *k = &claim->k;
    bool joins = k->phase == ZKR__CREATING;
    if (joins && !claim->joins) {
        join(claim);
    } else if (!joins && (claim->joins || k->phase != ZKR__PAUSED)) {
        leave(claim);
    }
}

struct zkr__claim *zkr__joins_next(struct zkr__engine *engine)
{
    struct zkr__claim *first = engine->line;
    if (!first || !has_room(first)) {
        return NULL;
    }
    join(first);
    return first;
}
