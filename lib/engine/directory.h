/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory is the parent node of one queue or more. Here is what this client remembers of one, as long as a queue or
 * a claim needs it: its claims, what the numbers of its children tell, and the state of its guard and of its kept node.
 * children_cache.h and keep.h say what is done with them.
 *
 * All functions but those of struct zkr__known need the client's lock.
 */
#ifndef ZKR_ENGINE_DIRECTORY_H
#define ZKR_ENGINE_DIRECTORY_H

#include "engine/children.h"
#include "engine/engine.h"

struct zkr__claim;
struct zkr__permits_order;

/*
 * What the numbers tell. Pure.
 *
 * Servers number the children of a directory by a count of all children ever created there, with a number in their
 * name or without. Deletions do not move the count. So when a node of ours gets the number that was next, no node has
 * come in between, and what was known before is still all there is, except for nodes that have gone. The next number
 * is known from our last node, and from the last list, which comes with the count.
 *
 * The count tells which nodes came, not where they stand: a client that names its child whole, digits and all, chooses
 * the number, above the count or below it. So known nodes of others stand before ours or behind them by their own
 * numbers, as in a list. No recipe chooses numbers. For a client that does, two things are left to chance:
 * - A node above the count that is not known comes to stand among ours, which are taken for neighbours. The node is
 *   passed when one of ours hands over to the next.
 * - A node that is put before waiting ones is passed by them: their claims go by the list that they have seen. The next
 *   node does not get the number that was next, so its claim asks for a list, which shows the intruder.
 * Neither makes any claim wait that would not wait by a list.
 *
 * In a queue whose members enter again as they leave, one node usually comes between a list and our next node: the
 * next node of the client whose node has gone last. Its name can be told (zkr__guid_advance()), and that is what our
 * claim needs to wait for it. The *newcomer* is a guess: nothing but an answer that shows it says that it is there, and
 * that it is missing does not say that no node stands at its number. So it serves one claim, which waits for it, and is
 * no part of what is known.
 *
 * All this holds for one directory. A directory that is deleted and created again counts from 0, so all has to be
 * forgotten when that may have happened.
 */
struct zkr__known {
    bool counts;  /* the next three mean something */
    int64_t next; /* the number of the next child */
    /* All children numbered from here on are ours, but for those whose makers chose the number. */
    int64_t from;
    /* With ZKR__KNOWN_ALL: the nodes of other clients, some of which may be gone by now. */
    struct zkr__children others;
    /* So many nodes of ours in a row, at most two, got the number that was next. */
    unsigned quiet;
    bool foretells;                /* the last newcomer was the one expected */
    bool guessing;                 /* `newcomer` counts, until zkr__known_settle() */
    char left[ZKR__NAME_ROOM];     /* the child that has gone last since the list */
    char newcomer[ZKR__NAME_ROOM]; /* "" = no guess since the last node of ours */
};

/* There are no nodes but ours and `others`. */
#define ZKR__KNOWN_ALL INT64_MIN

void zkr__known_begin(struct zkr__known *known);
/* The directory may be another one. Frees what is remembered. */
void zkr__known_forget(struct zkr__known *known);
/*
 * A node of ours got this number. True: it was the next number, so no node has come in between. With `guessing` what is
 * known is still as before the node, until zkr__known_settle().
 */
bool zkr__known_made(struct zkr__known *known, int64_t number);
/* The place of the node of this number has been decided. */
void zkr__known_settle(struct zkr__known *known, int64_t number);
/*
 * A list that was sent behind our last node has been answered: all @children, and the number that was next.
 * @ours is asked about the children.
 */
void zkr__known_listed(struct zkr__known *known,
                       const struct zkr__children *children,
                       int64_t next,
                       zkr__child_filter ours,
                       void *ctx);
/* The child of this name is gone. */
void zkr__known_gone(struct zkr__known *known, const char *name);
/* The next node of ours is likely to get the next number. */
bool zkr__known_quiet(const struct zkr__known *known);

/* The watch on the directory, and what is known while it is set. */
struct zkr__guard {
    enum { ZKR__UNGUARDED, ZKR__GUARD_ASKED, ZKR__GUARDED } state;
    unsigned asked;    /* how often; an answer to an earlier request is dropped */
    int64_t doubts_at; /* GUARDED: from then on the watch is asked for anew */
    struct zkr__directory *directory;
    struct zkr__path_watcher watcher;
    struct zkr__known known;
    /* Of our newest node; "" = there was none since the guard is there. */
    char guid[ZKR__GUID_LEN + 1];
};

/* In place of the time: the node of the claim that stands is not to be kept. */
enum { ZKR__KEEP_NO_MORE = 1 };

/* What a directory needs once a queue there keeps nodes: keep.h. Times are by zkr__now(). */
struct zkr__keep {
    struct zkr__directory *directory;
    /* List, by held_prev and held_next: claims that wait without a node. */
    struct zkr__claim *line;
    int standing;            /* claims that have a node, or are about to */
    bool moving_up;          /* claims of `line` are being let in */
    int64_t contended_until; /* until then others are taken to contend */
    int64_t until;           /* the node is kept; 0 = none is, or ZKR__KEEP_NO_MORE */
    struct zkr__path_watcher news; /* of other contenders */
    unsigned news_asked;           /* times */
};

struct zkr__directory {
    struct zkr__directory *prev, *next; /* in engine->directories */
    struct zkr__path_entry by_path;
    struct zkr__engine *engine;
    const char *path; /* of the first queue here; the directory has taken it over */
    struct zkr__guard *guard;  /* NULL = not needed yet */
    struct zkr__keep *keep;    /* NULL = no queue keeps nodes here */
    struct zkr__claim *askers; /* list: claims that get the list on its way */
    struct zkr__claim *later;  /* list: claims that get the next one */
    struct zkr__claim *ours;   /* list: claims whose nodes are known, by number */
    /* Requests of this client for permits: semaphore_steps.h. NULL = there was none yet. */
    struct zkr__permits_order *order;
    /* Children with a number, and without one, as far as this client knows. seen: -1 = not known. */
    int seen, seen_strays;
    int refs; /* of queues, claims, and requests without an answer yet */
    /* Counts the ends of the session: an answer of an earlier generation comes too late. */
    unsigned generation;
    unsigned departures; /* times that a claim of ours began to leave, or left */
    signed char vain;    /* grows with each look-ahead in vain (claim.c) */
    bool listing;        /* a list is on its way */
    bool used;           /* a node of ours was made in this session */
};

/*
 * The directory at @path, with one reference more. NULL: no memory. When the directory's path is @path itself, it has
 * become the directory's, which frees it.
 */
struct zkr__directory *zkr__directory_of(struct zkr__engine *engine,
                                         const char *path) ZKR__LOCKED;
void zkr__directory_unref(struct zkr__directory *d) ZKR__LOCKED;
/* A queue here keeps nodes. False: no memory. */
bool zkr__directory_keeps(struct zkr__directory *d) ZKR__LOCKED;
/* Others contend here: for a while no node is kept. */
void zkr__keep_contended(struct zkr__keep *keep) ZKR__LOCKED;
/* At the end of the client. */
void zkr__directories_free(struct zkr__engine *engine) ZKR__LOCKED;

#endif
