/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group: the claims of a hold in several queues. They are created in one transaction and hold together, all or none.
 *
 * Members may have a queue each, or share one. All claims that enter together get one czxid, so such groups have the
 * same order in every queue, and no circle of waiting forms among them. A claim that entered alone would get a later
 * czxid. So if a member loses its place before the group is HELD, the whole group leaves and enters again. No member
 * holds before the rules grant all members.
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
    struct zkr__queue *const *list; /* equal queues are adjacent */
    uint32_t count;
    uint32_t first; /* so many claims enter together; on_step lets in the others */
    /*
     * Called when a claim of a WAITING or HELD group has moved, before the group decides its state. It may let in
     * further claims and take claims out. NULL = none.
     */
    void (*on_step)(const struct zkr__hold_queues *queues, struct zkr__group *group);
    /* Called after the owner was told of the group; with @over, after the group was freed. NULL = none. */
    void (*on_told)(const struct zkr__hold_queues *queues, bool over);
    /* Called when the ticket that owns the queues is destroyed. NULL = none. */
    void (*on_free)(const struct zkr__hold_queues *queues);
};

enum zkr__group_state {
    ZKR__GROUP_WAITING,
    ZKR__GROUP_HELD,  /* all members that are in hold */
    ZKR__GROUP_LOST,  /* after HELD; k.lost of the first claim says how */
    ZKR__GROUP_FAILED /* all members have left */
};

struct zkr__group {
    const struct zkr__hold_queues *queues;
    enum zkr__group_state state;
    int failure;                 /* FAILED, or about to fail: ZKR_E…; 0 = none */
    int detail;                  /* ZooKeeper's code of the failure, or 0 */
    struct zkr__queue *fails_in; /* NULL = no single queue failed */
    /* Called when the state or the first claim has changed. May free the group. */
    void (*on_change)(struct zkr__group *group, void *ctx);
    void *ctx;
    const struct zkr__claim *first; /* first claim at the last on_change */
    bool waited;                    /* a member that has left since was PARKED */
    /* Set by on_step: more members follow, so the group is not HELD. */
    bool partial;
    bool busy;               /* its members are being moved */
    bool gathering;          /* nothing is sent before zkr__batch_send() */
    struct zkr__entry entry; /* how each member enters */
    int64_t failures;        /* attempts to enter that failed, in a row */
    bool pauses;             /* before it enters again; no member has started yet */
    uint32_t count;
    /* NULL = not in. The claims of one queue are adjacent. */
    struct zkr__claim *members[];
};

/*
 * Make a group, and let its first claims enter. @entry has the times and the thread; on_change and @ctx are the
 * owner's. Returns ZKR_OK, ZKR_ENOMEM, ZKR_ELIMIT, or the failure of the first claim. After ZKR_OK the caller calls
 * zkr__group_step().
 */
int zkr__group_make(struct zkr__group **out,
                    const struct zkr__hold_queues *queues,
                    const struct zkr__entry *entry,
                    void (*on_change)(struct zkr__group *group, void *ctx),
                    void *ctx) ZKR__LOCKED;
/* All members leave, the group is freed, and on_told is called. */
void zkr__group_free(struct zkr__group *group) ZKR__LOCKED;
/* The group was granted, but the grant is no longer valid: enter again and wait. */
void zkr__group_enter_anew(struct zkr__group *group) ZKR__LOCKED;

/* Call on_step and decide the state again, for a reason outside the members. May call on_change. */
void zkr__group_step(struct zkr__group *group) ZKR__LOCKED;

/* Is member @i in, and in this phase? */
static inline bool zkr__group_member_is(const struct zkr__group *group,
                                        uint32_t i,
                                        enum zkr__phase phase) ZKR__LOCKED
{
    return group->members[i] && group->members[i]->k.phase == phase;
}

/* The first member that is in; NULL = none. */
struct zkr__claim *zkr__group_first(const struct zkr__group *group) ZKR__LOCKED;

/*
 * Members [first, first + count), none of which is in, enter in one transaction. Out of memory or room, the group
 * fails.
 */
void zkr__group_let_in(struct zkr__group *group,
                       uint32_t first,
                       uint32_t count) ZKR__LOCKED;
/* Members [first, first + count) leave in one transaction, except @kept. A HELD group stays HELD. */
void zkr__group_take_out(struct zkr__group *group,
                         uint32_t first,
                         uint32_t count,
                         const struct zkr__claim *kept) ZKR__LOCKED;

#endif
