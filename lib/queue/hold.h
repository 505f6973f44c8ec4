/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hold, from the moment it is asked for. Whatever can be held embeds one: an entry of the table of threads, a
 * ticket, a latch, a selector. A hold in one queue has a claim. A hold in several queues has a group of claims, and
 * is held when all of them are.
 *
 * A grant is *taken* when its owner is told of it. A grant that ends before that is no loss: the hold enters the
 * queue anew, within its deadline. All functions need the client's lock.
 *
 *                        taken             lease bound passed (keeps_place)
 *   NONE ----> WAITING ---------> HELD <------------------------------------> DOUBTED
 *                 |                 |          a write is answered               |
 *                 +--> FAILED       +--> LOST <----------------------------------+
 */
#ifndef ZKR_QUEUE_HOLD_H
#define ZKR_QUEUE_HOLD_H

#include "queue/claim.h"
#include "queue/group.h"

enum zkr__hold_state {
    ZKR__HOLD_NONE,    /* not entered yet, or left */
    ZKR__HOLD_WAITING, /* undecided, or granted and not taken */
    ZKR__HOLD_HELD,    /* taken */
    ZKR__HOLD_DOUBTED, /* taken, and past the lease bound; only in a queue with keeps_place */
    ZKR__HOLD_LOST,  /* taken, and over; the claim stays until zkr__hold_leave() */
    ZKR__HOLD_FAILED /* see failure; nothing is left in the queue */
};

struct zkr__hold {
    /* Of several queues the first, or the queue in which the hold failed. Borrowed. */
    struct zkr__queue *queue;
    /* Of several claims the first, or the lost one. NULL = none, or failed. */
    struct zkr__claim *claim;
    const struct zkr__hold_queues *queues; /* NULL: queue alone */
    struct zkr__group *group;              /* NULL: the claim alone */
    /*
     * Called at each change of the claim's outcome, at a loss with the state set already. With @timed it is called at
     * the deadline, too. Must not block. NULL = none.
     */
    void (*on_change)(struct zkr__hold *hold);
    int64_t deadline; /* of the wait; ZKR__NEVER = none */
    int64_t since;    /* it waits, or is held; zkr__now() */
    int failure;      /* FAILED: ZKR_E… */
    int detail;       /* ZooKeeper's code of it, or 0 */
    enum zkr__hold_state state;
    bool once;  /* a try */
    bool timed; /* no thread sleeps on it: a timer tells the deadline */
};

/*
 * Enter the queue: WAITING, or FAILED at once. @timeout_ms counts from @started on. The caller has set queue, queues,
 * on_change and timed. A hold in several queues is timed.
 */
void zkr__hold_enter(struct zkr__hold *hold,
                     int64_t timeout_ms,
                     int64_t started) ZKR__LOCKED;

/* The state now. A grant is taken by this call, or, if it is worth nothing, asked for anew. */
enum zkr__hold_state zkr__hold_take(struct zkr__hold *hold) ZKR__LOCKED;
/* The same for a hold whose owner is not told yet: a grant is not taken. */
enum zkr__hold_state zkr__hold_follow(struct zkr__hold *hold) ZKR__LOCKED;
/* Sleep until the hold is HELD or FAILED. Not for a timed hold. */
enum zkr__hold_state zkr__hold_await(struct zkr__hold *hold) ZKR__LOCKED;
/* HELD: the nodes are deleted by a write of the owner's. The state is NONE, until zkr__hold_leave(). */
void zkr__hold_released(struct zkr__hold *hold) ZKR__LOCKED;
/* The thread that sleeps, if any, gives up. */
void zkr__hold_cancel(struct zkr__hold *hold) ZKR__LOCKED;

/*
 * How many contenders are in front of a hold that waits; of several queues the most. 0 = not known, or it waits for
 * none.
 */
int64_t zkr__hold_place(const struct zkr__hold *hold) ZKR__LOCKED;
/* The same in *place, and the claim that is behind them; NULL with 0. */
const struct zkr__claim *zkr__hold_behind(const struct zkr__hold *hold,
                                          int64_t *place) ZKR__LOCKED;

/* Granted, taken or not. */
bool zkr__hold_granted(const struct zkr__hold *hold) ZKR__LOCKED;
/* Held, and surely so now. A hold that is not sure is lost from here on, or DOUBTED, even if the session is alive. */
bool zkr__hold_check(struct zkr__hold *hold) ZKR__LOCKED;
/* Returns the number of claims of a hold that is HELD, and copies them into @claims unless that is NULL. */
uint32_t zkr__hold_claims(const struct zkr__hold *hold,
                          struct zkr__claim **claims) ZKR__LOCKED;

/*
 * Leave the queue, from any state. True: a hold had been lost. With @wait the call returns when the node is gone or the
 * session over, and releases the client's lock meanwhile.
 */
bool zkr__hold_leave(struct zkr__hold *hold, bool wait) ZKR__LOCKED;

/*
 * The hold of @from, lost or not, becomes the hold of @to, and its claim becomes a claim of @to's queue, which has the same
 * directory. @to is NONE, and its queue and on_change are set.
 */
void zkr__hold_move(struct zkr__hold *from, struct zkr__hold *to) ZKR__LOCKED;

/* The time limit of a try, which needs two round trips at most. */
int64_t zkr__hold_try_ms(const zkr_client *c);

/* Set the thread's last error to the reason of a FAILED hold. Returns the code. */
int zkr__hold_fail(const struct zkr__hold *hold, int64_t timeout_ms) ZKR__LOCKED;

/*
 * Join the queue with one claim, without a hold. A client whose credentials are refused, or that is shut down, calls
 * on_change before this returns, with *out set. Returns ZKR_OK, ZKR_ENOMEM or ZKR_ELIMIT.
 */
int zkr__claim_enter(struct zkr__claim **out,
                     struct zkr__queue *q,
                     const struct zkr__entry *entry) ZKR__LOCKED;

/* --- what is told of a sure hold, by the claim that holds --- */

/* ZKR_OK, or a code with its text: the bytes at @out do not suffice. */
typedef int (*zkr__hold_getter)(const struct zkr__claim *claim, void *out, size_t size);

/* The fencing token, an int64_t. */
int zkr__hold_get_token(const struct zkr__claim *claim, void *out, size_t size);
/* The number of holds by its node so far, an int64_t. */
int zkr__hold_get_pass(const struct zkr__claim *claim, void *out, size_t size);
/* The path of the node, a string. ZKR_EINVAL: @out is NULL, or too small. */
int zkr__hold_get_node(const struct zkr__claim *claim, void *out, size_t size);
/*
 * The operation that checks the node, a zoo_op_t. It points to the path in the claim. From then on the release of the hold
 * is no news for other processes (news.h).
 */
int zkr__hold_get_guard(const struct zkr__claim *claim,
                        void *out,
                        size_t size) ZKR__LOCKED;

#endif
