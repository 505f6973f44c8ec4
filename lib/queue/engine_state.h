/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of the engine of one client: the watchers of each path, the directories, its claims. All functions need the
 * client's lock.
 */
#ifndef ZKR_QUEUE_ENGINE_STATE_H
#define ZKR_QUEUE_ENGINE_STATE_H

#include <stdbool.h>

#include "base/clock.h"
#include "base/path_table.h"
#include "base/table.h"
#include "base/timers.h"
#include "queue/directory.h"
#include "session/client.h"
#include "session/request.h"
#include "session/zk.h"

struct zkr__claim;
struct zkr__ghost;

/*
 * The most nodes that a lease probe checks, and the most bytes of paths and metadata in it, unless a single path is
 * longer. A server drops the connection that sends it more than jute.maxbuffer in one request, a MiB by default.
 */
enum { ZKR__PROBE_MAX = 128, ZKR__PROBE_BYTES = 262144 };

/* How lists were saved; for tests and metrics. */
struct zkr__spared {
    int64_t shared;   /* claims that shared the list of another claim */
    int64_t bare;     /* creates without a list */
    int64_t wrong;    /* of these, creates that needed a list after all */
    int64_t behind;   /* nodes placed by their number behind a node of another client */
    int64_t prepared; /* grants for which a look ahead was enough */
};

/* A list of no more than that is remembered: a few KiB for each directory. */
enum { ZKR__REMEMBERED_MAX = 64 };

/* So many nodes of ours are being made at a time. A lease probe waits for these, and for what they ask next. */
enum { ZKR__JOINING_MAX = 64 };

/* A list while it is given to the claims that asked. */
struct zkr__given {
    struct zkr__children children;
    int code;            /* ZKR_OK, or why it could not be ordered */
    unsigned departures; /* of the directory, that are not in it any more */
};

/* Memory that is used again and again. */
struct zkr__scratch {
    char *path; /* for a node of ours in any directory */
    size_t path_room;
    struct zkr__child *row;
    size_t row_room;
};

struct zkr__engine {
    zkr_client *c;
    struct zkr__claim *claims; /* list of all: prev, next */
    struct zkr__claim *held;   /* list: row_prev, row_next; probed in turn */
    struct zkr__claim *line;   /* list, by the same: their nodes are to be made */
    int joining;               /* claims whose nodes are being made */
    int joining_max;           /* tests allow fewer */
    /* Bytes of the nodes that claims have or make, and their maximum, which tests lower. */
    int64_t node_bytes, node_bytes_max;
    int64_t last_token; /* of the last create that was answered */
    struct zkr__path_table by_node;
    struct zkr__directory *directories; /* list */
    struct zkr__recount *recounts;      /* list */
    struct zkr__path_table by_directory;
    /* Nodes of sessions that have ended: ghosts.h. */
    struct zkr__ghost *ghosts;      /* list */
    struct zkr__ghost *ghost_asked; /* its delete has no answer yet */
    struct zkr__timer ghost_timer;
    bool ghosts_seen; /* that such a node was still there is in the log */
    struct zkr__spared spared;
    size_t remembered_max; /* children of a list; tests remember less */
    struct zkr__given given;
    /* In claim_run.c: gets the answers to what claims ask, with the claim, the tag, and a reference that it drops. */
    zkr__answer_fn on_answer;
    /* In claim_run.c: gets the events of the node before the node ahead, for each claim that watches it. */
    void (*on_before)(struct zkr__path_watcher *watcher, enum zkr__node_event event);
    struct zkr__upcalls up;
    struct zkr__scratch scratch;
    struct zkr__path_table watchers; /* of paths */
    struct zkr__timers timers;
    int64_t probe_sent; /* zkr__now() */
    /* A probe was refused because of a node, or of metadata: no checks, or no metadata, before then. zkr__now() */
    int64_t checks_at, metadata_from;
    size_t probed_count;
    struct zkr__claim *probed[ZKR__PROBE_MAX]; /* in the probe in flight */
    bool with_metadata[ZKR__PROBE_MAX]; /* the probe writes metadata of probed[i] */
    char host[64];
};

/* Set a timer, and see that the service is awake by then. */
static inline void zkr__engine_timer(struct zkr__engine *engine,
                                     struct zkr__timer *timer,
                                     int64_t at) ZKR__LOCKED
{
    zkr__timer_set(&engine->timers, timer, at);
    zkr__wake_by(engine->c, at);
}

/*
 * When to read again what is watched from now on, if the watch stays silent: after four session timeouts, and a random time
 * up to four more, so that thousands do not read at once.
 *
 * A watch may be spent without an event. Servers with the fix of CVE-2024-23944 (3.8.4, 3.9.2 and later, and those of
 * distributions) drop the event for a client that may not read the node at that moment; for a child watch, the parent. See
 * NIOServerCnxn.process(event, znodeAcl), behind WatchManager.triggerWatch(), which has taken the watch away. libzookeeper
 * believes that the watch is set, and nothing tells that the node may be read again.
 */
static inline int64_t
zkr__engine_doubts_at(const struct zkr__engine *engine) ZKR__LOCKED
{
    enum { TIMES = 4 };
    zkr_client *c = engine->c;
    int64_t least = TIMES * c->session_ms * ZKR__MS;
    uint64_t later = zkr__retry_random(&c->random) % (uint64_t)(least + 1);
    return zkr__now(c) + least + (int64_t)later;
}

#endif
