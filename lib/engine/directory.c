/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/directory.h"

#include <string.h>

#include <zkr/error.h>

#include "base/mem.h"
#include "engine/names.h"

/* --- what numbers tell --- */

enum { QUIET = 2 };

void zkr__known_begin(struct zkr__known *known)
{
    *known = (struct zkr__known){.quiet = QUIET};
}

void zkr__known_forget(struct zkr__known *known)
{
    known->counts = false;
    zkr__children_free(&known->others);
}

bool zkr__known_made(struct zkr__known *known, int64_t number)
{
    bool next = known->counts && number == known->next;
    if (next) {
        known->quiet += known->quiet < QUIET;
    } else {
        known->quiet = known->counts ? 0 : known->quiet;
        known->from = number;
        zkr__children_free(&known->others);
    }
    known->next = number + 1;
    known->counts = number >= 0 && number < ZKR__SEQUENCE_LIMIT;
    if (!known->counts) { /* from there on numbers repeat */
        zkr__known_forget(known);
    }
    return next;
}

void zkr__known_listed(struct zkr__known *known,
                       const struct zkr__children *children,
                       int64_t next,
                       zkr__child_filter ours,
                       void *ctx)
{
    /* A lower number is not of the directory that our last node is in. */
    bool counts = next >= known->next;
    zkr__known_forget(known);
    if (counts && zkr__children_copy(&known->others, children, ours, ctx) == ZKR_OK) {
        known->counts = true;
        known->next = next;
        known->from = ZKR__KNOWN_ALL;
    }
}

void zkr__known_gone(struct zkr__known *known, const char *name)
{
    struct zkr__children *others = &known->others;
    size_t gone = zkr__children_find(others, name);
    if (gone < others->count) {
        others->count--;
        memmove(others->list + gone, others->list + gone + 1,
                (others->count - gone) * sizeof(*others->list));
    }
}

bool zkr__known_quiet(const struct zkr__known *known)
{
    return known->counts && known->quiet == QUIET;
}

/* --- directories --- */

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
    d->seen = -1;
    if (!zkr__path_table_add(&engine->by_directory, &d->by_path, d->path)) {
        zkr__mem_free(d);
        return NULL;
    }
    DL_APPEND(engine->directories, d);
    return d;
}

struct zkr__directory *zkr__directory_of(struct zkr__engine *engine, char *path)
{
    struct zkr__directory *d = find(engine, path);
    d = d ? d : make(engine, path);
    if (d) {
        d->refs++;
    }
    return d;
}

void zkr__directory_ref(struct zkr__directory *d)
{
    d->refs++;
}

struct zkr__line *zkr__directory_line(struct zkr__directory *d)
{
    if (!d->line) {
        d->line = zkr__mem_alloc(sizeof(*d->line));
    }
    return d->line;
}

static void free_directory(struct zkr__directory *d) ZKR__LOCKED
{
    if (d->guard) {
        zkr__path_unwatch(&d->engine->watchers, &d->guard->watcher);
        zkr__known_forget(&d->guard->known);
        zkr__mem_free(d->guard);
    }
    zkr__path_table_remove(&d->engine->by_directory, &d->by_path);
    DL_DELETE(d->engine->directories, d);
    zkr__mem_free(d->line);
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

bool zkr__directory_part(struct zkr__directory *d, const char *path)
{
    bool keeps = d->path == path;
    d->owns_path = d->owns_path || keeps;
    zkr__directory_unref(d);
    return keeps;
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
