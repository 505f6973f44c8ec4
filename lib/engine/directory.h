/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory: the parent node of one queue or more, as a client sees it. Here its lists are asked for, one at a time.
 *
 * A claim is served by the first list that is sent after it has asked, so behind its create, and behind all that it
 * has heard by then. While a list is on its way those who ask wait for the next one, which is sent as soon as the
 * first is answered, and share it. So a crowd costs a few lists, not one for each.
 *
 * reckon.h has what spares lists altogether. All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_DIRECTORY_H
#define ZKR_ENGINE_DIRECTORY_H

#include "engine/engine.h"
#include "engine/known.h"
#include "session/request.h"

struct zkr__claim;
struct zkr__queue;

struct zkr__directory {
    struct zkr__directory *prev, *next; /* of the engine */
    struct zkr__path_entry by_path;
    struct zkr__engine *engine;
    struct zkr__guard *guard;  /* reckon.h; NULL = there was none yet */
    struct zkr__claim *askers; /* list: who gets the answer to the list on its way */
    struct zkr__claim *later;  /* list: who gets that of the next one */
    struct zkr__claim *ours;   /* list: our claims whose nodes are known, by number */
    int refs;                  /* of queues and claims */
    int requests;              /* without an answer yet */
    /* Times that the session ended: answers of another era come too late. */
    unsigned era;
    unsigned departures; /* times that a claim of ours began to leave, or left */
    bool listing;        /* a list is on its way */
    bool used;           /* a node of ours was made in this session */
    bool owns_path;
    char *path; /* of the queue that it was made for, until that ends */
};

/* That of the queue, which keeps it. NULL: no memory. */
struct zkr__directory *zkr__directory_of(struct zkr__engine *engine,
                                         struct zkr__queue *q) ZKR__LOCKED;
void zkr__directory_ref(struct zkr__directory *d) ZKR__LOCKED;
/* The same for a queue that ends. */
void zkr__directory_part(struct zkr__queue *q) ZKR__LOCKED;
void zkr__directory_unref(struct zkr__directory *d) ZKR__LOCKED;
/* A request of it was answered. */
void zkr__directory_answered(struct zkr__directory *d) ZKR__LOCKED;
/* At the end of the client. */
void zkr__directories_free(struct zkr__engine *engine) ZKR__LOCKED;

/* --- our claims --- */

/* Its node is known, or is so no more. */
void zkr__directory_add(struct zkr__claim *claim) ZKR__LOCKED;
void zkr__directory_remove(struct zkr__claim *claim) ZKR__LOCKED;
/* It begins to leave, if it has not yet. */
void zkr__directory_departs(struct zkr__claim *claim) ZKR__LOCKED;

/* The one whose node has this name, or NULL. */
struct zkr__claim *zkr__directory_claim(const struct zkr__directory *d,
                                        const char *name) ZKR__LOCKED;
/* The same as a filter; @ctx is the directory. */
bool zkr__directory_is_ours(void *ctx, const char *name) ZKR__LOCKED;

/* --- lists --- */

/* Give the claim the answer to the next list: @fn gets it as if it was asked for in the present round. */
void zkr__directory_want(struct zkr__claim *claim, zkr__answer_fn fn) ZKR__LOCKED;
/* Send a list if one is wanted, and none is on its way. */
void zkr__directory_list(struct zkr__directory *d) ZKR__LOCKED;
/* It waits for a list no more. */
void zkr__directory_drop(struct zkr__claim *claim) ZKR__LOCKED;
/* It waits for one, in this round. */
bool zkr__directory_wanted(const struct zkr__claim *claim) ZKR__LOCKED;
/* While an answer is given: the children but for those of ours that leave. Returns ZKR_OK or ZKR_ENOMEM. */
int zkr__directory_children(struct zkr__directory *d,
                            const struct zkr__children **out) ZKR__LOCKED;

/* --- the session --- */

/* It came back: what happened meanwhile is told in no order. */
void zkr__directories_connected(struct zkr__engine *engine) ZKR__LOCKED;
void zkr__directories_session_over(struct zkr__engine *engine) ZKR__LOCKED;

#endif
