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

static struct zkr__directory *make(struct zkr__engine *engine, const char *path)
{
    size_t len = strlen(path), child = len + 1 + ZKR__NAME_ROOM;
    struct zkr__directory *d = zkr__mem_alloc(sizeof(*d) + len + 1 + child);
    if (!d) {
        return NULL;
    }
    memcpy(d->path, path, len);
    d->child = d->path + len + 1;
    memcpy(d->child, path, len);
    d->child[len] = '/';
    d->engine = engine;
    zkr__known_begin(&d->known);
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
    zkr__reckon_end(d);
    zkr__path_table_remove(&d->engine->by_directory, &d->by_path);
    DL_DELETE(d->engine->directories, d);
    zkr__mem_free(d->row);
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
    if (d) {
        d->refs--;
        free_unused(d);
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
    size_t len = strlen(name);
    if (len >= ZKR__NAME_ROOM) {
        return NULL;
    }
    memcpy(d->child + strlen(d->path) + 1, name, len + 1);
    return zkr__claim_at(d->engine, d->child);
}

bool zkr__directory_is_ours(void *ctx, const char *name)
{
    return zkr__directory_claim(ctx, name) != NULL;
}

/* --- who waits for a list --- */

void zkr__directory_drop(struct zkr__claim *claim)
{
    if (claim->list_of) {
        DL_DELETE2(*claim->list_of, claim, list_prev, list_next);
        claim->list_of = NULL;
    }
}

void zkr__directory_want(struct zkr__claim *claim, zkr__answer_fn fn)
{
    struct zkr__directory *d = claim->directory;
    zkr__directory_drop(claim);
    claim->list_fn = fn;
    claim->list_tag = zkr__asked_tag(ZKR__ASKED_LIST, claim->k.round);
    claim->list_of = &d->later;
    DL_APPEND2(d->later, claim, list_prev, list_next);
}

bool zkr__directory_wanted(const struct zkr__claim *claim)
{
    return claim->list_of &&
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
    if (d->list_code == ZKR_OK && d->filtered != d->departures) {
        zkr__children_filter(&d->listed, is_dying, d);
        d->filtered = d->departures;
    }
    *out = &d->listed;
    return d->list_code;
}

static void order(struct zkr__directory *d,
                  const struct zkr__answer *answer) ZKR__LOCKED
{
    d->list_code = answer->code;
    if (answer->code == ZKR_OK) {
        d->list_code = zkr__children_order(&d->listed, answer->names,
                                           answer->name_count, is_dying, d);
        d->filtered = d->departures;
    }
    if (d->list_code == ZKR_OK) {
        zkr__reckon_listed(d);
    }
}

/* Those who ask meanwhile wait for the next one: what they have heard by now may be news. */
static void give(struct zkr__directory *d, const struct zkr__answer *answer) ZKR__LOCKED
{
    while (d->askers) {
        struct zkr__claim *claim = d->askers;
        zkr__directory_drop(claim);
        zkr__claim_ref(claim);
        claim->list_fn(claim, claim->list_tag, answer);
    }
}

static void
on_list(void *ctx, unsigned era, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__directory *d = ctx;
    if (era == d->era) {
        order(d, answer);
        give(d, answer);
        zkr__mem_free(d->listed.list);
        d->listed = (struct zkr__children){0};
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
        claim->list_of = &d->askers;
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
