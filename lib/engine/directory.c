/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/directory.h"

#include <string.h>

#include "base/mem.h"
#include "engine/names.h"

/* --- what the numbers tell --- */

enum { QUIET = 2 };

void zkr__known_begin(struct zkr__known *known)
{
    *known = (struct zkr__known){.quiet = QUIET, .foretells = true};
}

void zkr__known_forget(struct zkr__known *known)
{
    known->counts = known->guessing = false;
    known->left[0] = known->newcomer[0] = '\0';
    zkr__children_free(&known->others);
}

void zkr__known_settle(struct zkr__known *known, int64_t number)
{
    if (known->guessing) {
        known->guessing = false;
        known->from = number;
        known->newcomer[0] = known->left[0] = '\0';
        zkr__children_free(&known->others);
    }
}

/* The number that was next went to a node that we have not seen. */
static bool guess(struct zkr__known *known, int64_t number)
{
    bool one = known->counts && known->from == ZKR__KNOWN_ALL &&
               number == known->next + 1 && known->left[0] != '\0' &&
               zkr__name_successor(known->newcomer, known->left, known->next);
    if (!one) {
        known->newcomer[0] = '\0';
    }
    return one && known->foretells;
}

bool zkr__known_made(struct zkr__known *known, int64_t number)
{
    bool next = known->counts && number == known->next;
    known->guessing = guess(known, number);
    if (next) {
        known->quiet += known->quiet < QUIET;
    } else if (!known->guessing) {
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
    if (known->newcomer[0] != '\0') {
        known->foretells =
            zkr__children_find(children, known->newcomer) < children->count;
    }
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
    size_t size = strlen(name) + 1;
    if (size <= sizeof(known->left)) {
        memcpy(known->left, name, size);
    }
}

bool zkr__known_quiet(const struct zkr__known *known)
{
    return known->counts && known->quiet == QUIET;
}

/* --- directories --- */

/* For the path of a node of ours. */
static bool make_path_room(struct zkr__scratch *scratch, size_t dir_len)
{
    size_t need = dir_len + 1 + ZKR__NAME_ROOM;
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

struct zkr__directory *zkr__directory_of(struct zkr__engine *engine, const char *path)
{
    struct zkr__path_entry *entry = zkr__path_table_find(&engine->by_directory, path);
    if (entry) {
        struct zkr__directory *found =
            ZKR__OWNER_OF(entry, struct zkr__directory, by_path);
        found->refs++;
        return found;
    }
    struct zkr__directory *d = make_path_room(&engine->scratch, strlen(path))
                                   ? zkr__mem_alloc(sizeof(*d))
                                   : NULL;
    if (!d) {
        return NULL;
    }
    d->path = path;
    d->engine = engine;
    d->seen = -1;
    d->refs = 1;
    if (!zkr__path_table_add(&engine->by_directory, &d->by_path, d->path)) {
        zkr__mem_free(d);
        return NULL;
    }
    DL_APPEND(engine->directories, d);
    return d;
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
    if (d->keep) {
        zkr__path_unwatch(&d->engine->watchers, &d->keep->news);
        zkr__mem_free(d->keep);
    }
    zkr__mem_free(d->order);
    zkr__mem_free((void *)(uintptr_t)d->path);
    zkr__mem_free(d);
}

bool zkr__directory_keeps(struct zkr__directory *d)
{
    if (!d->keep && (d->keep = zkr__mem_alloc(sizeof(*d->keep)))) {
        d->keep->directory = d;
    }
    return d->keep;
}

void zkr__keep_contended(struct zkr__keep *keep)
{
    enum { LATELY_MS = 1000 };
    keep->contended_until = zkr__now(keep->directory->engine->c) + LATELY_MS * ZKR__MS;
}

void zkr__directory_unref(struct zkr__directory *d)
{
    if (--d->refs == 0) {
        free_directory(d);
    }
}

void zkr__directories_free(struct zkr__engine *engine)
{
    while (engine->directories) {
        free_directory(engine->directories);
    }
    zkr__mem_free(engine->scratch.path);
    zkr__mem_free(engine->scratch.row);
}
