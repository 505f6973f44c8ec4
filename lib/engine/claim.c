/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/claim.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "engine/directory.h"

/* --- memory --- */

static size_t node_room(const struct zkr__queue *q)
{
    return strlen(q->dir) + 1 + ZKR__NAME_ROOM;
}

struct zkr__claim *zkr__claim_make(struct zkr__queue *q, struct zkr__engine *engine)
{
    struct zkr__directory *directory = zkr__queue_directory(q, engine);
    struct zkr__claim *claim =
        directory ? zkr__mem_alloc(sizeof(*claim) + node_room(q)) : NULL;
    if (!claim) {
        return NULL;
    }
    zkr__directory_ref(directory);
    claim->directory = directory;
    claim->q = q;
    q->refs++;
    claim->engine = engine;
    claim->refs = 2;
    claim->live = true;
    claim->k.keeps_place = q->keeps_place;
    claim->k.notes = q->notes_hold && q->c->options.lease_probe_ms >= 0;
    DL_APPEND(engine->claims, claim);
    return claim;
}

void zkr__claim_ref(struct zkr__claim *claim)
{
    claim->refs++;
}

void zkr__claim_unref(struct zkr__claim *claim)
{
    if (--claim->refs > 0) {
        return;
    }
    while (zkr__claim_next_behind(claim)) {
    }
    zkr__claim_forget_ahead(claim);
    zkr__claim_forget_node(claim);
    zkr__timer_stop(&claim->engine->timers, &claim->timer);
    zkr__claim_drop_list(claim);
    DL_DELETE(claim->engine->claims, claim);
    zkr__directory_unref(claim->directory);
    zkr__queue_unref(claim->q);
    zkr__mem_free(claim->loss);
    zkr__mem_free(claim);
}

void zkr__claim_wake(struct zkr__claim *claim)
{
    if (claim->sleeper) {
        zkr__cv_signal(claim->sleeper);
    }
}

void zkr__claim_tell_wishes(struct zkr__claim *claim)
{
    struct zkr__queue *q = claim->q;
    if (claim->wishes > 0 && claim->taken && q->on_wish) {
        q->on_wish(q);
    }
}

/* --- our node --- */

int zkr__claim_new_name(struct zkr__claim *claim)
{
    zkr__claim_forget_node(claim);
    char guid[ZKR__GUID_LEN + 1];
    int rc = zkr__guid_make(guid);
    if (rc == 0) {
        size_t dir_len = strlen(claim->q->dir);
        memcpy(claim->node, claim->q->dir, dir_len);
        claim->node[dir_len] = '/';
        zkr__name_make(claim->node + dir_len + 1, claim->q->kind, guid);
    }
    return rc;
}

/* Most have the highest number so far. */
static void enter_directory(struct zkr__claim *claim) ZKR__LOCKED
{
    struct zkr__directory *d = claim->directory;
    struct zkr__claim *after = d->ours ? d->ours->ours_prev : NULL; /* the last */
    while (after && after->sequence > claim->sequence) {
        after = after == d->ours ? NULL : after->ours_prev;
    }
    if (after) {
        DL_APPEND_ELEM2(d->ours, after, claim, ours_prev, ours_next);
    } else {
        DL_PREPEND2(d->ours, claim, ours_prev, ours_next);
    }
}

static void leave_directory(struct zkr__claim *claim) ZKR__LOCKED
{
    struct zkr__directory *d = claim->directory;
    if (claim->ours_prev) {
        DL_DELETE2(d->ours, claim, ours_prev, ours_next);
        claim->ours_prev = claim->ours_next = NULL;
    }
}

static bool enter_node(struct zkr__claim *claim) ZKR__LOCKED
{
    bool added =
        zkr__path_table_add(&claim->engine->by_node, &claim->by_node, claim->node);
    if (added) {
        enter_directory(claim);
    }
    return added;
}

bool zkr__claim_is_node(const struct zkr__claim *claim,
                        const char *name,
                        enum zkr__name_kind kind)
{
    int64_t unused;
    return zkr__name_grew(name, zkr__path_name(claim->node), kind, &unused);
}

bool zkr__claim_know_node(struct zkr__claim *claim,
                          const char *path,
                          enum zkr__name_kind kind)
{
    const char *name = zkr__path_name(claim->node);
    size_t before = (size_t)(name - claim->node); /* of the directory, and a slash */
    if (!path || strncmp(path, claim->node, before) != 0 ||
        !zkr__name_grew(path + before, name, kind, &claim->sequence)) {
        return false;
    }
    zkr__claim_forget_node(claim);
    memcpy(claim->node, path, strlen(path) + 1);
    return enter_node(claim);
}

