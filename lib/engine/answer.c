/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of ZooKeeper, turned into events of the claim that asked. */
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "engine/engine.h"
#include "session/log.h"

/* --- whose node, and who is ahead --- */

size_t zkr__claim_node_room(const struct zkr__queue *q)
{
    enum { SLASH = 1, DIGITS = 11, END = 1 };
    return strlen(q->dir) + SLASH + ZKR__PROTECTED_LEN + strlen(q->prefix) + DIGITS +
           END;
}

void zkr__claim_forget_node(struct zkr__claim *claim)
{
    if (claim->hh.tbl) {
        HASH_DEL(claim->engine->by_node, claim);
        claim->hh.tbl = NULL;
    }
}

/* @path comes from the server: our own name, so it fits; anything longer is not ours. */
static bool know_node(struct zkr__claim *claim, const char *path) ZKR__LOCKED
{
    if (!path || strlen(path) >= zkr__claim_node_room(claim->q) ||
        !zkr__path_sequence(zkr__path_name(path), claim->q->prefix, &claim->sequence)) {
        return false;
    }
    zkr__claim_forget_node(claim);
    memcpy(claim->node, path, strlen(path) + 1);
    size_t len = strlen(claim->node);
    HASH_ADD_KEYPTR(hh, claim->engine->by_node, claim->node, len, claim);
    return claim->hh.tbl != NULL;
}

void zkr__claim_forget_ahead(struct zkr__claim *claim)
{
    if (claim->ahead) {
        claim->ahead->behind = NULL;
        claim->ahead = NULL;
    }
    if (claim->ahead_path) {
        DL_DELETE2(claim->engine->foreign, claim, foreign_prev, foreign_next);
        zkr__mem_free(claim->ahead_path);
        claim->ahead_path = NULL;
    }
}

/* --- answers --- */

static void note_sequence(struct zkr__claim *claim)
{
    struct zkr__queue *q = claim->q;
    if (claim->sequence >= ZKR__SEQUENCE_WARN && !q->warned_sequence) {
        q->warned_sequence = true;
        zkr__log(q->c, ZKR_LOG_WARN,
                 "%s: sequence number %lld of at most %lld; the count starts again "
                 "when the path is "
                 "empty for a moment, else use another path",
                 q->dir, (long long)claim->sequence, (long long)ZKR__SEQUENCE_LIMIT);
    }
}

static bool is_spent(const struct zkr__claim *claim)
{
    return claim->sequence < 0 || claim->sequence >= ZKR__SEQUENCE_LIMIT;
}

static void on_created(struct zkr__claim *claim,
                       struct zkr__claim_event *e,
                       const struct zkr__answer *answer) ZKR__LOCKED
{
    if (answer->code == ZKR_OK) {
        claim->czxid = answer->czxid;
        claim->epoch = claim->q->c->epoch;
        if (!know_node(claim, answer->path)) {
            /* No memory for the table. The name is known by its GUID: find it, then delete it. */
            e->code = ZKR_ECONNLOSS;
            return;
        }
        note_sequence(claim);
        e->spent = is_spent(claim);
    } else if (answer->code == ZKR_ENONODE && claim->k.made_parents &&
               claim->parent_code != 0) {
        e->code = claim->parent_code;
        e->hopeless = true;
    }
}

/* A claim that lists, and the path of a child. */
struct sight {
    struct zkr__claim *claim;
    char *path;
    char *name; /* its end, with room for the longest */
};

/* False: no memory. */
static bool
sight_begin(struct sight *s, struct zkr__claim *claim, const struct zkr__answer *answer)
{
    const char *dir = claim->q->dir;
    size_t dir_len = strlen(dir), longest = 0;
    for (size_t i = 0; i < answer->name_count; i++) {
        size_t len = answer->names[i] ? strlen(answer->names[i]) : 0;
        longest = len > longest ? len : longest;
    }
    s->claim = claim;
    s->path = zkr__mem_alloc(dir_len + 1 + longest + 1);
    if (!s->path) {
        return false;
    }
    memcpy(s->path, dir, dir_len);
    s->path[dir_len] = '/';
    s->name = s->path + dir_len + 1;
    return true;
}

