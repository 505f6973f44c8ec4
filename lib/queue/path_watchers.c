/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/path_watchers.h"

#include <string.h>

#include "base/mem.h"

struct zkr__watched_path {
    struct zkr__path_watcher *watchers; /* a list */
    bool notifying;                     /* the path stays, even without watchers */
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
