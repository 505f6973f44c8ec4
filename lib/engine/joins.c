/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/joins.h"

static bool has_room(const struct zkr__engine *engine) ZKR__LOCKED
{
    return engine->joining < engine->joining_max;
}

bool zkr__joins_crowded(const struct zkr__claim *claim)
{
    return !claim->k.member && !claim->joins && !has_room(claim->engine);
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

void zkr__joins_line_up(struct zkr__claim *claim)
{
    if (!claim->in_line) {
        claim->in_line = true;
        DL_APPEND2(claim->engine->line, claim, held_prev, held_next);
    }
}

void zkr__joins_settle(struct zkr__claim *claim)
{
    const struct zkr__claim_state *k = &claim->k;
    bool joins = k->phase == ZKR__CREATING && !k->member;
    if (joins && !claim->joins) {
        join(claim);
    } else if (!joins && (claim->joins || k->phase != ZKR__PAUSED)) {
        leave(claim);
    }
}

struct zkr__claim *zkr__joins_next(struct zkr__engine *engine)
{
    struct zkr__claim *first = has_room(engine) ? engine->line : NULL;
    if (first) {
        join(first);
    }
    return first;
}
