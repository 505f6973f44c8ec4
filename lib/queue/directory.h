/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory is the parent node of one queue or more. Here is what this client remembers of a directory, as long as a
 * queue, a claim or a request needs it. children_cache.h and keep.h say what is done with its watch and its kept node.
 * All functions need the client's lock.
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

/* The watch on the directory, and what is known while it is set. */
struct zkr__dir_watch {
    enum { ZKR__UNWATCHED, ZKR__WATCH_ASKED, ZKR__WATCHED } state;
    unsigned asked;    /* how often; an answer to an earlier request is dropped */
    int64_t doubts_at; /* WATCHED: when to set the watch again */
    struct zkr__directory *directory;
    struct zkr__path_watcher watcher;
    struct zkr__known known;
};

/* Of a directory where a queue keeps nodes: keep.h. Times are by zkr__now(). */
struct zkr__keep {
    struct zkr__directory *directory;
    /* List, by row_prev and row_next: claims that wait without a node. */
    struct zkr__claim *line;
    int standing;                  /* claims that have a node, or are about to */
    bool moving_up;                /* a claim of `line` is going */
    bool over;                     /* the node that stands is not to be kept */
    int64_t contended_until;       /* until then others are taken to contend */
    int64_t until;                 /* the node is kept; 0 = not kept yet */
    struct zkr__path_watcher news; /* of other contenders */
    unsigned news_asked;           /* times */
};

struct zkr__directory {
    struct zkr__directory *prev, *next; /* in engine->directories */
    struct zkr__path_entry by_path;
    struct zkr__engine *engine;
    const char *path; /* of the first queue here; the directory has taken it over */
    struct zkr__dir_watch *watch; /* NULL = not needed yet */
    struct zkr__keep *keep;       /* NULL = no queue keeps nodes here */
    struct zkr__claim *askers;    /* list: claims that get the list on its way */
    struct zkr__claim *later;     /* list: claims that get the next list */
    struct zkr__claim *ours;      /* list: claims whose nodes are known, by number */
    /* Requests of this client for permits: permits.h. NULL = there was none yet. */
    struct zkr__permits_order *order;
    /* How many children with a number, and without a number, this client knows of. seen: -1 = not known. */
    int seen, seen_strays;
    int refs; /* of queues, claims, and requests without an answer yet */
    /* Counts the ends of the session: an answer of an earlier generation comes too late. */
    unsigned generation;
    unsigned departures; /* times that a claim of ours began to leave, or left */
    uint16_t
        joining; /* nodes that are being made, at most those of one group or joining_max */
    bool listing : 1;     /* a list is on its way */
    bool used : 1;        /* a node of ours was made in this session */
    bool warned : 1;      /* that the directory may not be deleted */
    bool at_guardian : 1; /* the guardian knows the directory */
    bool near : 1;        /* the node that was read last there may tell news (news.h) */
    bool asks_behind : 1; /* a list on its way shows the waiters behind holds */
};

/*
 * The directory at @path, with one more reference. NULL: no memory. When the directory's path is @path itself, the
 * directory owns that string from now on.
 */
struct zkr__directory *zkr__directory_of(struct zkr__engine *engine,
                                         const char *path) ZKR__LOCKED;
void zkr__directory_unref(struct zkr__directory *d) ZKR__LOCKED;
/* A queue here keeps nodes. False: no memory. */
bool zkr__directory_keeps(struct zkr__directory *d) ZKR__LOCKED;
/* At the end of the client. */
void zkr__directories_free(struct zkr__engine *engine) ZKR__LOCKED;

/* Of a directory whose sequence numbers are high: recount.c. Few have them, so the directory has no pointer to it. */
struct zkr__recount {
    struct zkr__recount *next; /* in engine->recounts */
    const struct zkr__directory *directory;
    struct ACL_vector *acl; /* of a node of ours; NULL = not known */
    int deletable; /* the directory may be deleted while its data have this version; -1 = it may not */
};

/* NULL: the directory has none. */
struct zkr__recount *zkr__recount_of(const struct zkr__directory *d) ZKR__LOCKED;

#endif
