/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/admission.h"

#include "queue/children_cache.h"
#include "queue/engine_state.h"
#include "queue/group.h"
#include "queue/keep.h"
#include "session/must.h"

/*
 * Returns how many nodes must be created together, including the claim's, or 0 if its group has a node or is creating
 * one.
 */
static int count_due(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__group *group = claim->group; /* NULL = no group */
    int due = !group;
    for (uint32_t i = 0; group && i < group->count; i++) {
        const struct zkr__claim *member = group->members[i];
        if (member && (member->admitted || !zkr__claim_has_none(&member->k))) {
            return 0;
        }
        due += member != NULL;
    }
    return due;
}

/*
 * Returns true if another claim or group of ours is creating a node in the directory, and neither a node of ours there
 * nor the watch on the directory proves that the directory exists.
 */
static bool is_unproved(const struct zkr__directory *d,
                        const struct zkr__group *group) ZKR__LOCKED
{
    const struct zkr__claim *newest = d->ours ? d->ours->ours_prev : NULL;
    int others = d->joining;
    for (uint32_t i = 0; group && others > 0 && i < group->count; i++) {
        const struct zkr__claim *member = group->members[i];
        others -= member && member->directory == d && member->admitted;
    }
    while (others > 0 && newest && zkr__claim_stage(&newest->k) == ZKR__REMOVING) {
        newest = newest == d->ours ? NULL : newest->ours_prev;
    }
    return others > 0 && !newest && !zkr__cache_watches(d);
}

/* Returns true if the claim must wait for proof that its directory, and those of the members created with it, exist. */
static bool awaits_proof(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__group *group = claim->group;
    const struct zkr__directory *d = claim->directory;
    bool waits = is_unproved(d, group);
    for (uint32_t i = 0; group && !waits && i < group->count; i++) {
        const struct zkr__claim *member = group->members[i];
        if (member && member->directory != d && !member->admitted &&
            zkr__claim_has_none(&member->k)) {
            d = member->directory;
            waits = is_unproved(d, group);
        }
    }
    return waits;
}

/* Returns the first claim in line that waits for room only. */
static struct zkr__claim *find_first(const struct zkr__engine *engine) ZKR__LOCKED
{
    struct zkr__claim *first = engine->line;
    while (first && awaits_proof(first)) {
        first = first->row_next;
    }
    return first;
}

static bool has_room(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__engine *engine = claim->engine;
    int due = count_due(claim);
    if (awaits_proof(claim)) {
        return false;
    }
    const struct zkr__claim *first = due == 0 ? NULL : find_first(engine);
    bool fits = engine->joining == 0 || engine->joining + due <= engine->joining_max;
    return due == 0 || (fits && (!first || first == claim));
}

bool zkr__admission_waits(const struct zkr__claim *claim)
{
    return !claim->admitted && (zkr__keep_shares(claim) || !has_room(claim));
}

void zkr__admission_leave(struct zkr__claim *claim)
{
    if (claim->awaits_admission) {
        DL_DELETE2(claim->engine->line, claim, row_prev, row_next);
    } else if (claim->in_line) {
        zkr__keep_leave_line(claim);
    }
    claim->engine->joining -= claim->admitted;
    claim->directory->joining -= claim->admitted;
    claim->awaits_admission = claim->admitted = false;
    ZKR__MUST(claim->engine->c, claim->engine->joining >= claim->directory->joining);
    ZKR__MUST(claim->engine->c, !claim->in_line);
}

static void join(struct zkr__claim *claim) ZKR__LOCKED
{
    ZKR__MUST(claim->engine->c, !claim->admitted);
    zkr__admission_leave(claim);
    claim->admitted = true;
    claim->engine->joining++;
    claim->directory->joining++;
}

/* Returns the last member of the claim's group that is in line, or NULL. */
static struct zkr__claim *find_beside(const struct zkr__claim *claim) ZKR__LOCKED
{
    struct zkr__claim *beside = NULL;
    for (uint32_t i = 0; claim->group && i < claim->group->count; i++) {
        struct zkr__claim *member = claim->group->members[i];
        beside = member && member->awaits_admission ? member : beside;
    }
    return beside;
}

void zkr__admission_line_up(struct zkr__claim *claim)
{
    bool shares = zkr__keep_shares(claim);
    if (shares ? claim->in_line : claim->awaits_admission) {
        return;
    }
    zkr__admission_leave(claim);
    if (shares) {
        zkr__keep_line_up(claim);
        return;
    }
    struct zkr__claim *beside = find_beside(claim);
    if (beside) {
        DL_APPEND_ELEM2(claim->engine->line, beside, claim, row_prev, row_next);
    } else {
        DL_APPEND2(claim->engine->line, claim, row_prev, row_next);
    }
    claim->awaits_admission = true;
}

void zkr__admission_settle(struct zkr__claim *claim)
{
    const struct zkr__claim_state *k = &claim->k;
    bool joins = k->phase == ZKR__CREATING;
    if (joins && !claim->admitted) {
        join(claim);
    } else if (!joins && (claim->admitted || k->phase != ZKR__PAUSED)) {
        zkr__admission_leave(claim);
    }
}

/*
 * Returns the first claim in line whose group already has a node or is creating one. The other members count as joining
 * until this claim has its node. Without this exception, a large group ahead in the line would wait for those members,
 * and the members for this claim.
 */
static struct zkr__claim *find_awaited(const struct zkr__engine *engine) ZKR__LOCKED
{
    struct zkr__claim *claim = engine->line;
    while (claim && (!claim->group || count_due(claim) > 0 || awaits_proof(claim))) {
        claim = claim->row_next;
    }
    return claim;
}

struct zkr__claim *zkr__admission_next(const struct zkr__engine *engine)
{
    struct zkr__claim *next = find_first(engine);
    if (next && !has_room(next)) {
        next = engine->joining < engine->joining_max ? find_awaited(engine) : NULL;
    }
    if (next) {
        join(next); /* takes the room, which the claim's step may return */
    }
    return next;
}
