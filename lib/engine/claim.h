/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A claim: one node of ours in a queue. Here are its memory, the name of its node, and whom it stands behind;
 * claim_state.h has its life. All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_CLAIM_H
#define ZKR_ENGINE_CLAIM_H

#include "base/table.h"
#include "engine/claim_state.h"
#include "engine/engine.h"
#include "engine/queue.h"
#include "session/request.h"

struct zkr__batch;
struct zkr__directory;

struct zkr__loss {
    struct zkr__observed seen;
    int64_t held_ms;
};

struct zkr__claim {
    struct zkr__claim_state k;
    struct zkr__queue *q;
    struct zkr__engine *engine;
    struct zkr__directory *directory;
    int refs;
    bool live;           /* not GONE yet: the engine has a reference */
    bool looks;          /* counted in the engine's looking */
    bool joins, in_line; /* claim_run.h: its node is being made, or is to be */

    /* What the recipe reads. */
    bool canceled;
    bool once;    /* fail with ZKR_ETIMEDOUT instead of waiting behind others */
    bool taken;   /* the owner has been told of the hold */
    bool metered; /* it measures itself, from @since on: it waits, or is held */
    bool written; /* FINDING: the write ahead of the list has been answered */
    enum zkr__hand_over came : 8; /* how it got from PARKED on, last */
    enum {
        ZKR__NO_LIST,
        ZKR__THIS_LIST,
        ZKR__NEXT_LIST
    } list : 8;               /* the one it waits for */
    unsigned char counted_as; /* in the client's statistics */
    bool counted_refused;
    int detail;      /* ZooKeeper's code of a failure */
    int parent_code; /* why the parents cannot be made */
    unsigned epoch;  /* of the session that the node belongs to */
    unsigned wishes; /* that it lets go, of which its owner is not told yet */
    int64_t sequence;
    int64_t czxid;
    int64_t held_since_ms; /* by the wall's clock, ms since 1970; 0 = not held yet */
    int64_t held_at;       /* zkr__now() of the same */
    struct zkr__loss
        *loss; /* of the last hold that was lost; NULL = none was, or no memory */
    int64_t since;
    void (*on_change)(struct zkr__claim *claim, void *ctx);
    void *on_change_ctx;
    struct zkr__cv
        *sleeper; /* of the thread that waits for the outcome, NULL = none does */

    /* The engine's lists and tables. */
    struct zkr__claim *prev, *next;
    struct zkr__claim *held_prev, *held_next; /* while it is held, or stands in line */
    struct zkr__path_entry by_node;           /* while its node is known */
    struct zkr__claim *ours_prev, *ours_next; /* the same, in its directory */
    struct zkr__claim *list_prev, *list_next; /* while it waits for a list */
    unsigned list_tag;
    unsigned unsent; /* set of zkr__action: to go out with those of the others */

    /* PARKED: behind another claim of this client, or a path. */
    struct zkr__claim *ahead;
    struct zkr__claim *behind;                     /* list: those behind us */
    struct zkr__claim *behind_next, **behind_link; /* of the one ahead */
    struct zkr__path_watcher ahead_watcher;

    struct zkr__batch *batch; /* made with others, NULL = alone */

    struct zkr__timer timer; /* for the first of these */
    int64_t retry_at, quiet_at, doubt_at, give_up_at, note_at; /* 0 = off */

    long thread; /* that asked for it */
    /* Full path: the one asked for, and from the answer on that of our node. "" = none yet. */
    char node[];
};

/* A claim with two references: its owner's, and the engine's until it is GONE. NULL: no memory. */
struct zkr__claim *zkr__claim_make(struct zkr__queue *q,
                                   struct zkr__engine *engine) ZKR__LOCKED;
/* A reference keeps the memory, and the text of the node. */
void zkr__claim_ref(struct zkr__claim *claim) ZKR__LOCKED;
/* The last one frees it. */
void zkr__claim_unref(struct zkr__claim *claim) ZKR__LOCKED;

