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
    int bytes; /* counted in the engine's node_bytes; if @reserves, for a watch, too */
    bool live; /* not GONE yet, so the engine has a reference */
    bool reserves : 1;    /* room is reserved for the watch on its own node */
    bool keeps_lease : 1; /* counted in the client's `prepared` */
    bool stands : 1,
        in_line : 1; /* stands: in keep->standing; in_line: in keep->line */
    /* admitted: its node is being created. awaits_admission: the claim is in line (admission.h). */
    bool admitted : 1, awaits_admission : 1;
    /* FINDING. written: the write before the list was answered. unwritable: the servers do not support such a write. */
    bool written : 1, unwritable : 1;
    bool counted_refused : 1;

    /* Read by the recipe. */
    bool canceled : 1;
    /*
     * When the owner leaves a lost hold, part of its code may still rely on the hold, for example after an inner
     * release.
     */
    bool relied_on : 1;
    bool once : 1;      /* fail with ZKR_ETIMEDOUT instead of waiting behind others */
    bool taken : 1;     /* the owner knows of the hold */
    bool guarded : 1;   /* a write of the owner may arrive after the release (news.h) */
    bool passed_on : 1; /* released, and the next process may be notified (news.h) */
    enum zkr__hand_over came : 4; /* how the claim last left PARKED */
    /* The list that the claim waits for. */
    enum { ZKR__NO_LIST, ZKR__THIS_LIST, ZKR__NEXT_LIST } list : 4;
    /* Can a write to our node harm a waiter behind it? BEARS: no. BEARS_NOT: yes. Known from a list after the grant. */
    enum { ZKR__BEARS_UNKNOWN, ZKR__BEARS, ZKR__BEARS_NOT } bearing : 2;
    /* The warning before the end of the hold that the owner knows of (warning.h). */
    enum { ZKR__WARNING_OFF, ZKR__WARNING_AWAITED, ZKR__WARNING_DUE } warning : 2;
    unsigned char counted_as; /* its counter in the client's statistics */
    unsigned place;           /* contenders in front at the last list; 0 = not known */
    int detail;               /* ZooKeeper's code for the failure */
    int parent_code;          /* why the parents cannot be created */
    int parent_detail;        /* ZooKeeper's code for parent_code */
    unsigned epoch;           /* epoch of the session that owns the node */
    unsigned revocations;     /* revocation requests not yet reported to the owner */
    int64_t sequence;
    int64_t czxid;
    int64_t held_since_ms;  /* wall clock, ms since 1970; 0 = not held yet */
    int64_t held_at;        /* the same time by zkr__now() */
    struct zkr__loss *loss; /* loss.c; NULL = nothing was lost, or out of memory */
    void (*on_change)(struct zkr__claim *claim, void *ctx);
    void *on_change_ctx;
    /* Condition of the thread that waits for the outcome. NULL = none waits. */
    struct zkr__cv *sleeper;

    /* The engine's lists and tables. */
    struct zkr__claim *prev, *next;
    /* In at most one of engine->held, engine->line, keep->line. */
    struct zkr__claim *row_prev, *row_next;
    struct zkr__path_entry by_node;           /* in the table while its node is known */
    struct zkr__claim *ours_prev, *ours_next; /* in d->ours while its node is known */
    struct zkr__claim *list_prev, *list_next; /* linked while it waits for a list */
    unsigned list_tag;
    unsigned unsent; /* set of zkr__action, to be sent with those of other members */

    /* PARKED: the claim ahead if it is of this client. NULL: ahead_watcher watches a path instead. */
    struct zkr__claim *ahead;
    struct zkr__claim *behind;                    /* list: claims behind this one */
    struct zkr__claim *behind_prev, *behind_next; /* in the list of the claim ahead */
    struct zkr__path_watcher ahead_watcher;
    /* The content of the node ahead at its last read; NULL = not known, or a node of this client. */
    struct zkr__seen *seen;
    /* The process that created the node ahead, and the process whose waiter is behind this claim. NULL = not known. */
    struct zkr__near *near;
    struct zkr__next *next_near;
    /* The watcher of the node before the node ahead. NULL = no watcher. */
    struct zkr__before *before;

    struct zkr__group *group; /* NULL = none, or the claim has left the group */

    struct zkr__timer timer; /* for the earliest of these times */
    int64_t retry_at, quiet_at, doubt_at, give_up_at, metadata_at; /* 0 = off */

    long thread; /* the thread that made the claim */
    /* The path in the create request; after the answer, the path of our node. "" = none yet. */
    char node[];
};

/*
 * Watches the node before the node ahead. Allocated separately, because few of thousands of waiting claims look ahead.
 */
struct zkr__before {
    struct zkr__path_watcher watcher;
    struct zkr__claim *claim;
};

/* How to enter a queue, and whom to notify. */
struct zkr__entry {
    bool once; /* fail with ZKR_ETIMEDOUT instead of waiting behind others */
    /*
     * When the claim fails if it is still undecided: with ZKR_ETIMEDOUT behind another claim, with ZKR_ENOANSWER if no
     * server has shown its place. For claims on which no thread sleeps. 0 or ZKR__NEVER = no deadline.
     */
    int64_t deadline;
    long thread; /* for the owner text; 0 = the calling thread */
    /*
     * Called with the lock held at each change of the outcome (granted, failed, lost, in doubt). It must not block, and
     * it may leave the claim. NULL = none.
     */
    void (*on_change)(struct zkr__claim *claim, void *ctx);
    void *ctx;
};

