/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/directory.h"

#include <string.h>

#include "base/mem.h"
#include "engine/claim.h"
#include "engine/claim_requests.h"
#include "engine/reckon.h"

/* --- life --- */

static struct zkr__directory *find(const struct zkr__engine *engine, const char *path)
{
    struct zkr__path_entry *entry = zkr__path_table_find(&engine->by_directory, path);
    return entry ? ZKR__OWNER_OF(entry, struct zkr__directory, by_path) : NULL;
}

/* Room for the path of a node of ours. */
static bool make_room(struct zkr__scratch *scratch, size_t len)
{
    size_t need = len + 1 + ZKR__NAME_ROOM;
    if (need > scratch->path_room) {
        char *path = zkr__mem_alloc(need);
        if (!path) {
            return false;
        }
        zkr__mem_free(scratch->path);
        scratch->path = path;
        scratch->path_room = need;
    }
    return true;
}

static struct zkr__directory *make(struct zkr__engine *engine, char *path)
{
    struct zkr__directory *d =
        make_room(&engine->scratch, strlen(path)) ? zkr__mem_alloc(sizeof(*d)) : NULL;
    if (!d) {
        return NULL;
    }
    d->path = path;
    d->engine = engine;
    if (!zkr__path_table_add(&engine->by_directory, &d->by_path, d->path)) {
        zkr__mem_free(d);
        return NULL;
    }
    DL_APPEND(engine->directories, d);
    return d;
}

struct zkr__directory *zkr__directory_of(struct zkr__engine *engine,
                                         struct zkr__queue *q)
{
    if (!q->directory) {
        q->directory = find(engine, q->dir);
        q->directory = q->directory ? q->directory : make(engine, q->dir);
        if (q->directory) {
            q->directory->refs++;
        }
    }
    return q->directory;
}

void zkr__directory_ref(struct zkr__directory *d)
{
    d->refs++;
}

static void free_directory(struct zkr__directory *d) ZKR__LOCKED
{
    zkr__reckon_free(d);
    zkr__path_table_remove(&d->engine->by_directory, &d->by_path);
    DL_DELETE(d->engine->directories, d);
    if (d->owns_path) {
        zkr__mem_free(d->path);
    }
    zkr__mem_free(d);
}

static void free_unused(struct zkr__directory *d) ZKR__LOCKED
{
    if (d->refs == 0 && d->requests == 0) {
        free_directory(d);
    }
}

void zkr__directory_unref(struct zkr__directory *d)
{
    d->refs--;
    free_unused(d);
}

void zkr__directory_part(struct zkr__queue *q)
{
    struct zkr__directory *d = q->directory;
    if (d && d->path == q->dir) {
        d->owns_path = true;
        q->dir = NULL;
    }
    if (d) {
        zkr__directory_unref(d);
    }
}

void zkr__directory_answered(struct zkr__directory *d)
{
    d->requests--;
    free_unused(d);
}

void zkr__directories_free(struct zkr__engine *engine)
{
    while (engine->directories) {
        free_directory(engine->directories);
    }
    zkr__mem_free(engine->scratch.path);
    zkr__mem_free(engine->scratch.row);
}

/* --- our claims --- */

/* Most have the highest number so far. */
void zkr__directory_add(struct zkr__claim *claim)
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

void zkr__directory_remove(struct zkr__claim *claim)
{
    struct zkr__directory *d = claim->directory;
    if (claim->ours_prev) {
        DL_DELETE2(d->ours, claim, ours_prev, ours_next);
        claim->ours_prev = claim->ours_next = NULL;
    }
}

void zkr__directory_departs(struct zkr__claim *claim)
{
    claim->directory->departures++;
}

/* A longer name is not ours. */
struct zkr__claim *zkr__directory_claim(const struct zkr__directory *d,
                                        const char *name)
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

bool zkr__directory_is_ours(void *ctx, const char *name)
{
    return zkr__directory_claim(ctx, name) != NULL;
}

/* --- who waits for a list --- */

