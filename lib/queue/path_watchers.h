/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of the watchers of each path. The events of a path are passed to its watchers. Requests set the watches at
 * the server (zk.h), and this table finds the watchers for the path of an event. All functions need the client's lock.
 */
#ifndef ZKR_QUEUE_PATH_WATCHERS_H
#define ZKR_QUEUE_PATH_WATCHERS_H

#include <stdbool.h>

#include "base/path_table.h"
#include "session/zk.h"

struct zkr__watched_path;

/*
 * Embedded in the object that receives the events. If all fields except on_event are zero, the watcher watches nothing.
 */
struct zkr__path_watcher {
    void (*on_event)(struct zkr__path_watcher *watcher, enum zkr__node_event event);
    struct zkr__watched_path *path; /* NULL = nothing is watched */
    struct zkr__path_watcher *next, **link;
};

/* Watch @path instead of the previous path. If memory runs out, returns false, and nothing is watched. */
bool zkr__path_watch(struct zkr__path_table *all,
                     struct zkr__path_watcher *watcher,
                     const char *path);
/* Stop watching. If @watcher watches nothing, this is a no-op. */
void zkr__path_unwatch(struct zkr__path_table *all, struct zkr__path_watcher *watcher);
/* Returns the watched path, or NULL. */
const char *zkr__path_watched(const struct zkr__path_watcher *watcher);
static inline bool zkr__path_watches(const struct zkr__path_watcher *watcher)
{
    return watcher->path != NULL;
}

/* Notify each current watcher of @path once. Watchers may be added and removed meanwhile. */
void zkr__path_event(struct zkr__path_table *all,
                     const char *path,
                     enum zkr__node_event event);

#endif
