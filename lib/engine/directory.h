/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory: the parent node of one queue or more, as a client sees it. Here is its memory; lists.h asks for its
 * children, and reckon.h has what spares that. All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_DIRECTORY_H
#define ZKR_ENGINE_DIRECTORY_H

#include "engine/engine.h"
#include "engine/known.h"

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