void zkr__directory_drop(struct zkr__claim *claim)
{
    struct zkr__directory *d = claim->directory;
    if (claim->list == ZKR__THIS_LIST) {
        DL_DELETE2(d->askers, claim, list_prev, list_next);
    } else if (claim->list == ZKR__NEXT_LIST) {
        DL_DELETE2(d->later, claim, list_prev, list_next);
    }
    claim->list = ZKR__NO_LIST;
}

void zkr__directory_want(struct zkr__claim *claim, zkr__answer_fn fn)
{
    struct zkr__directory *d = claim->directory;
    zkr__directory_drop(claim);
    d->engine->on_list = fn;
    claim->list_tag = zkr__asked_tag(ZKR__ASKED_LIST, claim->k.round);
    claim->list = ZKR__NEXT_LIST;
    DL_APPEND2(d->later, claim, list_prev, list_next);
}

bool zkr__directory_wanted(const struct zkr__claim *claim)
{
    return claim->list != ZKR__NO_LIST &&
           claim->list_tag == zkr__asked_tag(ZKR__ASKED_LIST, claim->k.round);
}

/* --- one list at a time --- */

/* A node of ours that is being deleted: requests behind its delete will not see it. */
static bool is_dying(void *ctx, const char *name) ZKR__LOCKED
{
    const struct zkr__claim *claim = zkr__directory_claim(ctx, name);
    return claim && zkr__claim_stage(&claim->k) == ZKR__REMOVING;
}

int zkr__directory_children(struct zkr__directory *d, const struct zkr__children **out)
{
    struct zkr__given *given = &d->engine->given;
    if (given->code == ZKR_OK && given->departures != d->departures) {
        zkr__children_filter(&given->children, is_dying, d);
        given->departures = d->departures;
    }
    *out = &given->children;
    return given->code;
}

static void order(struct zkr__directory *d,
                  const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__given *given = &d->engine->given;
    *given = (struct zkr__given){.code = answer->code, .departures = d->departures};
    if (answer->code == ZKR_OK) {
        given->code = zkr__children_order(&given->children, answer->names,
                                          answer->name_count, is_dying, d);
    }
    if (given->code == ZKR_OK) {
        zkr__reckon_listed(d, &given->children);
    }
}

/* Those who ask meanwhile wait for the next one: what they have heard by now may be news. */
static void give(struct zkr__directory *d, const struct zkr__answer *answer) ZKR__LOCKED
{
    const struct zkr__engine *engine = d->engine;
    while (d->askers) {
        struct zkr__claim *claim = d->askers;
        zkr__directory_drop(claim);
        zkr__claim_ref(claim);
        engine->on_list(claim, claim->list_tag, answer);
    }
}

static void
on_list(void *ctx, unsigned era, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__directory *d = ctx;
    if (era == d->era) {
        order(d, answer);
        give(d, answer);
        zkr__mem_free(d->engine->given.children.list);
        d->listing = false;
        zkr__directory_list(d);
    }
    zkr__directory_answered(d);
}

void zkr__directory_list(struct zkr__directory *d)
{
    if (d->listing || !d->later) {
        return;
    }
    struct zkr__op op = {.kind = ZKR__OP_CHILDREN, .path = d->path};
    struct zkr__claim *claim;
    DL_FOREACH2(d->later, claim, list_next)
    {
        claim->list = ZKR__THIS_LIST;
        op.watch = op.watch || claim->k.watch_children;
        d->engine->spared.shared += claim != d->later;
    }
    d->askers = d->later;
    d->later = NULL;
    d->listing = true;
    d->requests++;
    zkr__submit(d->engine->c, &op, on_list, d, d->era);
}

/* --- the session --- */

void zkr__directories_connected(struct zkr__engine *engine)
{
    struct zkr__directory *d;
    DL_FOREACH(engine->directories, d)
    {
        zkr__reckon_end(d);
    }
}

/* An answer that is still to come may have been dropped, for want of memory. */
void zkr__directories_session_over(struct zkr__engine *engine)
{
    struct zkr__directory *d;
    DL_FOREACH(engine->directories, d)
    {
        while (d->askers) {
            zkr__directory_drop(d->askers);
        }
        while (d->later) {
            zkr__directory_drop(d->later);
        }
        d->listing = false;
        d->era++;
        d->used = false;
        zkr__reckon_end(d);
    }
    engine->guards = 0;
}
