/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A claim: one node of ours in a queue. claim_state.h describes its states. claim.c manages its memory, its node, and
 * its place behind another node. All functions need the client's lock.
 */
#ifndef ZKR_QUEUE_CLAIM_H
#define ZKR_QUEUE_CLAIM_H

#include "base/table.h"
#include "queue/claim_state.h"
#include "queue/engine_state.h"
#include "queue/queue.h"
#include "session/request.h"

struct zkr__group;
struct zkr__loss;
struct zkr__near;
struct zkr__next;

struct zkr__claim {
    struct zkr__claim_state k;
    struct zkr__queue *q;
    struct zkr__engine *engine;
    struct zkr__directory *directory;
    int refs;
    /* Size of the node's path. It counts in the engine's node_bytes and, if `reserves` is set, as room for a watch. */
    int bytes;
    bool live;         /* the claim is not GONE, so the engine has a reference to it */
    bool reserves : 1; /* room is reserved for the watch on the claim's node */
    bool keeps_lease : 1; /* the claim counts in the client's `prepared` */
    bool stands : 1,
        in_line : 1; /* stands: in keep->standing; in_line: in keep->line */
    /* admitted: the node is being created. awaits_admission: the claim is in line (admission.h). */
    bool admitted : 1, awaits_admission : 1;
    /*
     * For FINDING. written: the write before the list was answered. unwritable: the servers do not support such a
     * write.
     */
    bool written : 1, unwritable : 1;
    bool counted_refused : 1;

    /* The recipe reads this. */
    bool canceled : 1;
    /*
     * When the owner leaves a lost hold, part of the owner's code may still rely on the hold, for example after an
     * inner release.
     */
    bool relied_on : 1;
    bool once : 1;    /* the claim fails with ZKR_ETIMEDOUT instead of waiting */
    bool taken : 1;   /* the owner knows of the hold */
    bool guarded : 1; /* a write of the owner may arrive after the release (news.h) */
    /* Released, and the next process may get news of that (news.h). */
    bool passed_on : 1;
    enum zkr__hand_over came : 4; /* how the claim last left PARKED */
    /* The list for which the claim waits. */
    enum { ZKR__NO_LIST, ZKR__THIS_LIST, ZKR__NEXT_LIST } list : 4;
    /*
     * Whether a write to our node can harm a waiter behind it. BEARS: it cannot. BEARS_NOT: it can. Known from a list
     * after the grant.
     */
    enum { ZKR__BEARS_UNKNOWN, ZKR__BEARS, ZKR__BEARS_NOT } bearing : 2;
    /* The warning before the end of a hold that the owner knows of (warning.h). */
    enum { ZKR__WARNING_OFF, ZKR__WARNING_AWAITED, ZKR__WARNING_DUE } warning : 2;
    unsigned char counted_as; /* the claim's counter in the client's statistics */
    unsigned place;           /* contenders ahead at the last list; 0 = not known */
    int detail;               /* ZooKeeper's code for the failure */
    int parent_code;          /* why the parents cannot be created */
    int parent_detail;        /* ZooKeeper's code for parent_code */
    unsigned epoch;           /* epoch of the session that owns the node */
    /* Revocation requests that are not reported to the owner yet. */
    unsigned revocations;
    int64_t sequence;
    int64_t czxid;
    int64_t held_since_ms;  /* wall clock, ms since 1970; 0 = not held yet */
    int64_t held_at;        /* held_since_ms, by zkr__now() */
    struct zkr__loss *loss; /* see loss.c; NULL = nothing was lost, or memory ran out */
    void (*on_change)(struct zkr__claim *claim, void *ctx);
    void *on_change_ctx;
    /* The condition variable of the thread that waits for the outcome. NULL = no thread waits. */
    struct zkr__cv *sleeper;

    /* The engine's lists and tables. */
    struct zkr__claim *prev, *next;
    /* Links in at most one of engine->held, engine->line and keep->line. */
    struct zkr__claim *row_prev, *row_next;
    /* Entry in the table of nodes, while the node of the claim is known. */
    struct zkr__path_entry by_node;
    /* Links in d->ours, while the node of the claim is known. */
    struct zkr__claim *ours_prev, *ours_next;
    /* Linked while the claim waits for a list. */
    struct zkr__claim *list_prev, *list_next;
    unsigned list_tag;
    /* Actions (zkr__action) to send together with those of other members. */
    unsigned unsent;