void zkr__claim_turn(struct zkr__claim *claim, enum zkr__name_kind kind)
{
    zkr__claim_forget_node(claim);
    zkr__name_turn(claim->node, kind);
    /* Without memory for the table: the lease probe looks after the node, and neighbours watch its path. */
    (void)enter_node(claim);
}

void zkr__claim_forget_node(struct zkr__claim *claim)
{
    zkr__path_table_remove(&claim->engine->by_node, &claim->by_node);
    leave_directory(claim);
}

struct zkr__claim *zkr__claim_at(const struct zkr__engine *engine, const char *path)
{
    struct zkr__path_entry *entry = zkr__path_table_find(&engine->by_node, path);
    return entry ? ZKR__OWNER_OF(entry, struct zkr__claim, by_node) : NULL;
}

/* A longer name is not ours. */
struct zkr__claim *zkr__claim_in(const struct zkr__directory *d, const char *name)
{
    size_t dir_len = strlen(d->path), len = strlen(name);
    char *path = d->engine->scratch.path;
    if (len >= ZKR__NAME_ROOM) {
        return NULL;
    }
    memcpy(path, d->path, dir_len);
    path[dir_len] = '/';
    memcpy(path + dir_len + 1, name, len + 1);
    return zkr__claim_at(d->engine, path);
}

void zkr__claim_drop_list(struct zkr__claim *claim)
{
    struct zkr__directory *d = claim->directory;
    if (claim->list == ZKR__THIS_LIST) {
        DL_DELETE2(d->askers, claim, list_prev, list_next);
    } else if (claim->list == ZKR__NEXT_LIST) {
        DL_DELETE2(d->later, claim, list_prev, list_next);
    }
    claim->list = ZKR__NO_LIST;
}

/* --- whom it stands behind --- */

static void link_behind(struct zkr__claim *claim, struct zkr__claim *ahead)
{
    claim->ahead = ahead;
    claim->behind_next = ahead->behind;
    claim->behind_link = &ahead->behind;
    if (claim->behind_next) {
        claim->behind_next->behind_link = &claim->behind_next;
    }
    ahead->behind = claim;
}

static void unlink_behind(struct zkr__claim *claim)
{
    *claim->behind_link = claim->behind_next;
    if (claim->behind_next) {
        claim->behind_next->behind_link = claim->behind_link;
    }
    claim->ahead = NULL;
}

void zkr__claim_forget_ahead(struct zkr__claim *claim)
{
    if (claim->ahead) {
        unlink_behind(claim);
    }
    zkr__path_unwatch(&claim->engine->watchers, &claim->ahead_watcher);
}

bool zkr__claim_stand_behind(struct zkr__claim *claim, const char *name)
{
    zkr__claim_forget_ahead(claim);
    char *path = zkr__path_join(claim->q->dir, name);
    if (!path) {
        return false;
    }
    bool done = true;
    struct zkr__claim *neighbour = zkr__claim_at(claim->engine, path);
    if (neighbour) {
        link_behind(claim, neighbour);
    } else {
        done = zkr__path_watch(&claim->engine->watchers, &claim->ahead_watcher, path);
    }
    zkr__mem_free(path);
    return done;
}

bool zkr__claim_watch_children(struct zkr__claim *claim)
{
    zkr__claim_forget_ahead(claim);
    return zkr__path_watch(&claim->engine->watchers, &claim->ahead_watcher,
                           claim->q->dir);
}

struct zkr__claim *zkr__claim_next_behind(struct zkr__claim *claim)
{
    struct zkr__claim *behind = claim->behind;
    if (behind) {
        unlink_behind(behind);
    }
    return behind;
}

/* --- without a watch --- */

/*
 * One that has no watch, as there was no room for it, looks again after so long, and for each other that does so later
 * by up to so much: a client that looks takes no more than some 500 requests a second for it.
 */
enum { LOOK_MS = 1000, LOOK_EACH_MS = 4 };

int64_t zkr__claim_look_pause(const struct zkr__claim *claim)
{
    zkr_client *c = claim->q->c;
    int64_t others = claim->engine->looking * LOOK_EACH_MS * ZKR__MS;
    uint64_t later = zkr__retry_random(&c->random) % (uint64_t)(others + 1);
    return LOOK_MS * ZKR__MS + (int64_t)later;
}

void zkr__claim_settle_look(struct zkr__claim *claim)
{
    bool looks = zkr__claim_looks(&claim->k);
    claim->engine->looking += looks - claim->looks;
    claim->looks = looks;
    bool heeds = claim->k.phase == ZKR__HELD && claim->q->watch_node;
    if (!heeds && !zkr__path_watched(&claim->ahead_watcher)) {
        claim->doubt_at = 0;
    } else if (claim->doubt_at == 0) {
        claim->doubt_at = zkr__engine_doubts_at(claim->engine);
    }
}