/*
 * Returns a claim that has not started, with two references: the owner's, and the engine's until the claim is GONE.
 * NULL if out of memory.
 */
struct zkr__claim *zkr__claim_make(struct zkr__queue *q,
                                   struct zkr__engine *engine,
                                   const struct zkr__entry *entry) ZKR__LOCKED;
/*
 * Returns whether there is room for the node of one more claim and, in a queue with watch_node, for the watch on that
 * node. If not, the caller may make a claim only in place of another one.
 */
bool zkr__claim_fits(const struct zkr__queue *q,
                     const struct zkr__engine *engine) ZKR__LOCKED;
/*
 * Before the claim moves to @q: if @q has watch_node, reserve room for the watch on the claim's node. False: no room.
 */
bool zkr__claim_reserve(struct zkr__claim *claim,
                        const struct zkr__queue *q) ZKR__LOCKED;
/* Give back the room of a claim that is GONE. */
void zkr__claim_recount_bytes(struct zkr__claim *claim) ZKR__LOCKED;
/* Take a reference, which keeps the claim's memory and the path of its node. */
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

/* True if the claim waits for a holder and not for an answer, with a node of its own or in its directory's line. */
bool zkr__claim_is_behind(const struct zkr__claim *claim) ZKR__LOCKED;
/* Like zkr__claim_is_behind(), but false for a READY claim, which waits for other members of its group. */
bool zkr__claim_is_parked(const struct zkr__claim *claim) ZKR__LOCKED;
/* Wake the thread that waits for the outcome. */
void zkr__claim_wake(struct zkr__claim *claim) ZKR__LOCKED;
/* Notify the owner of revocation requests, if the owner knows of the hold. */
void zkr__claim_tell_revocations(struct zkr__claim *claim) ZKR__LOCKED;

/* --- its node --- */

/* Room for an owner text followed by a field. A longer owner text is cut if a field follows. */
enum { ZKR__OWNER_TEXT_MAX = 1024 };

/* Fill in all of @creation for the node of @claim. @text is room for the data. */
void zkr__claim_fill_data(const struct zkr__claim *claim,
                          struct zkr__creation *creation,
                          char text[ZKR__OWNER_TEXT_MAX]) ZKR__LOCKED;
/* Returns the same data followed by holder metadata, allocated. NULL: no metadata to write, or out of memory. */
char *zkr__claim_metadata(const struct zkr__claim *claim, size_t *len) ZKR__LOCKED;

/* Write a new path, with a new GUID, into claim->node. Returns 0 or errno. */
int zkr__claim_new_name(struct zkr__claim *claim) ZKR__LOCKED;
/* Record our node's @path, as a server reports it. False: the node at @path cannot be ours, or out of memory. */
bool zkr__claim_know_node(struct zkr__claim *claim,
                          const char *path,
                          enum zkr__name_kind kind) ZKR__LOCKED;
/* Record that our node is now of @kind, READ or WRITE, with the same number. */
void zkr__claim_turn(struct zkr__claim *claim, enum zkr__name_kind kind) ZKR__LOCKED;
/* Remove our node from the tables; claim->node stays. */
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
/* Stop waiting for a list: children_cache.h. */
void zkr__claim_drop_list(struct zkr__claim *claim) ZKR__LOCKED;

/* Wait behind the child @name: a claim of this client, or a path to watch. False: out of memory. */
bool zkr__claim_stand_behind(struct zkr__claim *claim, const char *name) ZKR__LOCKED;
/* Returns the number of contenders in front of a claim that waits with a node; 0 = not known. */
int64_t zkr__claim_place(const struct zkr__claim *claim) ZKR__LOCKED;
/* True if the claim already watches the child @name as the node ahead. */
bool zkr__claim_stands_behind(const struct zkr__claim *claim,
                              const char *name) ZKR__LOCKED;
/* Watch the directory. False: out of memory. */
bool zkr__claim_watch_children(struct zkr__claim *claim) ZKR__LOCKED;
/* Watch the child @name, which is before the node ahead. False: out of memory. */
bool zkr__claim_watch_before(struct zkr__claim *claim, const char *name) ZKR__LOCKED;
/* Returns the path of the watched node before the node ahead. NULL = none is watched. */
const char *zkr__claim_before(const struct zkr__claim *claim) ZKR__LOCKED;
void zkr__claim_forget_ahead(struct zkr__claim *claim) ZKR__LOCKED;
/* Removes one claim from `behind` and returns it; NULL = none is left. */
struct zkr__claim *zkr__claim_next_behind(struct zkr__claim *claim) ZKR__LOCKED;

/*
 * Schedule a probe for a claim that needs the lease from now on: at once if little of the lease is left, else so late
 * that a short hold or wait costs no probe.
 */
void zkr__claim_probe_later(zkr_client *c) ZKR__LOCKED;
/* After a step: note whether the client has to keep the lease for the claim. */
void zkr__claim_settle_look_ahead(struct zkr__claim *claim) ZKR__LOCKED;

/* After a step: note when to doubt the watch of the claim. */
void zkr__claim_settle_doubt(struct zkr__claim *claim) ZKR__LOCKED;

#endif