    /* For PARKED: the claim ahead if it is of this client. NULL = ahead_watcher watches a path instead. */
    struct zkr__claim *ahead;
    struct zkr__claim *behind; /* list: claims behind this one */
    /* Links in the list of the claim ahead. */
    struct zkr__claim *behind_prev, *behind_next;
    struct zkr__path_watcher ahead_watcher;
    /* The content of the node ahead when it was last read. NULL = not known, or a node of this client. */
    struct zkr__seen *seen;
    /* The process that created the node ahead, and the process whose waiter is behind this claim. NULL = not known. */
    struct zkr__near *near;
    struct zkr__next *next_near;
    /* The watcher of the node before the node ahead. NULL = there is none. */
    struct zkr__before *before;

    struct zkr__group *group; /* NULL = no group, or the claim has left its group */

    struct zkr__timer timer; /* set to the earliest of the next five times */
    int64_t retry_at, quiet_at, doubt_at, give_up_at, metadata_at; /* 0 = off */

    long thread; /* the thread that made the claim */
    /* The path in the create request and, after the answer, the path of our node. "" = none yet. */
    char node[];
};

/*
 * Watches the node before the node ahead. It is allocated separately, because only a few of many waiting claims look
 * ahead.
 */
struct zkr__before {
    struct zkr__path_watcher watcher;
    struct zkr__claim *claim;
};

/* How a claim enters a queue, and whom it notifies. */
struct zkr__entry {
    bool once; /* the claim fails with ZKR_ETIMEDOUT instead of waiting */
    /*
     * When the claim fails if it is still undecided: with ZKR_ETIMEDOUT if it is behind another claim, or with
     * ZKR_ENOANSWER if no server has shown its place. For claims on which no thread sleeps. 0 or ZKR__NEVER = no
     * deadline.
     */
    int64_t deadline;
    long thread; /* for the owner text; 0 = the calling thread */
    /*
     * Called with the lock held at each change of the outcome (granted, failed, lost, in doubt). It must not block. It
     * may call zkr__claim_leave() without @wait. NULL = none.
     */
    void (*on_change)(struct zkr__claim *claim, void *ctx);
    void *ctx;
};

/*
 * Returns a claim that has not started, with two references: the owner's, and the engine's, which lasts until the claim
 * is GONE. Returns NULL if memory runs out.
 */
struct zkr__claim *zkr__claim_make(struct zkr__queue *q,
                                   struct zkr__engine *engine,
                                   const struct zkr__entry *entry) ZKR__LOCKED;
/*
 * Returns whether there is room for the node of one more claim and, in a queue with watch_node, for the watch on that
 * node. If there is none, the caller may make a claim only in place of another one.
 */
bool zkr__claim_fits(const struct zkr__queue *q,
                     const struct zkr__engine *engine) ZKR__LOCKED;
/*
 * Before the claim moves to @q, reserve room for the watch on the claim's node if @q has watch_node. Returns false if
 * there is no room.
 */
bool zkr__claim_reserve(struct zkr__claim *claim,
                        const struct zkr__queue *q) ZKR__LOCKED;
/* Return the room of a claim that is GONE. */
void zkr__claim_recount_bytes(struct zkr__claim *claim) ZKR__LOCKED;
/* Take a reference. It keeps the claim's memory, and the path of the claim's node. */
static inline void zkr__claim_ref(struct zkr__claim *claim) ZKR__LOCKED
{
    claim->refs++;
}

/* Drop a reference. The last one frees the claim. */
void zkr__claim_unref(struct zkr__claim *claim) ZKR__LOCKED;

/* Returns whether the claim exchanges news with other processes. */
static inline bool zkr__claim_hears_news(const struct zkr__claim *claim) ZKR__LOCKED
{
    return claim->q->hears_news && !claim->k.member && claim->q->c->nearby;
}

/* Returns true if the claim waits for a holder and not for an answer, with its own node or in its directory's line. */
bool zkr__claim_is_behind(const struct zkr__claim *claim) ZKR__LOCKED;
/* Like zkr__claim_is_behind(), but false for a READY claim, which waits for other members of its group. */
bool zkr__claim_is_parked(const struct zkr__claim *claim) ZKR__LOCKED;
/* Wake the thread that waits for the outcome. */
void zkr__claim_wake(struct zkr__claim *claim) ZKR__LOCKED;
/* If the owner knows of the hold, notify the owner of revocation requests. */
void zkr__claim_tell_revocations(struct zkr__claim *claim) ZKR__LOCKED;

