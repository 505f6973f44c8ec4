/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A claim: one node of ours in a queue. claim_state.h has its life. claim.c has its memory, its node, and the node that it
 * stands behind; the other files are named below, each above what it can do. All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_CLAIM_H
#define ZKR_ENGINE_CLAIM_H

#include "base/table.h"
#include "engine/claim_state.h"
#include "engine/contender.h"
#include "engine/engine.h"
#include "engine/queue.h"
#include "session/request.h"

struct zkr__hold;
struct zkr__loss;

struct zkr__claim {
    struct zkr__claim_state k;
    struct zkr__queue *q;
    struct zkr__engine *engine;
    struct zkr__directory *directory;
    int refs;
    int bytes; /* of the engine's node_bytes */
    bool live; /* not GONE yet: the engine has a reference */
    /* Counted in the engine's `looking`; in the client's `prepared`; the claim has begun to wait behind others. */
    bool looks : 1, keeps_lease : 1, parked : 1;
    bool stands : 1, in_line : 1; /* in the directory: keep.h */
    bool guessed : 1; /* PARKED: behind a newcomer that was not seen yet: children.h */
    /* Its node is being made, or waits until fewer are: claim_run.c. */
    bool admitted : 1, awaits_admission : 1;
    /* FINDING: the write ahead of the list has been answered; or the servers do not know such a write. */
    bool written : 1, unwritable : 1;
    bool counted_refused : 1;

