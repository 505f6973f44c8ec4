/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A claim: one node of ours in a queue. claim_state.h has its life. claim.c has its memory, its node, and the node that it
 * stands behind. All functions need the client's lock.
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
    int bytes; /* of the engine's node_bytes; with @reserves of the client's watch_reserved, too */
    bool live;                    /* not GONE yet: the engine has a reference */
    bool reserves : 1;            /* there is room for the watch on its own node */
    bool keeps_lease : 1;         /* counted in the client's `prepared` */
    bool stands : 1, in_line : 1; /* in the directory: keep.h */
    /* Its node is being made, or waits until fewer are: admission.h. */
    bool admitted : 1, awaits_admission : 1;
    /* FINDING: the write ahead of the list has been answered; or the servers do not know such a write. */
    bool written : 1, unwritable : 1;
    bool counted_refused : 1;

    /* Read by the recipe. */
    bool canceled : 1;
    /* The owner lets go before all of its code knows of the loss, as in an inner release. */
    bool relied_on : 1;
    bool once : 1;      /* fail with ZKR_ETIMEDOUT instead of waiting behind others */
    bool taken : 1;     /* the owner has been told of the hold */
    bool guarded : 1;   /* a write of the owner may come after the release: news.h */
    bool passed_on : 1; /* released, and the next process may be told so: news.h */
    enum zkr__hand_over came : 4; /* how the claim last got out of PARKED */
    /* The list that the claim waits for. */
    enum { ZKR__NO_LIST, ZKR__THIS_LIST, ZKR__NEXT_LIST } list : 4;
    /* BEARS: a write to our node harms no waiter behind it. BEARS_NOT: it could. From a list since the grant. */
    enum { ZKR__BEARS_UNKNOWN, ZKR__BEARS, ZKR__BEARS_NOT } bearing : 2;
    unsigned char counted_as; /* in the client's statistics */
    unsigned place;  /* contenders in front when the claim last looked; 0 = not known */
    int detail;      /* ZooKeeper's code of a failure */
    int parent_code; /* why the parents cannot be made */
    int parent_detail;    /* ZooKeeper's code of that */
    unsigned epoch;       /* of the session that the node belongs to */
    unsigned revocations; /* requests of which the owner has not been told yet */
    int64_t sequence;
    int64_t czxid;
    int64_t held_since_ms;  /* by the wall's clock, ms since 1970; 0 = not held yet */
    int64_t held_at;        /* zkr__now() of the same */
    struct zkr__loss *loss; /* loss.c; NULL = nothing was lost, or no memory */
    void (*on_change)(struct zkr__claim *claim, void *ctx);
    void *on_change_ctx;
    /* Of the thread that waits for the outcome. NULL = none does. */
    struct zkr__cv *sleeper;

    /* The engine's lists and tables. */
    struct zkr__claim *prev, *next;
    /* In at most one of engine->held, engine->line, keep->line. */
    struct zkr__claim *row_prev, *row_next;
    struct zkr__path_entry by_node;           /* while its node is known */
    struct zkr__claim *ours_prev, *ours_next; /* the same, in its directory */
    struct zkr__claim *list_prev, *list_next; /* while it waits for a list */
    unsigned list_tag;
    unsigned unsent; /* set of zkr__action: to go out with those of other members */

    /* PARKED: behind another claim of this client, or a path. */
    struct zkr__claim *ahead;
    struct zkr__claim *behind;                    /* list: the claims behind this one */
    struct zkr__claim *behind_prev, *behind_next; /* in the list of the claim ahead */
    struct zkr__path_watcher ahead_watcher;
    /* The content of the node ahead when it was last read; NULL = not known, or a claim of this client. */
    struct zkr__seen *seen;
    /* The process that has made the node ahead, and the one that waits behind this claim. NULL = not known. */
    struct zkr__near *near;
    struct zkr__next *next_near;
    /* The watcher of the node before the node ahead. NULL = that node is not watched. */
    struct zkr__before *before;

    struct zkr__group *group; /* NULL = none, or it has left the group */

    struct zkr__timer timer; /* for the first of these */
    int64_t retry_at, quiet_at, doubt_at, give_up_at, metadata_at; /* 0 = off */

    long thread; /* that asked for the claim */
    /* The full path that was asked for, and from the answer on the path of our node. "" = none yet. */
    char node[];
};

/* Apart, as few of thousands of waiting claims look ahead. */
struct zkr__before {
    struct zkr__path_watcher watcher;
    struct zkr__claim *claim;
};

/* How to join, and whom to notify. */
struct zkr__entry {
    bool once; /* fail with ZKR_ETIMEDOUT instead of waiting behind others */
    /*
     * A claim that is undecided then fails by itself: with ZKR_ETIMEDOUT behind another one, with ZKR_ENOANSWER when
     * no server has said where it stands. For a claim on which no thread sleeps. 0 or ZKR__NEVER = none.
     */
    int64_t deadline;
    long thread; /* for the owner text; 0 = the calling one */
    /*
     * Called with the lock held at each change of the outcome (granted, failed, lost, in doubt). It must not block,
     * and may leave the claim. NULL = none.
     */
    void (*on_change)(struct zkr__claim *claim, void *ctx);
    void *ctx;
};

/*
 * A claim that has not begun, with two references: its owner's, and the engine's until the claim is GONE. NULL: no memory.
 */
struct zkr__claim *zkr__claim_make(struct zkr__queue *q,
                                   struct zkr__engine *engine,
                                   const struct zkr__entry *entry) ZKR__LOCKED;
/*
 * Is there room for the node of one more claim, and for the watch on it in a queue with watch_node? If not, no claim may be
 * made, unless it takes the place of another.
 */