/* --- the node of a claim --- */

/* Room for an owner text and a field after it. If a field follows, a longer owner text is cut. */
enum { ZKR__OWNER_TEXT_MAX = 1024 };

/* Fill in all of @creation for the node of @claim. @text has room for the data. */
void zkr__claim_fill_data(const struct zkr__claim *claim,
                          struct zkr__creation *creation,
                          char text[ZKR__OWNER_TEXT_MAX]) ZKR__LOCKED;
/*
 * Returns the same data with holder metadata, in new memory. Returns NULL if there is no metadata to write, or memory
 * runs out.
 */
char *zkr__claim_metadata(const struct zkr__claim *claim, size_t *len) ZKR__LOCKED;

/* Write a new path, with a new GUID, to claim->node. Returns 0 or errno. */
int zkr__claim_new_name(struct zkr__claim *claim) ZKR__LOCKED;
/*
 * Record the @path of our node, as a server reports it. Returns false if the node at @path cannot be ours, or memory
 * runs out.
 */
bool zkr__claim_know_node(struct zkr__claim *claim,
                          const char *path,
                          enum zkr__name_kind kind) ZKR__LOCKED;
/* Record that our node is now of @kind, READ or WRITE, with the same number. */
void zkr__claim_turn(struct zkr__claim *claim, enum zkr__name_kind kind) ZKR__LOCKED;
/* Remove our node from the tables, but keep claim->node. */
void zkr__claim_forget_node(struct zkr__claim *claim) ZKR__LOCKED;
/* Returns the claim of this client whose node is at @path, or NULL. */
static inline struct zkr__claim *zkr__claim_at(const struct zkr__engine *engine,
                                               const char *path) ZKR__LOCKED
{
    struct zkr__path_entry *entry = zkr__path_table_find(&engine->by_node, path);
    return entry ? ZKR__OWNER_OF(entry, struct zkr__claim, by_node) : NULL;
}

/* Returns the claim of this client whose node in @d has this name, or NULL. */
struct zkr__claim *zkr__claim_in(const struct zkr__directory *d,
                                 const char *name) ZKR__LOCKED;
/* Stop waiting for a list (children_cache.h). */
void zkr__claim_drop_list(struct zkr__claim *claim) ZKR__LOCKED;

/*
 * Wait behind the child @name, which is the node of a claim of this client, or a path to watch. Returns false if memory
 * runs out.
 */
bool zkr__claim_stand_behind(struct zkr__claim *claim, const char *name) ZKR__LOCKED;
/* Returns the number of contenders ahead of a claim that waits with a node, or 0 if that is not known. */
int64_t zkr__claim_place(const struct zkr__claim *claim) ZKR__LOCKED;
/* Returns true if the claim already watches the child @name as the node ahead. */
bool zkr__claim_stands_behind(const struct zkr__claim *claim,
                              const char *name) ZKR__LOCKED;
/* Watch the directory. Returns false if memory runs out. */
bool zkr__claim_watch_children(struct zkr__claim *claim) ZKR__LOCKED;
/* Watch the child @name, which is before the node ahead. Returns false if memory runs out. */
bool zkr__claim_watch_before(struct zkr__claim *claim, const char *name) ZKR__LOCKED;
/* Returns the path of the watched node before the node ahead, or NULL if none is watched. */
const char *zkr__claim_before(const struct zkr__claim *claim) ZKR__LOCKED;
void zkr__claim_forget_ahead(struct zkr__claim *claim) ZKR__LOCKED;
/* Remove one claim from `behind`, and return it. Returns NULL if none is left. */
struct zkr__claim *zkr__claim_next_behind(struct zkr__claim *claim) ZKR__LOCKED;

/*
 * Schedule a probe for a claim that needs the lease from now on. If little of the lease is left, the probe is sent at
 * once. Otherwise it is sent so late that a short hold or wait costs no probe.
 */
void zkr__claim_probe_later(zkr_client *c) ZKR__LOCKED;
/* After a step, record whether the client must keep the lease for the claim. */
void zkr__claim_settle_look_ahead(struct zkr__claim *claim) ZKR__LOCKED;

/* After a step, note when to doubt the watch of the claim. */
void zkr__claim_settle_doubt(struct zkr__claim *claim) ZKR__LOCKED;

#endif
