/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of a client owns the client's directories, its claims, and the watchers of each path. All functions need
 * the client's lock.
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
 * The limits of a lease probe: how many nodes it checks, and how many bytes of paths and metadata it has (a single path
 * may be longer). A server closes the connection if one request exceeds jute.maxbuffer, 1 MiB by default.
 */
enum { ZKR__PROBE_MAX = 128, ZKR__PROBE_BYTES = 262144 };

/* Counts of avoided lists, for tests and metrics. */
struct zkr__spared {
    int64_t shared;   /* claims that shared the list of another claim */
    int64_t bare;     /* creates sent without a list */
    int64_t wrong;    /* creates without a list that needed one after all */
    int64_t behind;   /* nodes placed by their number behind another client's node */
    int64_t prepared; /* grants that needed no list because the claim looked ahead */
};

/* The number of children in the longest list that is remembered. Such a list takes a few KiB in each directory. */
enum { ZKR__REMEMBERED_MAX = 64 };

/*
 * Maximum number of our creates in flight. A lease probe waits for their answers, and for the answers to the requests
 * that follow them.
 */
enum { ZKR__JOINING_MAX = 64 };

/* A list that is being delivered to the claims that asked for it. */
struct zkr__given {
    struct zkr__children children;
    int code; /* ZKR_OK, or the reason why the list could not be ordered */
    /* d->departures when nodes of leaving claims were last removed. */
    unsigned departures;
};

/* Reusable buffers. */
struct zkr__scratch {
    char *path; /* has room for the path of a node of ours in any directory */
    size_t path_room;
    struct zkr__child *row;
    size_t row_room;
};

struct zkr__engine {
    zkr_client *c;
    struct zkr__claim *claims; /* list, by prev and next: all claims */
    /* List, by row_prev and row_next, of the holds in the order of their probes. */
    struct zkr__claim *held;
    /*
     * When (CLOCK_BOOTTIME) to check for holds that must be warned, computed for the lease bound warn_until. 0 = never.
     */
    int64_t warn_at, warn_until;
    /* List, by row_prev and row_next, of the claims that wait for admission. */
    struct zkr__claim *line;
    int joining;     /* number of claims whose nodes are being created */
    int joining_max; /* the limit for `joining`; lower in some tests */
    /* The size of all nodes that claims have or are creating, and its maximum, which is lower in some tests. */
    int64_t node_bytes, node_bytes_max;
    int64_t last_token; /* fencing token of the create answered last */
    struct zkr__path_table by_node;
    struct zkr__directory *directories; /* a list */
    struct zkr__recount *recounts;      /* a list */
    struct zkr__path_table by_directory;
    /* Nodes of ended sessions (ghosts.h). */
    struct zkr__ghost *ghosts;      /* list */
    struct zkr__ghost *ghost_asked; /* the ghost whose delete is in flight */
    struct zkr__timer ghost_timer;
    bool ghosts_seen; /* the log has already reported a ghost */
    struct zkr__spared spared;
    size_t remembered_max; /* longest list that is remembered; lower in some tests */
    struct zkr__given given;
    /*
     * Set by claim_run.c. Called with a claim, the tag of its request, and the answer. Drops one reference to the
     * claim.
     */
    zkr__answer_fn on_answer;
    /*
     * Set by claim_run.c. Called for each claim that watches the node before the node ahead, at an event of that node.
     */
    void (*on_before)(struct zkr__path_watcher *watcher, enum zkr__node_event event);
    struct zkr__upcalls up;
    struct zkr__scratch scratch;
    struct zkr__path_table watchers; /* all path watchers, by path */
    struct zkr__timers timers;
    int64_t probe_sent; /* when the last probe was sent, by zkr__now() */
    /* After a refusal, probes have no checks or no metadata before these times (zkr__now()). */
    int64_t checks_at, metadata_from;
    size_t probed_count;
    /* The claims that the probe in flight checks. */
    struct zkr__claim *probed[ZKR__PROBE_MAX];
    bool with_metadata[ZKR__PROBE_MAX]; /* the probe writes metadata of probed[i] */
    char host[64];
};

/* Set the timer, and make sure that the service thread wakes by @at. */
static inline void zkr__engine_timer(struct zkr__engine *engine,
                                     struct zkr__timer *timer,
                                     int64_t at) ZKR__LOCKED
{
    zkr__timer_set(&engine->timers, timer, at);
    zkr__wake_by(engine->c, at);
}

/*
 * Returns when to doubt a watch that is set now, and to read its node again. That is after four session timeouts plus a
 * random time of up to four more, so that thousands of claims do not read at once.
 *
 * A server may use up a watch without sending an event. If the client may not read the node (for a child watch, the
 * parent) at that moment, servers with the fix of CVE-2024-23944 (3.8.4, 3.9.2 and later, and those of distributions)
 * drop the event. See NIOServerCnxn.process(event, znodeAcl), which runs after WatchManager.triggerWatch() has removed
 * the watch. libzookeeper still believes that the watch is set, and nothing reports when the client may read the node
 * again.
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
