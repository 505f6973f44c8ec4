/* SPDX-License-Identifier: Apache-2.0 */
/* Holders that are asked to release: only holders are notified, once for each wish, and their text is restored. */
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "look/contender.h"
#include "ops.h"

enum { WISHES = 128 };

static struct wish {
    char path[SIM_PATH];
    unsigned count;
    int64_t at; /* time of the last wish */
} wishes[WISHES];
static int count;

void sim_wishes_begin(void)
{
    count = 0;
}

/* A writer's node and the reader's node that replaces it count as one. */
static struct wish *of(const char *path)
{
    size_t len = (size_t)(zkr__path_name(path) - path) + ZKR__PROTECTED_LEN;
    for (int i = 0; i < count; i++) {
        if (strncmp(wishes[i].path, path, len) == 0) {
            return &wishes[i];
        }
    }
    return NULL;
}

static void note(const char *path)
{
    const struct zkf_node *node = zkf_find(path);
    struct wish *w = of(path);
    if (!node || node->label == 0 || (!w && count == WISHES)) {
        return;
    }
    if (!w) {
        w = &wishes[count++];
        *w = (struct wish){0};
        (void)snprintf(w->path, sizeof(w->path), "%s", path);
    }
    w->count++;
    w->at = zkf_now();
    processes[node->label - 1].wishes++;
    did.wishes++;
}

static bool is_wish(const void *data, size_t len)
{
    return len == sizeof(ZKR__REVOKE_DATA) - 1 &&
           memcmp(data, ZKR__REVOKE_DATA, len) == 0;
}

void sim_wish_sent(const struct zkr__op *op)
{
    if (op->kind == ZKR__OP_SET && is_wish(op->data, op->data_len)) {
        note(op->path);
    }
}

/* If the data are written again, a wish in them counts as another wish. */
void sim_touch(const struct zkf_node *node)
{
    if (is_wish(node->data, node->data_len)) {
        note(node->path);
    }
    (void)zkf_stranger_touch(node->path);
}

/* Write a wish as Curator's Revoker does: mostly to the first node, sometimes to a waiter's or a leader's node. */
static void wish_by_stranger(void)
{
    const struct zkf_node *chosen = zkf_nodes();
    uint32_t dir = zkf_hash(sim_dir((enum sim_dir)zkf_below(SIM_DIRS)));
    bool any = zkf_chance(20);
    for (const struct zkf_node *n = chosen; n && !any; n = n->next) {
        if (n->parent_hash == dir && n->sequence >= 0 &&
            (chosen->parent_hash != dir || chosen->sequence < 0 ||
             n->sequence < chosen->sequence)) {
            chosen = n;
        }
    }
    if (chosen && chosen->label != 0) {
        note(chosen->path);
        (void)zkf_stranger_set(chosen->path, ZKR__REVOKE_DATA,
                               sizeof(ZKR__REVOKE_DATA) - 1);
    }
}

void sim_op_wish(struct app *a)
{
    const struct process *p = a->p;
    enum sim_lock lock = (enum sim_lock)zkf_below(SIM_LOCKS);
    if (!p->locks[lock] || zkf_chance(50)) {
        wish_by_stranger();
        return;
    }
    struct call call = sim_call(a, "revoke", ZKR_FOREVER);
    int rc = zkr_mutex_revoke(p->locks[lock]);
    sim_called(&call, rc == ZKR_EINVAL ? ZKR_OK : rc); /* strangers cannot be asked */
}

void sim_check_wishes(int client, const struct zkr__claim *claim, int64_t held_at)
{
    const struct process *m = &processes[client];
    const struct zkf_node *node = zkf_find(claim->node);
    const struct wish *w = of(claim->node);
    if (!node || node->czxid != claim->czxid) {
        return;
    }
    if (claim->k.told != 0 && claim->k.holds == 0) {
        sim_violation("client %d waits by %s, and is asked to let go", client,
                      claim->node);
    }
    if (claim->revocations > (w ? w->count : 0)) {
        sim_violation("client %d is told of %u wishes of %u", client,
                      claim->revocations, w ? w->count : 0);
    }
    int64_t look = 2 * scene.session + (scene.lapses ? 8 * scene.session : 0);
    bool late = held_at != 0 && !scene.forbids && !m->stalled &&
                zkf_now() > held_at + look && zkf_now() > m->stalled_at + look;
    /* After a refusal, the client writes to none of its nodes for a while. */
    bool writes =
        zkr__now(claim->q->c) > claim->engine->metadata_from + scene.session &&
        claim->bearing != ZKR__BEARS_NOT;
    if (late && writes && claim->k.has_metadata && claim->k.holds == 1 &&
        node->version == 0) {
        sim_violation("client %d does not say since when it holds %s", client,
                      claim->node);
    }
    /* Only such a holder surely has the watch, or checks again when in doubt. */
    bool hears = claim->q->watch_node || (!scene.lapses && scene.watch_most == 0);
    if (late && w && zkf_now() > w->at + look && hears &&
        claim->q->kind != ZKR__NAME_LATCH && is_wish(node->data, node->data_len)) {
        sim_violation("client %d does not write its text over a wish at %s", client,
                      claim->node);
    }
}