    /* What the recipe reads. */
    bool canceled : 1;
    /* The owner lets go before all of its code knows of the loss, as in an inner release. */
    bool relied_on : 1;
    bool once : 1;  /* fail with ZKR_ETIMEDOUT instead of waiting behind others */
    bool taken : 1; /* the owner has been told of the hold */
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
    struct zkr__claim *held_prev, *held_next; /* while held, or in line to be made */
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
    /* What the node ahead said when it was last read; NULL = not known, or a claim of this client. */
    struct zkr__seen *seen;
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

/* How to join, and who is told. */
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

enum zkr__group_state {
    ZKR__GROUP_WAITING,
    ZKR__GROUP_HELD,  /* all that are in hold */
    ZKR__GROUP_LOST,  /* it was HELD; hold->claim->k.lost says how */
    ZKR__GROUP_FAILED /* hold->failure says why; all have left */
};

/* The claims of a hold in several queues: hold.h. */
struct zkr__group {
    struct zkr__hold *hold;
    enum zkr__group_state state;
    bool waited; /* a member that has been taken out since was PARKED */
    /* Set by on_step: more members are to come, so the group is not HELD. */
    bool partial;
    bool busy;               /* moving */
    bool gathering;          /* nothing is sent before zkr__batch_send() */
    struct zkr__entry entry; /* of each member */
    int64_t failures;        /* in a row, of entering */
    bool pauses;             /* before it enters anew: no member has begun yet */
    uint32_t count;
    /* NULL = not in. The claims of one queue stand together. */
    struct zkr__claim *members[];
};

/*
 * A claim that has not begun, with two references: its owner's, and the engine's until the claim is GONE. NULL: no memory.
 */
struct zkr__claim *zkr__claim_make(struct zkr__queue *q,
                                   struct zkr__engine *engine,
                                   const struct zkr__entry *entry) ZKR__LOCKED;
/* Is there room for the node of one more claim? If not, no claim may be made, unless it takes the place of another. */
bool zkr__claim_fits(const struct zkr__queue *q,
                     const struct zkr__engine *engine) ZKR__LOCKED;
/* A GONE claim needs no room any more. */
void zkr__claim_recount_bytes(struct zkr__claim *claim) ZKR__LOCKED;
/* A reference keeps the memory, and the text of the node. */
static inline void zkr__claim_ref(struct zkr__claim *claim) ZKR__LOCKED
{
    claim->refs++;
}

/* The last one frees the claim. */
void zkr__claim_unref(struct zkr__claim *claim) ZKR__LOCKED;

/* The claim waits for a holder, by a node of its own or in the line of its directory, and not for an answer. */
bool zkr__claim_is_behind(const struct zkr__claim *claim) ZKR__LOCKED;
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

/* The claim is to look ahead, if it can: claim_state.h. */
bool zkr__claim_looks_ahead(const struct zkr__claim *claim) ZKR__LOCKED;
/* The claim looked ahead by a list, and is prepared; or in vain, for others were still there. */
void zkr__claim_has_looked(struct zkr__claim *claim) ZKR__LOCKED;
/* A claim needs the lease from now on. A short hold, or wait, costs no probe, unless little of the lease is left. */
void zkr__claim_probe_later(zkr_client *c) ZKR__LOCKED;
/* The claim has made a step: note whether it waits, and whether the lease is to be kept for it. */
void zkr__claim_settle_look_ahead(struct zkr__claim *claim) ZKR__LOCKED;

/* How long a claim without a watch waits before it looks again. */
int64_t zkr__claim_look_pause(const struct zkr__claim *claim) ZKR__LOCKED;
/* The claim has made a step: note whether it looks again and again, and when its watch is to be doubted. */
void zkr__claim_settle_look(struct zkr__claim *claim) ZKR__LOCKED;

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
    ZKR__ASKED_OWNER,
    ZKR__ASKED_BEFORE
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

/* --- claim_io.c: the requests that actions stand for, and the events that answers stand for --- */

/* The request could not be made: engine->on_answer gets @code as the answer. */
void zkr__claim_refuse(struct zkr__claim *claim,
                       enum zkr__asked asked,
                       int code) ZKR__LOCKED;

/* Create the node of the claim, under a new GUID. */
void zkr__claim_create(struct zkr__claim *claim) ZKR__LOCKED;
/* The name, new as well, and the data of that node; @text is room for the owner's text. 0 or errno. */
int zkr__claim_creation(struct zkr__claim *claim,
                        struct zkr__creation *creation,
                        char text[ZKR__OWNER_TEXT_MAX]) ZKR__LOCKED;

/* Send what @todo, a set of zkr__action, asks for; other actions are left alone. */
void zkr__claim_request(struct zkr__claim *claim, unsigned todo) ZKR__LOCKED;

/*
 * The event that the answer to @tag stands for; the claim takes note of its node, and of the node ahead.
 * False: of an earlier round, to be dropped.
 */
bool zkr__claim_take_answer(struct zkr__claim *claim,
                            unsigned tag,
                            const struct zkr__answer *answer,
                            struct zkr__claim_event *e) ZKR__LOCKED;

/*
 * --- batch.c: requests of the members of a group that go out as one: creates in one transaction, with one list behind it
 * for each queue; deletes in one transaction; checks of nodes in one write.
 */

/*
 * Keep in claim->unsent the actions of @todo that go out together with actions of other members. Returns the other
 * actions.
 */
unsigned zkr__batch_keep(struct zkr__claim *claim, unsigned todo) ZKR__LOCKED;

/* Send the kept creates, unless the group is gathering, or a claim that needs a node is not ready to create it. */
void zkr__batch_create(struct zkr__group *group) ZKR__LOCKED;
/* Send all that is kept: the group is not gathering any more. */
void zkr__batch_send(struct zkr__group *group) ZKR__LOCKED;

/* --- claim_run.c: a claim in motion: events in, requests and notifications out, timers, counters --- */

/* Begin, with a new claim. */
void zkr__claim_start(struct zkr__claim *claim) ZKR__LOCKED;

/* Feed the claim an event, and carry out what follows. Of @e: the kind, and what belongs to that. May free the claim. */
void zkr__claim_run(struct zkr__claim *claim, struct zkr__claim_event e) ZKR__LOCKED;
/* The same with an event that has nothing but a @kind. */
void zkr__claim_tell(struct zkr__claim *claim, enum zkr__event_kind kind) ZKR__LOCKED;

/* Admit claims that stand in line, as far as there is room. Without a connection all go on, and wait for that. */
void zkr__claims_let_in(struct zkr__engine *engine) ZKR__LOCKED;

/* Others contend in @d: a node that is kept there (keep.h) is kept no more, and the claims in line make their own. */
void zkr__claims_contended(struct zkr__directory *d) ZKR__LOCKED;
/* Delete the kept nodes that have no holder: in @q; NULL: all. */
void zkr__claims_end_keeping(struct zkr__engine *engine,
                             const struct zkr__queue *q) ZKR__LOCKED;

/* The engine's on_before and on_answer. */
void zkr__claim_on_before(struct zkr__path_watcher *watcher,
                          enum zkr__node_event event) ZKR__LOCKED;
void zkr__claim_on_answer(void *ctx,
                          unsigned tag,
                          const struct zkr__answer *answer) ZKR__LOCKED;

/* Sleep until the claim is decided, canceled or left, or the deadline has passed. Callers sleep for a lock here only. */
void zkr__claim_wait(struct zkr__claim *claim, int64_t deadline) ZKR__LOCKED;

/* Let go, from any phase. From here on the engine deletes the node, however long that takes. The reference stays. */
void zkr__claim_let_go(struct zkr__claim *claim) ZKR__LOCKED;
/*
 * The same, without the reference. With @wait: sleep until the node is gone, or refused to be deleted, or the session
 * over.
 */
void zkr__claim_leave(struct zkr__claim *claim, bool wait) ZKR__LOCKED;

/*
 * A sure hold by a writer's node goes on as a hold by a reader's node with the same number. The claim has the new path
 * at once. The engine asks the servers in the background, as often as it takes. Claims of this client that may hold
 * beside a reader are granted.
 */
void zkr__claim_downgrade(struct zkr__claim *claim) ZKR__LOCKED;

/* Declare the hold lost if its lease bound has passed. */
void zkr__claim_check(struct zkr__claim *claim) ZKR__LOCKED;

/* Granted, not lost, and surely still alive. */
bool zkr__claim_sure(struct zkr__claim *claim) ZKR__LOCKED;

/*
 * --- recount.c: restarts the sequence numbers of a directory. They start again when the directory is deleted and the next
 * claim creates it. Only a directory that has no data, and has the ACL of our nodes, is deleted: the next claim would
 * create any other directory differently.
 */

/* The node of @claim is about to be deleted: learn whether its directory may be deleted afterwards. */
void zkr__recount_look(const struct zkr__claim *claim) ZKR__LOCKED;
/* A node in @d is deleted: delete @d, too, if it may be and no other contender is there. */
void zkr__recount_begin(struct zkr__directory *d) ZKR__LOCKED;

/* --- loss.c: how a hold was lost, for its owner, the metrics and the log --- */

/* The hold of @claim has ended just now: remember what the client has observed. */
void zkr__loss_record(struct zkr__claim *claim) ZKR__LOCKED;
/*
 * What the owner is told; @reason: ZKR_LOST_…. The result points into @claim, and is valid until the next call with
 * another reason.
 */
zkr_lost zkr__loss_tell(const struct zkr__claim *claim, int reason) ZKR__LOCKED;
/* What the metrics count. */
enum zkr__metered_loss zkr__loss_metered(const struct zkr__claim *claim) ZKR__LOCKED;
/* Write it into the log. */
void zkr__loss_log(const struct zkr__claim *claim, int reason) ZKR__LOCKED;

#endif
