/* SPDX-License-Identifier: Apache-2.0 */
/* Holders asked to let go: told once for each wish, and only they; their text is written back. */
#include <string.h>

#include "search.h"

static bool stands(const struct zkf_node *node)
{
    return node->data_len == strlen(ZKR__REVOKE_DATA) &&
           memcmp(node->data, ZKR__REVOKE_DATA, strlen(ZKR__REVOKE_DATA)) == 0;
}

static const struct zkf_node *first_of(int dir)
{
    const struct zkf_node *first = NULL;
    uint32_t hash = zkf_hash(search_dir(dir));
    for (const struct zkf_node *n = zkf_nodes(); n; n = n->next) {
        if (n->parent_hash == hash && n->sequence >= 0 &&
            (!first || n->sequence < first->sequence)) {
            first = n;
        }
    }
    return first;
}

/* As Curator's Revoker does it: mostly to the first, at times to one who waits. */
void search_wish(void)
{
    const struct zkf_node *node = first_of(zkf_chance(80) ? DIR_LOCK : DIR_LATCH);
    if (node && zkf_chance(20)) {
        node = zkf_nodes();
    }
    struct contender *k = node ? search_by_label(node->label) : NULL;
    if (k && k->node == node &&
        zkf_stranger_set(node->path, ZKR__REVOKE_DATA, sizeof(ZKR__REVOKE_DATA) - 1)) {
        k->wishes++;
        k->wish_at = zkf_now();
        S.members[k->client].wishes += k->ticket != NULL;
        S.did.wishes++;
    }
}

/* Written again with what it says: a wish that stands there is another one then. */
void search_touch(const struct zkf_node *node)
{
    struct contender *k = search_by_label(node->label);
    bool wish = stands(node);
    if (zkf_stranger_set(node->path, NULL, 0) && wish && k && k->node == node) {
        k->wishes++;
        S.members[k->client].wishes += k->ticket != NULL;
    }
}

/* Of the mutex that has the tickets. */
void search_on_revoke(zkr_mutex *mutex, void *ctx)
{
    struct member *m = ctx;
    bool due = false;
    (void)mutex;
    zkf_trace("client %d: on_revoke", (int)(m - S.members));
    S.did.asked++;
    if (++m->asked > m->wishes) {
        search_violation("a wish is told twice");
    }
    for (int i = 0; i < SEARCH_CONTENDERS; i++) {
        const struct contender *k = &S.contenders[i];
        due = due || (k->ticket && S.members + k->client == m &&
                      k->ticket->hold.state == ZKR__HOLD_HELD);
    }
    if (!due) {
        search_violation("one that does not hold is asked to let go");
    }
}

void search_check_wishes(const struct contender *k, const struct zkr__claim *claim)
{
    if (!k->node || k->node->czxid != claim->czxid) {
        return;
    }
    if (claim->k.told != 0 && claim->k.holds == 0) {
        search_violation("contender %d waits, and is asked to let go", k->label);
    }
    if (claim->revocations > k->wishes) {
        search_violation("contender %d is told of %u wishes of %u", k->label,
                         claim->revocations, k->wishes);
    }
    const int64_t since[] = {k->wish_at, k->held_at, S.members[k->client].stalled_at};
    bool late = k->holding && !S.s.forbids && !S.members[k->client].stalled;
    int64_t look = S.s.watch_most > 0 ? 4000 * ZKR__MS : 0; /* twice, without a watch */
    look += S.s.lapses ? 8 * S.s.session : 0;
    for (size_t i = 0; i < sizeof(since) / sizeof(since[0]); i++) {
        late = late && zkf_now() > since[i] + 2 * S.s.session + look;
    }
    /* After a refusal no node of the client is written to for a while. */
    bool writes = zkr__now(claim->q->c) > claim->engine->metadata_from + S.s.session;
    if (late && writes && claim->k.has_metadata && claim->k.holds == 1 &&
        k->node->version == 0) {
        search_violation("contender %d does not say since when it holds", k->label);
    }
    bool hears = claim->q->watch_node || !S.s.lapses;
    if (late && hears && claim->q->kind != ZKR__NAME_LATCH && stands(k->node)) {
        search_violation("contender %d does not write its text over a wish", k->label);
    }
}
