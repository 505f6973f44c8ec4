/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group: claims that are made in one transaction and hold together, all or none.
 *
 * The members have a queue each, or share one. All that enter together get one czxid, so those who do so
 * stand in the same order in every queue, and no circle of waiting forms among them. A member that loses its place
 * before all are held makes the whole group leave and enter anew: alone it would get a later czxid. None
 * holds before the rules grant all.
 *
 * All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_GROUP_H
#define ZKR_ENGINE_GROUP_H

#include "engine/batch.h"
#include "engine/contend.h"

enum zkr__group_state {
    ZKR__GROUP_WAITING,
    ZKR__GROUP_HELD, /* all that are in hold */
    ZKR__GROUP_LOST, /* it was HELD; claim->k.lost says how */
    ZKR__GROUP_FAILED
};

struct zkr__group;

/* How to join, and who is told. */
struct zkr__group_spec {
    struct zkr__queue *const
        *queues; /* borrowed: of each member; equal ones stand together */
    uint32_t count;
    uint32_t first; /* so many enter at first; on_step lets the others in, or all */
    struct zkr__entry entry; /* of each member; but for on_change and ctx */
    /* Called when the state or the claim has changed, and at news of a group that is HELD. May leave; must not block. */
    void (*on_change)(struct zkr__group *group, void *ctx);
    /*
     * Called when a member has moved, of a group that is WAITING or HELD, before its state is decided. For who
     * lets members in and takes them out one after the other. NULL = none.
     */
    void (*on_step)(struct zkr__group *group, void *ctx);
    void *ctx;
};

struct zkr__group {
    struct zkr__group_spec spec;
    enum zkr__group_state state;
    int failure, detail; /* FAILED: ZKR_E…, and ZooKeeper's code or 0; all have left */
    struct zkr__queue *failed_in; /* FAILED: whose fault it was; NULL = nobody's */
    /* LOST: the lost member, and the others have left. Else the first that is in; NULL = none. */
    struct zkr__claim *claim;
    bool waited; /* some member that has been taken out by now was PARKED */
    bool
        partial; /* set by on_step: not all are in that are to be, so it is not HELD yet */
    bool busy;        /* moving */
    int64_t failures; /* in a row, of entering */
    struct zkr__batch batch;
    struct zkr__claim *members[];
};

/*
 * Join the queues. What is decided at once is told before this returns, with *out set. ZKR_OK or
 * ZKR_ENOMEM.
 */
int zkr__group_enter(struct zkr__group **out,
                     const struct zkr__group_spec *spec) ZKR__LOCKED;
/* Let go, from any state, and free it. The nodes that are there go in one transaction. */
void zkr__group_leave(struct zkr__group *group) ZKR__LOCKED;
/* WAITING: what was granted is worth nothing, so leave and enter. */
void zkr__group_enter_anew(struct zkr__group *group) ZKR__LOCKED;

/* Call on_step, and decide anew: there is news that is not of a member. May call on_change. */
void zkr__group_step(struct zkr__group *group) ZKR__LOCKED;

/* --- for on_step --- */

enum zkr__member {
    ZKR__MEMBER_OUT,
    ZKR__MEMBER_COMING, /* where it stands is not known yet */
    ZKR__MEMBER_PARKED, /* behind others */
    ZKR__MEMBER_READY, /* its rule grants it; it waits for the other members that are in */
    ZKR__MEMBER_HELD
};

enum zkr__member zkr__group_member(const struct zkr__group *group,
                                   uint32_t i) ZKR__LOCKED;
/* Those of [first, first + count), all of them out, enter in one transaction. Without memory the group fails. */
void zkr__group_let_in(struct zkr__group *group,
                       uint32_t first,
                       uint32_t count) ZKR__LOCKED;
/* Those that are in leave, in one transaction. A group that is HELD stays so. */
void zkr__group_take_out(struct zkr__group *group,
                         uint32_t first,
                         uint32_t count) ZKR__LOCKED;

#endif
