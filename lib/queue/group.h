/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group: the claims of a hold in several queues. They are made in one transaction and hold together, all or none.
 *
 * The members have a queue each, or share one. All that enter together get one czxid, so groups that enter so stand in
 * the same order in every queue, and no circle of waiting forms among them. A member that loses its place before all
 * are held makes the whole group leave and enter anew: alone it would get a later czxid. No member holds before the
 * rules grant all.
 *
 *   WAITING ----> HELD ----> LOST
 *      |
 *      +--> FAILED
 *
 * All functions need the client's lock.
 */
#ifndef ZKR_QUEUE_GROUP_H
#define ZKR_QUEUE_GROUP_H

#include "queue/claim.h"

/* The queues of a hold in several queues. Borrowed from the recipe. */
struct zkr__hold_queues {
    struct zkr__queue *const *list; /* equal queues stand together */
    uint32_t count;
    uint32_t first; /* so many claims enter at once; on_step lets the others in */
    /*
     * Called when a claim of a WAITING or HELD group has moved, before the state of the group is decided: the place to
     * let claims in and take them out one after the other. NULL = none.
     */
    void (*on_step)(const struct zkr__hold_queues *queues, struct zkr__group *group);
    /* The owner has been told of the group; or, if it is @over, the group is no more. NULL = none. */
    void (*on_told)(const struct zkr__hold_queues *queues, bool over);
    /* The ticket that had them is destroyed. NULL = none. */
    void (*on_free)(const struct zkr__hold_queues *queues);
};

enum zkr__group_state {
    ZKR__GROUP_WAITING,
    ZKR__GROUP_HELD,  /* all that are in hold */
    ZKR__GROUP_LOST,  /* it was HELD; k.lost of the first claim says how */
    ZKR__GROUP_FAILED /* all have left */
};

struct zkr__group {
    const struct zkr__hold_queues *queues;
    enum zkr__group_state state;
    int failure;                 /* FAILED, or so it will: ZKR_E…; 0 = none */
    int detail;                  /* ZooKeeper's code of it, or 0 */
    struct zkr__queue *fails_in; /* NULL = in no single one */
    /* Called at each change of the state, and of the first claim. May free the group. */
    void (*on_change)(struct zkr__group *group, void *ctx);
    void *ctx;
    const struct zkr__claim *first; /* at the last call */
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
 * Make a group whose first claims enter; @entry has the times and the thread, on_change and @ctx are the owner's. ZKR_OK,
 * or why it cannot be: ZKR_ENOMEM, ZKR_ELIMIT, or what the first claim failed with. The caller then calls
 * zkr__group_step().
 */
int zkr__group_make(struct zkr__group **out,
                    const struct zkr__hold_queues *queues,
                    const struct zkr__entry *entry,
                    void (*on_change)(struct zkr__group *group, void *ctx),
                    void *ctx) ZKR__LOCKED;
/* All leave, and the group is no more. on_told is called. */
void zkr__group_free(struct zkr__group *group) ZKR__LOCKED;
/* A group that was granted, and whose grant is worth nothing, waits again. */
void zkr__group_enter_anew(struct zkr__group *group) ZKR__LOCKED;

/* Call on_step and decide anew, at news that is not of a member. May call on_change. */
void zkr__group_step(struct zkr__group *group) ZKR__LOCKED;

/* Member @i is in, and in this phase. */
static inline bool zkr__group_member_is(const struct zkr__group *group,
                                        uint32_t i,
                                        enum zkr__phase phase) ZKR__LOCKED
{
    return group->members[i] && group->members[i]->k.phase == phase;
}

/* The first member that is in; NULL = none. */
struct zkr__claim *zkr__group_first(const struct zkr__group *group) ZKR__LOCKED;

/* Members [first, first + count), all of them out, enter in one transaction. Without memory, or room, the group fails. */
void zkr__group_let_in(struct zkr__group *group,
                       uint32_t first,
                       uint32_t count) ZKR__LOCKED;
/* The members of [first, first + count) that are in leave in one transaction, but for @kept. A HELD group stays HELD. */
void zkr__group_take_out(struct zkr__group *group,
                         uint32_t first,
                         uint32_t count,
                         const struct zkr__claim *kept) ZKR__LOCKED;

#endif
