/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is notified of what happens to a path. The watches at the server are left by requests (zk.h); this is only
 * the list of those concerned, found by the path. Needs the client's lock.
 */
#ifndef ZKR_ENGINE_PATH_WATCHERS_H
#define ZKR_ENGINE_PATH_WATCHERS_H

#include <stdbool.h>

#include "base/path_table.h"
#include "session/zk.h"

struct zkr__watched_path;

/* Embedded in what is concerned. Zeroed except for on_event: watches nothing. */
struct zkr__path_watcher {
    void (*on_event)(struct zkr__path_watcher *watcher, enum zkr__node_event event);
    struct zkr__watched_path *path; /* NULL = none */
    struct zkr__path_watcher *next, **link;
};

struct zkr__path_watchers {
    struct zkr__path_table paths;
};

/* Watch @path instead of any before. False: no memory, and nothing is watched. */
bool zkr__path_watch(struct zkr__path_watchers *all,
                     struct zkr__path_watcher *watcher,
                     const char *path);
/* A no-op when nothing is watched. */
void zkr__path_unwatch(struct zkr__path_watchers *all,
                       struct zkr__path_watcher *watcher);
/* The path, or NULL. */
const char *zkr__path_watched(const struct zkr__path_watcher *watcher);

/*
 * Notify all who watch @path now, each once. They may come and go meanwhile, and take others along.
 */
void zkr__path_event(struct zkr__path_watchers *all,
                     const char *path,
                     enum zkr__node_event event);

#endif
