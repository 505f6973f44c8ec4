/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engine of one client keeps: its claims, found by their nodes; who watches which path; timers; and who
 * wants to hear of the session. Data alone: claim_run.c and session_events.c work on it, with the client's lock.
 */
#ifndef ZKR_ENGINE_ENGINE_H
#define ZKR_ENGINE_ENGINE_H

#include "base/path_table.h"
#include "base/timers.h"
#include "engine/children.h"
#include "engine/path_watchers.h"
#include "session/client.h"
#include "session/request.h"

struct zkr__claim;
struct zkr__directory;

enum zkr__session_change {
    ZKR__CHANGE_CONNECTED, /* connected, or connected again */
    ZKR__CHANGE_OVER,      /* the session ended */
    ZKR__CHANGE_REFUSED,   /* authentication failed for good */
    ZKR__CHANGE_SHUTDOWN   /* nobody is to wait any more */
};

/* Embedded in what wants to hear of the session. */
struct zkr__session_listener {
    struct zkr__session_listener *prev, *next;
    /* Must neither block, nor add or remove listeners. */
    void (*on_change)(struct zkr__session_listener *listener,
                      enum zkr__session_change change);
};

/*
 * A lease probe checks so many nodes at most, and so many bytes of paths and notes, but for a single path: servers
 * drop the connection by which a request of more than jute.maxbuffer comes, a MiB by default.
 */
enum { ZKR__PROBE_MAX = 128, ZKR__PROBE_BYTES = 262144 };

/* Lists that were not asked for. */
struct zkr__spared {
    int64_t shared; /* claims that had one together with another */
    int64_t guesses,
        wrong;      /* creates without a list, and such as needed one after all */
    int64_t behind; /* nodes placed behind one of another client by their number */
};

/* A list of no more than that is remembered: a few KiB for each directory. */
enum { ZKR__REMEMBERED_MAX = 64 };

/* So many nodes of ours are being made at a time. A lease probe waits for these, and for what they ask next. */
enum { ZKR__JOINING_MAX = 64 };

/* A list while it is given to those who asked. */
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
    struct zkr__claim *held;   /* list: held_prev, held_next; probed in turn */
    struct zkr__claim *line;   /* list, by the same: their nodes are to be made */
    int joining;               /* claims whose nodes are being made */
    int joining_max;           /* tests allow fewer */
    struct zkr__path_table by_node;
    struct zkr__directory *directories; /* list */
    struct zkr__path_table by_directory;
    int64_t looking; /* claims that look again now and then, for want of a watch */
    struct zkr__spared spared;
    size_t remembered_max; /* children of a list; tests remember less */
    struct zkr__given given;
    zkr__answer_fn on_list; /* gets the answers to lists, with each claim */
    struct zkr__scratch scratch;
    struct zkr__path_watchers watchers;
    struct zkr__timers timers;
    struct zkr__session_listener *listeners; /* list */
    int64_t probe_sent;                      /* zkr__now() */
    /* One was refused for the sake of a node, or a note: no checks, no notes before this. zkr__now() */
    int64_t checks_at, notes_at;
    size_t probed_count;
    struct zkr__claim *probed[ZKR__PROBE_MAX]; /* by the probe in flight */
    bool noted[ZKR__PROBE_MAX]; /* for each of them: its note goes with it */
    char host[64];
};

/* Hear of the session from now on, until. */
void zkr__engine_listen(struct zkr__engine *engine,
                        struct zkr__session_listener *listener) ZKR__LOCKED;
void zkr__engine_unlisten(struct zkr__engine *engine,
                          struct zkr__session_listener *listener) ZKR__LOCKED;

/* Set a timer, and see that the service is awake by then. */
void zkr__engine_timer(struct zkr__engine *engine,
                       struct zkr__timer *timer,
                       int64_t at) ZKR__LOCKED;

/*
 * When to look at what a watch has said nothing of since now: in four session timeouts, and for each up to eight, so that
 * thousands do not look at once. A watch may be spent without a word. Servers with the mend of CVE-2024-23944 (3.8.4,
 * 3.9.2 and later, and those of distributions) drop the event for a client that may not read the node at that moment;
 * of a child watch, the parent: NIOServerCnxn.process(event, znodeAcl), behind WatchManager.triggerWatch(), which has
 * taken the watch away. libzookeeper believes that it is set, and nothing tells that the node may be read again.
 */
int64_t zkr__engine_doubts_at(const struct zkr__engine *engine) ZKR__LOCKED;

#endif
