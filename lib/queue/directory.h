/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory is the parent node of one or more queues. This struct has what the client knows of the directory, and
 * exists while a queue, a claim or a request refers to it. children_cache.h and keep.h describe the use of its watch
 * and its kept node. All functions need the client's lock.
 */
#ifndef ZKR_QUEUE_DIRECTORY_H
#define ZKR_QUEUE_DIRECTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/path_table.h"
#include "queue/children.h"
#include "queue/path_watchers.h"
#include "session/client.h"

struct ACL_vector;
struct zkr__claim;
struct zkr__engine;
struct zkr__permits_order;

/* The watch on the directory, and what the client knows of the children while the watch is set. */
struct zkr__dir_watch {
    enum { ZKR__UNWATCHED, ZKR__WATCH_ASKED, ZKR__WATCHED } state;
    /* Number of the last request; answers to earlier ones are dropped. */
    unsigned asked;
    int64_t doubts_at; /* WATCHED: when to set the watch again */
    struct zkr__directory *directory;
    struct zkr__path_watcher watcher;
    struct zkr__known known;
};

/* The state of a directory in which a queue keeps nodes (keep.h). Times are by zkr__now(). */
struct zkr__keep {
    struct zkr__directory *directory;
    /* List, by row_prev and row_next, of the claims that wait without a node of their own. */
    struct zkr__claim *line;
    /* Number of claims that have a node or are about to create one. */
    int standing;
    bool moving_up;                /* a claim in `line` is leaving the line */
    bool over;                     /* the current node must not be kept */
    int64_t contended_until;       /* until then, other contenders are assumed */
    int64_t until;                 /* until then, the node is kept; 0 = not kept yet */
    struct zkr__path_watcher news; /* news of other contenders */
    unsigned news_asked;           /* number of the last request for `news` */
};

struct zkr__directory {
    struct zkr__directory *prev, *next; /* next in engine->directories */
    struct zkr__path_entry by_path;
    struct zkr__engine *engine;
    const char *path; /* from the first queue here; owned by the directory */
    struct zkr__dir_watch *watch; /* NULL = not needed yet */
    struct zkr__keep *keep;       /* NULL = no queue keeps nodes here */
    struct zkr__claim *askers;    /* list: claims that get the list in flight */
    struct zkr__claim *later;     /* list: claims that get the next list */
    struct zkr__claim *ours;      /* list, by number: claims whose nodes are known */
    /* The order of this client's requests for permits (permits.h). NULL = no request yet. */
    struct zkr__permits_order *order;
    /*
     * Numbers of children that this client knows of, with and without a number in their names. A `seen` of -1 means not
     * known.
     */
    int seen, seen_strays;
    int refs; /* references of queues, claims and requests in flight */
    /* Number of sessions that have ended. The client drops answers of an earlier generation. */
    unsigned generation;
    unsigned departures; /* number of steps made by our leaving claims */
    uint16_t
        joining; /* nodes being created: those of one group, or at most joining_max */
    bool listing : 1;     /* a list is in flight */
    bool used : 1;        /* a node of ours was created in this session */
    bool warned : 1;      /* the log has the reason why the directory is not deleted */
    bool at_guardian : 1; /* the guardian knows the directory */
    bool near : 1;        /* the creator of the node read last may send news */
    bool asks_behind : 1; /* a list in flight shows the waiters behind our holds */
};

/*
 * Returns the directory at @path, with one more reference, or NULL if memory runs out. A new directory takes ownership
 * of the string @path.
 */
struct zkr__directory *zkr__directory_of(struct zkr__engine *engine,
                                         const char *path) ZKR__LOCKED;
void zkr__directory_unref(struct zkr__directory *d) ZKR__LOCKED;
/* Allocate d->keep for a queue that keeps nodes. Returns false if memory runs out. */
bool zkr__directory_keeps(struct zkr__directory *d) ZKR__LOCKED;
/* Called when the client is freed. */
void zkr__directories_free(struct zkr__engine *engine) ZKR__LOCKED;

/*
 * The data of recount.c, for a directory whose sequence numbers are high. Few directories need this struct, so
 * directories have no pointer to it.
 */
struct zkr__recount {
    struct zkr__recount *next; /* next in engine->recounts */
    const struct zkr__directory *directory;
    struct ACL_vector *acl; /* ACL of a node of ours; NULL = not known */
    int deletable; /* data version at which to delete the directory; -1 = never */
};

/* Returns the recount of the directory, or NULL. */
struct zkr__recount *zkr__recount_of(const struct zkr__directory *d) ZKR__LOCKED;

#endif
