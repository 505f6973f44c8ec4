/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory: the parent node of one queue or more, as a client sees it. Here is its memory; lists.h asks for its
 * children, or spares that. All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_DIRECTORY_H
#define ZKR_ENGINE_DIRECTORY_H

#include "engine/children.h"
#include "engine/engine.h"

/*
 * Who stands in a directory, as far as its numbers tell. Pure.
 *
 * Servers number the children of a directory by a count of all that were ever made there, by whomever, with a
 * number in their name or without; deletions do not move it. So when a node of ours gets the number that was next,
 * nobody came in between, and what was known before is still all there is, but for what has gone. Which number is
 * next is known from our last node, and from the last list, which comes with that count.
 *
 * The count says who came, and not where they stand: whoever names its child whole, digits and all, chooses its number,
 * above the count as well as below. So the others that are known stand in front of ours or behind them by their own
 * numbers, as in a list. No recipe chooses numbers, and two things are left to chance for who does:
 * - One above the count that is not known comes to stand among ours, which are known not to have others in between. It is
 *   passed when one of ours hands over to the next.
 * - One that is put in front of those in line is passed by them: they go by whom they found. Whoever comes after it does
 *   not get the number that was next, and so asks for a list, which has it.
 * Neither makes anybody wait who would not by a list.
 *
 * That holds for one directory. One that is deleted and made again counts from 0, so whoever keeps this has to
 * forget it when that may have happened.
 */

/* There is nobody but our nodes and the others that are known. */
#define ZKR__KNOWN_ALL INT64_MIN

struct zkr__known {
    bool counts;  /* the next three mean something */
    int64_t next; /* the number of the next child */
    /* All children numbered from here on are ours, but for those whose makers chose the number. */
    int64_t from;
    /* With ZKR__KNOWN_ALL: who is there beside ours, and such as are gone by now. */
    struct zkr__children others;
    unsigned
        quiet; /* so many nodes of ours in a row, at most two, had nobody before them */
};

void zkr__known_begin(struct zkr__known *known);
/* The directory may be another one. Frees what is remembered. */
void zkr__known_forget(struct zkr__known *known);
/* A node of ours got this number. True: it was the next one, nobody came in between. */
bool zkr__known_made(struct zkr__known *known, int64_t number);
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
/* The next node of ours is likely to have nobody before it, either. */
bool zkr__known_quiet(const struct zkr__known *known);

struct zkr__claim;
struct zkr__passage;

/* The watch that stays on the directory, and what is known with it. */
struct zkr__guard {
    enum { ZKR__UNGUARDED, ZKR__GUARD_ASKED, ZKR__GUARDED } state;
    unsigned asked;    /* times */
    int64_t doubts_at; /* GUARDED: it is asked for anew from then on */
    struct zkr__directory *directory;
    struct zkr__path_watcher watcher;
    struct zkr__known known;
};

/* Of the gate of a semaphore: who of this client asks for permits, and how far they are. passage.h has the words. */
struct zkr__line {
    struct zkr__passage *first; /* list: those IN_LINE, then those STRAIGHT */
    int64_t asked;              /* permits of those IN_LINE */
    int64_t queued;             /* others: QUEUED or INSIDE */
    struct zkr__passage *inside;
    bool
        crowded; /* others waited when somebody of ours last looked: who comes queues at once */
    bool closed; /* one that was STRAIGHT has gone to the gate: so do those behind it */
    bool moving, again;
};

struct zkr__directory {
    struct zkr__directory *prev, *next; /* of the engine */
    struct zkr__path_entry by_path;
    struct zkr__engine *engine;
    struct zkr__guard *guard;  /* NULL = there was none yet */
    struct zkr__claim *askers; /* list: who gets the answer to the list on its way */
    struct zkr__claim *later;  /* list: who gets that of the next one */
    struct zkr__claim *ours;   /* list: our claims whose nodes are known, by number */
    int64_t
        seen; /* children with a number, as far as this client knows; -1 = it does not */
    int refs;     /* of queues and claims */
    int requests; /* without an answer yet */
    /* Times that the session ended: answers of another era come too late. */
    unsigned era;
    unsigned departures;    /* times that a claim of ours began to leave, or left */
    struct zkr__line *line; /* NULL = nobody has asked for permits yet */
    int seen_strays;        /* others than these, at the last list */
    bool listing;           /* a list is on its way */
    bool used;              /* a node of ours was made in this session */
    bool owns_path;
    char *path; /* of the queue that it was made for, until that ends */
};

/* That at @path, with a reference more. @path is not copied: part with it. NULL: no memory. */
struct zkr__directory *zkr__directory_of(struct zkr__engine *engine,
                                         char *path) ZKR__LOCKED;
/* NULL: no memory. */
struct zkr__line *zkr__directory_line(struct zkr__directory *d) ZKR__LOCKED;
void zkr__directory_ref(struct zkr__directory *d) ZKR__LOCKED;
void zkr__directory_unref(struct zkr__directory *d) ZKR__LOCKED;
/* The same for whoever passed @path to zkr__directory_of(). True: it is the directory's now, which frees it. */
bool zkr__directory_part(struct zkr__directory *d, const char *path) ZKR__LOCKED;
/* A request of it was answered. */
void zkr__directory_answered(struct zkr__directory *d) ZKR__LOCKED;
/* At the end of the client. */
void zkr__directories_free(struct zkr__engine *engine) ZKR__LOCKED;

#endif