bool zkr__claim_fits(const struct zkr__queue *q,
                     const struct zkr__engine *engine) ZKR__LOCKED;
/* The claim is to be one of @q: have room for the watch on its own node, if @q wants it. False: there is none. */
bool zkr__claim_reserve(struct zkr__claim *claim,
                        const struct zkr__queue *q) ZKR__LOCKED;
/* A GONE claim needs no room any more. */
void zkr__claim_recount_bytes(struct zkr__claim *claim) ZKR__LOCKED;
/* A reference keeps the memory, and the text of the node. */
static inline void zkr__claim_ref(struct zkr__claim *claim) ZKR__LOCKED
{
    claim->refs++;
}

/* The last one frees the claim. */
void zkr__claim_unref(struct zkr__claim *claim) ZKR__LOCKED;

/* News of other processes may come to the claim, and go from it. */
static inline bool zkr__claim_hears_news(const struct zkr__claim *claim) ZKR__LOCKED
{
    return claim->q->hears_news && !claim->k.member && claim->q->c->nearby;
}

/* The claim waits for a holder, by a node of its own or in the line of its directory, and not for an answer. */
bool zkr__claim_is_behind(const struct zkr__claim *claim) ZKR__LOCKED;
/* It waits for a holder; a READY claim waits for other members of its group. */
bool zkr__claim_is_parked(const struct zkr__claim *claim) ZKR__LOCKED;
/* Wake the thread that waits for the outcome. */
void zkr__claim_wake(struct zkr__claim *claim) ZKR__LOCKED;
/* Tell the owner of revocation requests, if the owner has been told of the hold. */
void zkr__claim_tell_revocations(struct zkr__claim *claim) ZKR__LOCKED;

/* --- its node --- */

/* Room for an owner text with a field behind it. A longer owner text is cut if it has a field to get. */
enum { ZKR__OWNER_TEXT_MAX = 1024 };

/* The data with which the node of @claim is made: fills in all of @creation. @text is room for them. */
void zkr__claim_fill_data(const struct zkr__claim *claim,
                          struct zkr__creation *creation,
                          char text[ZKR__OWNER_TEXT_MAX]) ZKR__LOCKED;
/* The same with holder metadata, allocated. NULL: there are none to write, or no memory. */
char *zkr__claim_metadata(const struct zkr__claim *claim, size_t *len) ZKR__LOCKED;

/* Write the path to ask for, under a new GUID, where the path of our node will stand. 0 or errno. */
int zkr__claim_new_name(struct zkr__claim *claim) ZKR__LOCKED;
/* Our node is at @path, which comes from the server. False: it cannot be ours, or no memory. */
bool zkr__claim_know_node(struct zkr__claim *claim,
                          const char *path,
                          enum zkr__name_kind kind) ZKR__LOCKED;
/* From now on our node is to be of @kind, READ or WRITE, with the number it has. */
void zkr__claim_turn(struct zkr__claim *claim, enum zkr__name_kind kind) ZKR__LOCKED;
/* Out of the tables; the text stays. */
void zkr__claim_forget_node(struct zkr__claim *claim) ZKR__LOCKED;
/* The claim of this client whose node is at @path, or NULL. */
static inline struct zkr__claim *zkr__claim_at(const struct zkr__engine *engine,
                                               const char *path) ZKR__LOCKED
{
    struct zkr__path_entry *entry = zkr__path_table_find(&engine->by_node, path);
    return entry ? ZKR__OWNER_OF(entry, struct zkr__claim, by_node) : NULL;
}

/* The claim of this client whose node in @d has this name, or NULL. */
struct zkr__claim *zkr__claim_in(const struct zkr__directory *d,
                                 const char *name) ZKR__LOCKED;
/* The claim waits for no list any more: children_cache.h. */
void zkr__claim_drop_list(struct zkr__claim *claim) ZKR__LOCKED;

/* Stand behind the child @name: a claim of this client, or a path. False: no memory. */
bool zkr__claim_stand_behind(struct zkr__claim *claim, const char *name) ZKR__LOCKED;
/* How many contenders are in front of a claim with a node that waits, as far as is known; 0 = not known. */
int64_t zkr__claim_place(const struct zkr__claim *claim) ZKR__LOCKED;
/* The claim watches the path of the child @name already, as the node ahead. */
bool zkr__claim_stands_behind(const struct zkr__claim *claim,
                              const char *name) ZKR__LOCKED;
/* Watch the directory. False: no memory. */
bool zkr__claim_watch_children(struct zkr__claim *claim) ZKR__LOCKED;
/* Watch the child @name, which is before the node ahead. False: no memory. */
bool zkr__claim_watch_before(struct zkr__claim *claim, const char *name) ZKR__LOCKED;
/* The path of that node. NULL = none is watched. */
const char *zkr__claim_before(const struct zkr__claim *claim) ZKR__LOCKED;
void zkr__claim_forget_ahead(struct zkr__claim *claim) ZKR__LOCKED;
/* Takes one claim out of `behind`; NULL: there is none. */
struct zkr__claim *zkr__claim_next_behind(struct zkr__claim *claim) ZKR__LOCKED;

/* A claim needs the lease from now on. A short hold, or wait, costs no probe, unless little of the lease is left. */
void zkr__claim_probe_later(zkr_client *c) ZKR__LOCKED;
/* The claim has made a step: note whether the lease is to be kept for it. */
void zkr__claim_settle_look_ahead(struct zkr__claim *claim) ZKR__LOCKED;

/* The claim has made a step: note when its watch is to be doubted. */
void zkr__claim_settle_doubt(struct zkr__claim *claim) ZKR__LOCKED;

#endif
