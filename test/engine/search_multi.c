/* SPDX-License-Identifier: Apache-2.0 */
/* Multi-locks: a contender for each path, all or none. */
#include <string.h>

#include "base/path.h"
#include "search.h"
#include "util.h"

void search_request_multi(int client, struct contender *parts[], int count)
{
    const char *paths[SEARCH_DIRS];
    zkr_multi_lock *multi = NULL;
    zkr_ticket *ticket = NULL;
    struct contender *first = parts[0];
    for (int i = 0; i < count; i++) {
        paths[i] = search_dir(parts[i]->dir);
        parts[i]->asking = true;
    }
    int64_t timeout_ms = search_timeout(first);
    S.did.multis++;
    if (zkr_multi_lock_create(&multi, S.members[client].c, paths, (size_t)count,
                              NULL) != ZKR_OK ||
        zkr_multi_lock_request(multi, timeout_ms,
                               zkf_chance(80) ? search_on_ticket : NULL, first,
                               &ticket) != ZKR_OK) {
        zkt_fail("no multi-lock, or no ticket");
    }
    for (int i = 0; i < count; i++) {
        parts[i]->asking = false;
        parts[i]->multi = multi;
        parts[i]->ticket = ticket;
        parts[i]->deadline = first->deadline;
    }
}

void search_drop_multi(struct contender *k)
{
    zkr_multi_lock *multi = k->multi;
    struct contender whole = *k;
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        if (&S.contenders[i] != k && S.contenders[i].multi == multi) {
            memset(&S.contenders[i], 0, sizeof(S.contenders[i]));
        }
    }
    k->ticket = NULL;
    search_hand_in(&whole);
    if (zkr_multi_lock_destroy(multi) != ZKR_OK) {
        search_violation("a multi-lock without tickets cannot be destroyed");
    }
}

struct contender *search_part_of(const struct zkr__claim *claim)
{
    if (!claim->group) {
        return NULL;
    }
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        struct contender *k = &S.contenders[i];
        const struct zkr__group *group =
            k->multi && k->ticket ? k->ticket->hold.group : NULL;
        bool same = k->asking || (group && claim->group == group);
        if (k->label != 0 && same && strcmp(claim->q->dir, search_dir(k->dir)) == 0) {
            return k;
        }
    }
    return NULL;
}

struct zkr__claim *search_part_claim(const struct contender *k)
{
    const struct zkr__group *group = k->ticket->hold.group;
    for (uint32_t i = 0; group && i < group->count; i++) {
        struct zkr__claim *claim = group->members[i];
        if (claim && strcmp(claim->q->dir, search_dir(k->dir)) == 0) {
            return claim;
        }
    }
    return NULL;
}

bool search_all_held(const struct contender *k)
{
    const struct zkr__group *group = k->ticket->hold.group;
    if (!group || group->state != ZKR__GROUP_HELD) {
        return false;
    }
    for (uint32_t i = 0; i < group->count; i++) {
        const struct zkr__claim *claim = group->members[i];
        if (!claim || claim->k.phase != ZKR__HELD ||
            claim->czxid != k->ticket->hold.claim->czxid) {
            search_violation("contender %d holds, but not by all, or by two tokens",
                             k->label);
        }
    }
    return true;
}

/* Past the largest number there is none, and nobody may hold. */
static bool is_ordered(const struct contender *k)
{
    return k->node->sequence >= 0 && k->node->sequence < ZKR__SEQUENCE_LIMIT;
}

/* Two that stand in opposite orders in two queues wait for each other, or will. */
static void check_pair(const struct contender *a, const struct contender *b)
{
    if (!is_ordered(a) || !is_ordered(b)) {
        return;
    }
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        const struct contender *x = &S.contenders[i];
        for (int j = 0; j < SEARCH_CONTENDERS; j++) {
            const struct contender *y = &S.contenders[j];
            if (x->multi == a->multi && y->multi == b->multi && x->dir == y->dir &&
                x->node && y->node && is_ordered(x) && is_ordered(y) &&
                (x->node->sequence < y->node->sequence) !=
                    (a->node->sequence < b->node->sequence)) {
                search_violation("contenders %d and %d wait in a circle: %s, %s",
                                 a->label, b->label, search_dir(a->dir),
                                 search_dir(x->dir));
            }
        }
    }
}

void search_check_multis(void)
{
    for (int i = 0; i < SEARCH_CONTENDERS && S.s.multis; i++) {
        const struct contender *a = &S.contenders[i];
        for (int j = 0; j < SEARCH_CONTENDERS && a->multi && a->node; j++) {
            const struct contender *b = &S.contenders[j];
            if (!b->multi || !b->node) {
                continue;
            }
            if (b->multi == a->multi && b->node->czxid != a->node->czxid) {
                search_violation(
                    "the nodes of contenders %d and %d, of one multi-lock, "
                    "were made one after the other",
                    a->label, b->label);
            }
            if (b->multi > a->multi && b->dir == a->dir && S.steps % 4 == 0) {
                check_pair(a, b);
            }
        }
    }
}
