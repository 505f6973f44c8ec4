/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/joins.h"

static bool has_room(const struct zkr__engine *engine) ZKR__LOCKED
{
    return engine->joining < engine->joining_max;
}

bool zkr__joins_crowded(const struct zkr__claim *claim)
{
    return !claim->k.member && claim->join != ZKR__JOINS && !has_room(claim->engine);
}

static void leave(struct zkr__claim *claim) ZKR__LOCKED
{
    if (claim->join == ZKR__IN_LINE) {
        DL_DELETE2(claim->engine->line, claim, join_prev, join_next);
    }
    claim->engine->joining -= claim->join == ZKR__JOINS;
    claim->join = ZKR__NOT_JOINING;
}

static void join(struct zkr__claim *claim) ZKR__LOCKED
{
    leave(claim);
    claim->join = ZKR__JOINS;
    claim->engine->joining++;
}

void zkr__joins_line_up(struct zkr__claim *claim)
{
    if (claim->join != ZKR__IN_LINE) {
        leave(claim);
        claim->join = ZKR__IN_LINE;
        DL_APPEND2(claim->engine->line, claim, join_prev, join_next);
    }
}

void zkr__joins_settle(struct zkr__claim *claim)
{
    const struct zkr__claim_state *k = &claim->k;
    bool joins = k->phase == ZKR__CREATING && !k->member;
    if (joins && claim->join != ZKR__JOINS) {
        join(claim);
    } else if (!joins && (claim->join == ZKR__JOINS || k->phase != ZKR__PAUSED)) {
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
