/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group: the claims of a hold in several queues. They are created in one transaction, and they hold together or not
 * at all.
 *
 * Each member may have its own queue, or members may share one. All claims that enter together get the same czxid, so
 * groups have the same order in every queue, and cannot deadlock. A claim that entered alone would get a later czxid.
 * So if a member loses its place before the group is HELD, the whole group leaves and enters again. No member holds
 * before the rules grant all members.
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
    uint32_t first; /* how many claims enter first, together; on_step adds the others */
    /*
     * Called after a step of a claim in a WAITING or HELD group, before the group decides its state. The callback may
     * let claims in and take claims out. NULL = none.
     */
    void (*on_step)(const struct zkr__hold_queues *queues, struct zkr__group *group);
    /* Called after the group's on_change or, with @over, after the group was freed. NULL = none. */
    void (*on_told)(const struct zkr__hold_queues *queues, bool over);
    /* Called when the ticket that owns the queues is destroyed. NULL = none. */
    void (*on_free)(const struct zkr__hold_queues *queues);
};

enum zkr__group_state {
    ZKR__GROUP_WAITING,
    ZKR__GROUP_HELD,  /* all members of the group hold */
    ZKR__GROUP_LOST,  /* after HELD; the first claim's k.lost is the reason */
    ZKR__GROUP_FAILED /* all members have left */
};

struct zkr__group {
    const struct zkr__hold_queues *queues;
    enum zkr__group_state state;
    int failure; /* ZKR_E… of a failed or failing group; 0 = none */
    int detail;  /* ZooKeeper's code for the failure, or 0 */
    /* The queue in which it failed; NULL = no single queue. */
    struct zkr__queue *fails_in;
    /* Called when the state or the first claim has changed. May free the group. */
    void (*on_change)(struct zkr__group *group, void *ctx);
    void *ctx;
    const struct zkr__claim *first; /* the first claim at the last on_change */
    bool waited;                    /* a member that has left had been PARKED */
    /* Set by on_step. More members will enter, so the group cannot be HELD yet. */
    bool partial;
    bool busy;               /* a step of the group is running */
    bool gathering;          /* requests are deferred until zkr__batch_send() */
    struct zkr__entry entry; /* how each member enters */
    int64_t failures;        /* number of consecutive failed attempts to enter */
    bool pauses;             /* the next members pause before they enter */
    uint32_t count;
    /* NULL = not in the group. The claims of one queue are adjacent. */
    struct zkr__claim *members[];
};

/*
 * Make a group, and let its first claims enter. @entry has the deadline and the thread. @on_change and @ctx are the
 * owner's callback. Returns ZKR_OK, ZKR_ENOMEM, ZKR_ELIMIT, or the failure of the first claim. After ZKR_OK the caller
 * must call zkr__group_step().
 */
int zkr__group_make(struct zkr__group **out,
                    const struct zkr__hold_queues *queues,
                    const struct zkr__entry *entry,
                    void (*on_change)(struct zkr__group *group, void *ctx),
                    void *ctx) ZKR__LOCKED;
/* Let all members leave, free the group, and call on_told. */
void zkr__group_free(struct zkr__group *group) ZKR__LOCKED;
/* Enter again and wait, because the grant ended before the owner knew of it. */
void zkr__group_enter_anew(struct zkr__group *group) ZKR__LOCKED;

/* After a change outside the group, call on_step and decide the state again. May call on_change. */
void zkr__group_step(struct zkr__group *group) ZKR__LOCKED;

/* Returns whether member @i is in the group and in this phase. */
static inline bool zkr__group_member_is(const struct zkr__group *group,
                                        uint32_t i,
                                        enum zkr__phase phase) ZKR__LOCKED
{
    return group->members[i] && group->members[i]->k.phase == phase;
}

/* Returns the first member in the group, or NULL if there is none. */
struct zkr__claim *zkr__group_first(const struct zkr__group *group) ZKR__LOCKED;

/*
 * Let members [first, first + count) enter in one transaction. None of them may be in the group yet. If memory or room
 * runs out, the group fails.
 */
void zkr__group_let_in(struct zkr__group *group,
                       uint32_t first,
                       uint32_t count) ZKR__LOCKED;
/* Let members [first, first + count) leave in one transaction, except @kept. A HELD group stays HELD. */
void zkr__group_take_out(struct zkr__group *group,
                         uint32_t first,
                         uint32_t count,
                         const struct zkr__claim *kept) ZKR__LOCKED;

#endif