/* A node of ours that is being deleted: requests behind its delete will not see it. */
static bool is_dying(void *ctx, const char *name)
{
    struct sight *s = ctx;
    size_t len = strlen(name);
    memcpy(s->name, name, len + 1);
    struct zkr__claim *other;
    HASH_FIND(hh, s->claim->engine->by_node, s->path, (size_t)(s->name - s->path) + len,
              other);
    return other && other != s->claim && other->k.phase == ZKR__REMOVING;
}

static int order(struct zkr__claim *claim,
                 const struct zkr__answer *answer,
                 struct zkr__children *children)
{
    struct sight sight;
    if (claim->q->c->stats.pending_deletes == 0) {
        return zkr__children_order(children, answer->names, answer->name_count,
                                   claim->q->prefix, NULL, NULL);
    }
    if (!sight_begin(&sight, claim, answer)) {
        return ZKR_ENOMEM;
    }
    int rc = zkr__children_order(children, answer->names, answer->name_count,
                                 claim->q->prefix, is_dying, &sight);
    zkr__mem_free(sight.path);
    return rc;
}

static void warn_foreign(struct zkr__claim *claim, const struct zkr__children *children)
{
    struct zkr__queue *q = claim->q;
    for (size_t i = 0; i < children->count && !q->warned_foreign; i++) {
        if (children->list[i].foreign) {
            q->warned_foreign = true;
            zkr__log(q->c, ZKR_LOG_WARN,
                     "%s: %.100s is of another recipe; it counts by its number, but "
                     "its maker may "
                     "not respect ours",
                     q->dir, children->list[i].name);
        }
    }
}

/* Note whom to watch: a neighbour of this client, or a path. False: no memory. */
static bool set_ahead(struct zkr__claim *claim, const char *name) ZKR__LOCKED
{
    zkr__claim_forget_ahead(claim);
    char *path = zkr__path_join(claim->q->dir, name);
    if (!path) {
        return false;
    }
    struct zkr__claim *other;
    HASH_FIND(hh, claim->engine->by_node, path, strlen(path), other);
    if (other && !other->behind) {
        zkr__mem_free(path);
        claim->ahead = other;
        other->behind = claim;
        return true;
    }
    claim->ahead_path = path;
    DL_APPEND2(claim->engine->foreign, claim, foreign_prev, foreign_next);
    return true;
}

static void judge(struct zkr__claim *claim,
                  struct zkr__claim_event *e,
                  const struct zkr__children *children) ZKR__LOCKED
{
    size_t self = zkr__children_find(children, zkr__path_name(claim->node));
    e->found = self < children->count;
    if (!e->found) {
        return;
    }
    struct zkr__verdict verdict = claim->q->rule(children, self, claim->q->rule_arg);
    e->granted = verdict.granted;
    e->sole = verdict.sole;
    if (!verdict.granted && !claim->k.once) {
        if (!set_ahead(claim, children->list[verdict.watch].name)) {
            e->code = ZKR_ENOMEM;
        }
        e->local = claim->ahead != NULL;
    }
}

static void find_own(struct zkr__claim *claim,
                     struct zkr__claim_event *e,
                     const struct zkr__children *children) ZKR__LOCKED
{
    char start[ZKR__PROTECTED_LEN + 1];
    zkr__path_protect(start, claim->guid, "");
    size_t self = zkr__children_find_start(children, start);
    if (self == children->count) {
        return;
    }
    char *path = zkr__path_join(claim->q->dir, children->list[self].name);
    e->found = path && know_node(claim, path);
    if (!e->found) {
        e->code = ZKR_ENOMEM;
    }
    zkr__mem_free(path);
}