/* Write the path to ask for, under a new GUID, where the path that we get will stand. 0 or errno. */
int zkr__claim_new_name(struct zkr__claim *claim) ZKR__LOCKED;
/* Until it looks again, for want of a watch. */
int64_t zkr__claim_look_pause(const struct zkr__claim *claim) ZKR__LOCKED;
/* It has made a step: count it among those that look, or not; and has it a watch to doubt some day? */
void zkr__claim_settle_look(struct zkr__claim *claim) ZKR__LOCKED;
/* Wake the thread that waits for the outcome. */
void zkr__claim_wake(struct zkr__claim *claim) ZKR__LOCKED;

/* Tell the owner of the wishes, if it has been told of the hold. */
void zkr__claim_tell_wishes(struct zkr__claim *claim) ZKR__LOCKED;

/* Is this the name of the node that was asked for, or, while that has a name, of the same as @kind? */
bool zkr__claim_is_node(const struct zkr__claim *claim,
                        const char *name,
                        enum zkr__name_kind kind) ZKR__LOCKED;
/* Our node is at @path, which comes from the server. False: it cannot be ours, or no memory. */
bool zkr__claim_know_node(struct zkr__claim *claim,
                          const char *path,
                          enum zkr__name_kind kind) ZKR__LOCKED;
/* From now on our node is to be of @kind, READ or WRITE, with the number it has. */
void zkr__claim_turn(struct zkr__claim *claim, enum zkr__name_kind kind) ZKR__LOCKED;
/* Out of the table; the text stays. */
void zkr__claim_forget_node(struct zkr__claim *claim) ZKR__LOCKED;
/* The claim of this client whose node is at @path, or NULL. */
struct zkr__claim *zkr__claim_at(const struct zkr__engine *engine,
                                 const char *path) ZKR__LOCKED;

/* The one of this client whose node in @d has this name, or NULL. */
struct zkr__claim *zkr__claim_in(const struct zkr__directory *d,
                                 const char *name) ZKR__LOCKED;
/* It waits for a list no more. */
void zkr__claim_drop_list(struct zkr__claim *claim) ZKR__LOCKED;

/* Stand behind the child @name: a claim of this client, or a path. False: no memory. */
bool zkr__claim_stand_behind(struct zkr__claim *claim, const char *name) ZKR__LOCKED;
/* Watch the directory. False: no memory. */
bool zkr__claim_watch_children(struct zkr__claim *claim) ZKR__LOCKED;
void zkr__claim_forget_ahead(struct zkr__claim *claim) ZKR__LOCKED;
/* One of those behind us, which is behind us no more; NULL: there is none. */
struct zkr__claim *zkr__claim_next_behind(struct zkr__claim *claim) ZKR__LOCKED;

/* What a claim has asked. */
enum zkr__asked {
    ZKR__ASKED_CREATE,
    ZKR__ASKED_LIST,
    ZKR__ASKED_OWN,
    ZKR__ASKED_AHEAD,
    ZKR__ASKED_PROVE,
    ZKR__ASKED_REMOVE,
    ZKR__ASKED_DOWNGRADE,
    ZKR__ASKED_RESTORE,
    ZKR__ASKED_OWNER
};

enum { ZKR__ASKED_BITS = 4 };

/* The tag of a request: what was asked, and in which round. */
static inline unsigned zkr__asked_tag(enum zkr__asked asked, unsigned round)
{
    return round << ZKR__ASKED_BITS | asked;
}

static inline enum zkr__asked zkr__asked_of(unsigned tag)
{
    return (enum zkr__asked)(tag & ((1U << ZKR__ASKED_BITS) - 1));
}

static inline bool zkr__asked_in_round(unsigned tag, unsigned round)
{
    return tag >> ZKR__ASKED_BITS == (round & (~0U >> ZKR__ASKED_BITS));
}

#endif
