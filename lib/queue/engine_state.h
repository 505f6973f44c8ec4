/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of one client owns its directories, its claims, and the watchers of each path. All functions need the
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
 * The limits of a lease probe: nodes checked, and bytes of paths and metadata (a single path may be longer). A server
 * closes the connection if one request exceeds jute.maxbuffer, 1 MiB by default.
 */
enum { ZKR__PROBE_MAX = 128, ZKR__PROBE_BYTES = 262144 };

/* How often lists were saved; for tests and metrics. */
struct zkr__spared {
    int64_t shared;   /* claims that shared the list of another claim */
    int64_t bare;     /* creates sent without a list */
    int64_t wrong;    /* such creates that needed a list after all */
    int64_t behind;   /* nodes placed by number behind a node of another client */
    int64_t prepared; /* grants that needed no list because of a look-ahead */
};

/* The longest list that is remembered, in children. Such a list takes a few KiB for each directory. */
enum { ZKR__REMEMBERED_MAX = 64 };

/* How many creates of ours may be in flight. A lease probe waits for their answers and for the requests that follow. */
enum { ZKR__JOINING_MAX = 64 };

/* A list that is being delivered to the claims that asked for it. */
struct zkr__given {
    struct zkr__children children;
    int code;            /* ZKR_OK, or why the list could not be ordered */
    unsigned departures; /* d->departures when leaving nodes were last removed */
};

/* Reusable buffers. */
struct zkr__scratch {
    char *path; /* room for a node of ours in any directory */
    size_t path_room;
    struct zkr__child *row;
    size_t row_room;
};

struct zkr__engine {
    zkr_client *c;
    struct zkr__claim *claims; /* list, by prev and next: all claims */
    /* List, by row_prev and row_next: holds, in the order of their probes. */
    struct zkr__claim *held;
    /* When (CLOCK_BOOTTIME) to check for holds to warn, computed for the lease bound warn_until; 0 = never. */
    int64_t warn_at, warn_until;
    /* List, by row_prev and row_next: claims that wait for admission. */
    struct zkr__claim *line;
    int joining;     /* claims whose nodes are being created */
    int joining_max; /* lower in some tests */
    /* Bytes of the nodes that claims have or create, and the maximum, which is lower in some tests. */
    int64_t node_bytes, node_bytes_max;
    int64_t last_token; /* fencing token of the last create that was answered */
    struct zkr__path_table by_node;
    struct zkr__directory *directories; /* list */
    struct zkr__recount *recounts;      /* list */
    struct zkr__path_table by_directory;
    /* Nodes of ended sessions (ghosts.h). */
    struct zkr__ghost *ghosts;      /* list */
    struct zkr__ghost *ghost_asked; /* the ghost whose delete is in flight */
    struct zkr__timer ghost_timer;
    bool ghosts_seen; /* the log already reports a ghost */
    struct zkr__spared spared;
    size_t remembered_max; /* longest list remembered; lower in some tests */
    struct zkr__given given;
    /*
     * Set by claim_run.c: called with a claim, the tag of its request, and the answer. Drops one reference of the
     * claim.
     */
    zkr__answer_fn on_answer;
    /*
     * Set by claim_run.c: called for each claim that watches the node before the node ahead, at an event of that node.
     */
    void (*on_before)(struct zkr__path_watcher *watcher, enum zkr__node_event event);
    struct zkr__upcalls up;
    struct zkr__scratch scratch;
    struct zkr__path_table watchers; /* the path watchers, by path */
    struct zkr__timers timers;
    int64_t probe_sent; /* zkr__now() */
    /* After a refusal: until then (zkr__now()), probes have no checks, or no metadata. */
    int64_t checks_at, metadata_from;
    size_t probed_count;
    struct zkr__claim *probed[ZKR__PROBE_MAX]; /* checked by the probe in flight */
    bool with_metadata[ZKR__PROBE_MAX]; /* the probe writes metadata of probed[i] */
    char host[64];
};

/* Set the timer, and wake the service thread by @at. */
static inline void zkr__engine_timer(struct zkr__engine *engine,
                                     struct zkr__timer *timer,
                                     int64_t at) ZKR__LOCKED
{
    zkr__timer_set(&engine->timers, timer, at);
    zkr__wake_by(engine->c, at);
}

/*
 * Returns when to doubt a watch that is set now, and read its node again: after four session timeouts plus a random
 * time of up to four more, so that thousands of claims do not read at once.
 *
 * A server may use up a watch without sending an event. Servers with the fix of CVE-2024-23944 (3.8.4, 3.9.2 and later,
 * and those of distributions) drop the event if the client may not read the node (for a child watch, the parent) at
 * that moment. See NIOServerCnxn.process(event, znodeAcl), called after WatchManager.triggerWatch(), which has removed
 * the watch. libzookeeper believes that the watch is set, and nothing reports when the node becomes readable again.
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
