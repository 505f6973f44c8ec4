/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include <string.h>

#include "base/mem.h"
#include "session/guardian.h"
#include "session/zk_value.h"

/* --- the watchers of each path --- */

struct zkr__watched_path {
    struct zkr__path_watcher *watchers; /* list */
    bool notifying;                     /* the path stays, also without watchers */
    struct zkr__path_entry entry;
    char text[];
};

static void push(struct zkr__path_watcher **list, struct zkr__path_watcher *watcher)
{
    watcher->next = *list;
    watcher->link = list;
    if (watcher->next) {
        watcher->next->link = &watcher->next;
    }
    *list = watcher;
}

static void take(struct zkr__path_watcher *watcher)
{
    *watcher->link = watcher->next;
    if (watcher->next) {
        watcher->next->link = watcher->link;
    }
}

static struct zkr__watched_path *find(struct zkr__path_table *all, const char *path)
{
    struct zkr__path_entry *entry = zkr__path_table_find(all, path);
    return entry ? ZKR__OWNER_OF(entry, struct zkr__watched_path, entry) : NULL;
}

static struct zkr__watched_path *find_or_add(struct zkr__path_table *all,
                                             const char *path)
{
    struct zkr__watched_path *found = find(all, path);
    if (found) {
        return found;
    }
    size_t len = strlen(path);
    struct zkr__watched_path *added = zkr__mem_alloc(sizeof(*added) + len + 1);
    if (!added) {
        return NULL;
    }
    memcpy(added->text, path, len);
    if (!zkr__path_table_add(all, &added->entry, added->text)) {
        zkr__mem_free(added);
        return NULL;
    }
    return added;
}

static void drop_unwatched(struct zkr__path_table *all, struct zkr__watched_path *path)
{
    if (!path->watchers && !path->notifying) {
        zkr__path_table_remove(all, &path->entry);
        zkr__mem_free(path);
    }
}

bool zkr__path_watch(struct zkr__path_table *all,
                     struct zkr__path_watcher *watcher,
                     const char *path)
{
    zkr__path_unwatch(all, watcher);
    watcher->path = find_or_add(all, path);
    if (watcher->path) {
        push(&watcher->path->watchers, watcher);
    }
    return watcher->path != NULL;
}

void zkr__path_unwatch(struct zkr__path_table *all, struct zkr__path_watcher *watcher)
{
    struct zkr__watched_path *path = watcher->path;
    if (path) {
        take(watcher);
        watcher->path = NULL;
        drop_unwatched(all, path);
    }
}

const char *zkr__path_watched(const struct zkr__path_watcher *watcher)
{
    return watcher->path ? watcher->path->text : NULL;
}

void zkr__path_event(struct zkr__path_table *all,
                     const char *path,
                     enum zkr__node_event event)
{
    struct zkr__watched_path *found = find(all, path);
    if (!found) {
        return;
    }
    struct zkr__path_watcher *concerned = found->watchers;
    found->watchers = NULL;
    if (concerned) {
        concerned->link = &concerned;
    }
    bool outermost = !found->notifying;
    found->notifying = true;
    while (concerned) {
        struct zkr__path_watcher *watcher = concerned;
        take(watcher);
        push(&found->watchers, watcher);
        watcher->on_event(watcher, event);
    }
    found->notifying = !outermost;
    drop_unwatched(all, found);
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

struct zkr__recount *zkr__recount_of(const struct zkr__directory *d)
{
    struct zkr__recount *r = d->engine->recounts;
    while (r && r->directory != d) {
        r = r->next;
    }
    return r;
}

static void free_directory(struct zkr__directory *d) ZKR__LOCKED
{
    struct zkr__recount *recount = zkr__recount_of(d);
    if (d->told && !d->engine->c->closing) { /* a close may be left to the guardian */
        (void)zkr__guardian_directory(d->engine->c, d->path, false);
    }
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
    if (recount) {
        LL_DELETE(d->engine->recounts, recount);
        zkr__zk_acl_free(recount->acl);
        zkr__mem_free(recount);
    }
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
