/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hold does with claims: enter, wait, leave, with one claim or with a group. Nothing else creates, orders,
 * watches, waits or retries. All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_CONTEND_H
#define ZKR_ENGINE_CONTEND_H

#include "engine/batch.h"
#include "engine/claim.h"

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

/*
 * Join the queue. A client whose credentials are refused, or that is shut down, calls on_change before this
 * returns, with *out set. Returns ZKR_OK or ZKR_ENOMEM.
 */
int zkr__claim_enter(struct zkr__claim **out,
                     struct zkr__queue *q,
                     const struct zkr__entry *entry) ZKR__LOCKED;

/* Sleep until the claim is decided, canceled or left, or the deadline has passed. Callers sleep for a lock here only. */
void zkr__claim_wait(struct zkr__claim *claim, int64_t deadline) ZKR__LOCKED;
/* Wake the sleeper. */
void zkr__claim_cancel(struct zkr__claim *claim) ZKR__LOCKED;

/* Let go, from any phase. From here on the engine owns the claim, and deletes its node, however long that takes. */
void zkr__claim_leave(struct zkr__claim *claim) ZKR__LOCKED;
/* The same, and wait until the node is gone or the session over. */
void zkr__claim_leave_wait(struct zkr__claim *claim) ZKR__LOCKED;

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

/* --- groups --- */

/*
 * A group: claims that are made in one transaction and hold together, all or none.
 *
 * The members have a queue each, or share one. All that enter together get one czxid, so groups that enter so stand in
 * the same order in every queue, and no circle of waiting forms among them. A member that loses its place before all
 * are held makes the whole group leave and enter anew: alone it would get a later czxid. No member holds before the
 * rules grant all.
 */

enum zkr__group_state {
    ZKR__GROUP_WAITING,
    ZKR__GROUP_HELD, /* all that are in hold */
    ZKR__GROUP_LOST, /* it was HELD; claim->k.lost says how */
    ZKR__GROUP_FAILED
};

struct zkr__group;

/* How to join, and who is told. */
struct zkr__group_spec {
    /* The queue of each member; equal queues stand together. Borrowed. */
    struct zkr__queue *const *queues;
    uint32_t count;
    uint32_t first; /* so many members enter at once; on_step lets the others in */
    struct zkr__entry entry; /* of each member, without on_change and ctx */
    /* Called when state or claim have changed, and at news of a group that is HELD. May leave; must not block. */
    void (*on_change)(struct zkr__group *group, void *ctx);
    /*
     * Called when a member of a WAITING or HELD group has moved, before the state of the group is decided. The place
     * to let members in and take them out one after the other. NULL = none.
     */
    void (*on_step)(struct zkr__group *group, void *ctx);
    void *ctx;
};

struct zkr__group {
    struct zkr__group_spec spec;
    enum zkr__group_state state;
    int failure, detail; /* FAILED: ZKR_E…, and ZooKeeper's code or 0; all have left */
    struct zkr__queue *failed_in; /* FAILED: the queue at fault; NULL = none */
    /* LOST: the lost member; the others have left. Else the first member that is in; NULL = none. */
    struct zkr__claim *claim;
    bool waited; /* a member that has been taken out since was PARKED */
    /* Set by on_step: more members are to come, so the group is not HELD. */
    bool partial;
    bool busy;        /* moving */
    int64_t failures; /* in a row, of entering */
    struct zkr__batch batch;
    struct zkr__claim *members[];
};

/* Join the queues. on_change may be called before this returns, with *out set. ZKR_OK or ZKR_ENOMEM. */
int zkr__group_enter(struct zkr__group **out,
                     const struct zkr__group_spec *spec) ZKR__LOCKED;
/* Let go, from any state, and free it. The nodes that are there go in one transaction. */
void zkr__group_leave(struct zkr__group *group) ZKR__LOCKED;
/* WAITING: the grants are worth nothing. Leave, and enter anew. */
void zkr__group_enter_anew(struct zkr__group *group) ZKR__LOCKED;

/* Call on_step and decide anew, at news that is not of a member. May call on_change. */
void zkr__group_step(struct zkr__group *group) ZKR__LOCKED;

/* --- for on_step --- */

enum zkr__member {
    ZKR__MEMBER_OUT,
    ZKR__MEMBER_COMING, /* its position is not known yet */
    ZKR__MEMBER_PARKED, /* behind others */
    ZKR__MEMBER_READY,  /* its rule grants it; other members are not READY yet */
    ZKR__MEMBER_HELD
};

enum zkr__member zkr__group_member(const struct zkr__group *group,
                                   uint32_t i) ZKR__LOCKED;
/* Members [first, first + count), all of them out, enter in one transaction. Without memory the group fails. */
void zkr__group_let_in(struct zkr__group *group,
                       uint32_t first,
                       uint32_t count) ZKR__LOCKED;
/* The members of [first, first + count) that are in leave, in one transaction. A HELD group stays HELD. */
void zkr__group_take_out(struct zkr__group *group,
                         uint32_t first,
                         uint32_t count) ZKR__LOCKED;

#endif