static void on_listed(struct zkr__claim *claim,
                      struct zkr__claim_event *e,
                      const struct zkr__answer *answer) ZKR__LOCKED
{
    if (answer->code != ZKR_OK) {
        return;
    }
    if (claim->k.phase == ZKR__FINDING && !claim->written) {
        e->code =
            ZKR_ECONNLOSS; /* a list that nothing was written before tells nothing */
        return;
    }
    struct zkr__children children;
    e->code = order(claim, answer, &children);
    if (e->code != ZKR_OK) {
        return;
    }
    warn_foreign(claim, &children);
    if (claim->k.phase == ZKR__FINDING) {
        find_own(claim, e, &children);
    } else {
        judge(claim, e, &children);
    }
    zkr__mem_free(children.list);
}

static void on_own(struct zkr__claim *claim,
                   struct zkr__claim_event *e,
                   const struct zkr__answer *answer)
{
    if (answer->code == ZKR_OK) {
        e->ours = answer->owner == claim->q->c->session_id;
        claim->czxid = answer->czxid;
        claim->epoch = claim->q->c->epoch;
        note_sequence(claim);
        e->spent = is_spent(claim);
    }
}

static void on_deleted_parent(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    (void)tag;
    zkr_client *c = ctx;
    if (answer->code == ZKR_OK) {
        zkr__log(c, ZKR_LOG_INFO,
                 "deleted an empty path, so that its sequence numbers start again");
    }
}

static void on_removed(struct zkr__claim *claim,
                       const struct zkr__answer *answer) ZKR__LOCKED
{
    zkr_client *c = claim->q->c;
    if (answer->code == ZKR_OK && claim->sequence >= ZKR__SEQUENCE_WARN) {
        /* Refused while others wait, which is as well. */
        struct zkr__op op = {.kind = ZKR__OP_DELETE, .path = claim->q->dir};
        zkr__submit(c, &op, on_deleted_parent, c, 0);
    } else if (answer->code == ZKR_EAUTH) {
        zkr__log(c, ZKR_LOG_ERROR,
                 "%s: not allowed to delete; it stays until the session ends",
                 claim->node);
    }
}

void zkr__claim_answer(void *ctx,
                       unsigned tag,
                       const struct zkr__answer *answer) ZKR__LOCKED
{
    static const enum zkr__event_kind kinds[] = {
        [ZKR__ASKED_CREATE] = ZKR__EV_CREATED, [ZKR__ASKED_LIST] = ZKR__EV_LISTED,
        [ZKR__ASKED_OWN] = ZKR__EV_OWN,        [ZKR__ASKED_AHEAD] = ZKR__EV_AHEAD,
        [ZKR__ASKED_PROVE] = ZKR__EV_PROVED,   [ZKR__ASKED_REMOVE] = ZKR__EV_REMOVED,
    };
    struct zkr__claim *claim = ctx;
    enum zkr__asked asked = tag & ((1U << ZKR__ASKED_BITS) - 1);
    struct zkr__claim_event e = {.kind = kinds[asked], .code = answer->code};
    claim->in_flight--;
    if (tag >> ZKR__ASKED_BITS != (claim->k.round & (~0U >> ZKR__ASKED_BITS))) {
        zkr__claim_settle(claim);
        return;
    }
    if (answer->code != ZKR_OK) {
        claim->detail = answer->zk_rc;
    }
    switch (asked) {
    case ZKR__ASKED_CREATE:
        on_created(claim, &e, answer);
        break;
    case ZKR__ASKED_LIST:
        on_listed(claim, &e, answer);
        break;
    case ZKR__ASKED_OWN:
        on_own(claim, &e, answer);
        break;
    case ZKR__ASKED_REMOVE:
        on_removed(claim, answer);
        break;
    case ZKR__ASKED_AHEAD:
    case ZKR__ASKED_PROVE:
        break;
    }
    zkr__claim_run(claim, e);
}
