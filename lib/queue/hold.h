/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hold, from its request to its end. Everything that can be held embeds a hold: a thread's entry in the thread table,
 * a ticket, a latch, a selector. A hold in one queue has a claim. A hold in several queues has a group of claims, and
 * is held while all of them are.
 *
 * A grant is *taken* once the owner knows of it. If a grant ends before it is taken, nothing is lost, and the hold
 * enters the queue again, within its deadline. All functions need the client's lock.
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
    ZKR__HOLD_WAITING, /* undecided, or granted but not taken */
    ZKR__HOLD_HELD,    /* taken */
    ZKR__HOLD_DOUBTED, /* taken, but past the lease bound; only with keeps_place */
    /* Taken, and now over; the claim stays until zkr__hold_leave(). */
    ZKR__HOLD_LOST,
    ZKR__HOLD_FAILED /* has left the queue; see `failure` */
};

struct zkr__hold {
    /* The first queue, or the queue in which the hold failed. Borrowed. */
    struct zkr__queue *queue;
    /* The first claim, or the lost claim. NULL = there is none, or the hold failed. */
    struct zkr__claim *claim;
    const struct zkr__hold_queues *queues; /* NULL = only @queue */
    struct zkr__group *group;              /* NULL = only @claim */
    /*
     * Called at each change of the claim's outcome. At a loss, the state changes before the call. With @timed, also
     * called at the deadline. Must not block. NULL = none.
     */
    void (*on_change)(struct zkr__hold *hold);
    int64_t deadline; /* end of the wait; ZKR__NEVER = none */
    int64_t since;    /* when the wait or the hold began; zkr__now() */
    int failure;      /* FAILED: ZKR_E… */
    int detail;       /* ZooKeeper's code of the failure, or 0 */
    enum zkr__hold_state state;
    bool once;  /* a try, which fails instead of waiting behind others */
    bool timed; /* no thread sleeps on the hold, and a timer fires at the deadline */
};

/*
 * Enter the queue. The state becomes WAITING or FAILED. @timeout_ms counts from @started. The caller has set queue,
 * queues, on_change and timed. A hold in several queues must be timed.
 */
void zkr__hold_enter(struct zkr__hold *hold,
                     int64_t timeout_ms,
                     int64_t started) ZKR__LOCKED;

/* Take the grant if there is one, and return the state. If the grant is no longer valid, the hold enters again. */
enum zkr__hold_state zkr__hold_take(struct zkr__hold *hold) ZKR__LOCKED;
/* Like zkr__hold_take(), but does not take a grant, because the owner does not know of it yet. */
enum zkr__hold_state zkr__hold_follow(struct zkr__hold *hold) ZKR__LOCKED;
/* Sleep until the hold is HELD or FAILED. Not for a timed hold. */
enum zkr__hold_state zkr__hold_await(struct zkr__hold *hold) ZKR__LOCKED;
/* Turn HELD into NONE after a write of the owner has deleted the nodes. The owner must still call zkr__hold_leave(). */
void zkr__hold_released(struct zkr__hold *hold) ZKR__LOCKED;
/* If a thread sleeps on the hold, end its wait. */
void zkr__hold_cancel(struct zkr__hold *hold) ZKR__LOCKED;

/*
 * Returns how many contenders are ahead of a waiting hold, or 0 if that is not known or there are none. For several
 * queues, returns the largest number.
 */
int64_t zkr__hold_place(const struct zkr__hold *hold) ZKR__LOCKED;
/* Set *place to zkr__hold_place(). Returns the claim with that place, or NULL if *place is 0. */
const struct zkr__claim *zkr__hold_behind(const struct zkr__hold *hold,
                                          int64_t *place) ZKR__LOCKED;

/* Returns whether the hold is granted, no matter whether it is taken. */
bool zkr__hold_granted(const struct zkr__hold *hold) ZKR__LOCKED;
/*
 * Returns whether the hold is HELD and sure. A HELD hold that is not sure becomes LOST or DOUBTED, even if the session
 * is alive.
 */
bool zkr__hold_check(struct zkr__hold *hold) ZKR__LOCKED;
/* Returns whether the hold is HELD and sure, and its owner must still be warned (warning.h). */
bool zkr__hold_is_to_warn(struct zkr__hold *hold) ZKR__LOCKED;
/* Returns the number of claims of a HELD hold, and copies them into @claims unless that is NULL. */
uint32_t zkr__hold_claims(const struct zkr__hold *hold,
                          struct zkr__claim **claims) ZKR__LOCKED;

/*
 * Leave the queue, in any state. Returns true if the hold was LOST. With @wait, block until the node is gone or the
 * session has ended, and release the client's lock meanwhile.
 */
bool zkr__hold_leave(struct zkr__hold *hold, bool wait) ZKR__LOCKED;

/*
 * Move the hold of @from, lost or not, to @to. Its claim moves to @to's queue, which has the same directory. @to must
 * be NONE, with its queue and on_change set.
 */
void zkr__hold_move(struct zkr__hold *from, struct zkr__hold *to) ZKR__LOCKED;

/* Returns the time limit of a try. A try needs at most two round trips. */
int64_t zkr__hold_try_ms(const zkr_client *c);

/* Set the thread's last error to the failure of a FAILED hold, and return its code. */
int zkr__hold_fail(const struct zkr__hold *hold, int64_t timeout_ms) ZKR__LOCKED;

/*
 * Enter the queue with one claim, without a hold. If the credentials are refused or the client is shut down, on_change
 * is called before this returns, after *out is set. Returns ZKR_OK, ZKR_ENOMEM or ZKR_ELIMIT.
 */
int zkr__claim_enter(struct zkr__claim **out,
                     struct zkr__queue *q,
                     const struct zkr__entry *entry) ZKR__LOCKED;

/* --- properties of a sure hold, read from its claim --- */

/* Copies a property to @out. Returns ZKR_OK, or fails with an error text if @size is too small. */
typedef int (*zkr__hold_getter)(const struct zkr__claim *claim, void *out, size_t size);

/* Copies the fencing token, an int64_t. */
int zkr__hold_get_token(const struct zkr__claim *claim, void *out, size_t size);
/* Copies the number of this hold among the node's holds, an int64_t. */
int zkr__hold_get_pass(const struct zkr__claim *claim, void *out, size_t size);
/* Copies the path of the node, a string. Returns ZKR_EINVAL if @out is NULL or too small. */
int zkr__hold_get_node(const struct zkr__claim *claim, void *out, size_t size);
/*
 * Fills in the operation that checks the node, a zoo_op_t that points to the path in the claim. From now on, the client
 * does not send the release of this hold as news to other processes (news.h).
 */
int zkr__hold_get_guard(const struct zkr__claim *claim,
                        void *out,
                        size_t size) ZKR__LOCKED;

#endif
