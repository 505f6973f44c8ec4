/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A place in a queue, and the hold that it becomes: one claim, and another one each time when
 * what was granted was worth nothing by the time somebody could be told. What a thread that
 * acquires and a ticket have in common. Embedded in either. A place in several queues is a group of
 * claims, and held when all of them are.
 *
 * A grant is *taken* when somebody is told of it. One that ends before is nobody's loss: the place
 * enters the queue anew, within its deadline. All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_PLACE_H
#define ZKR_ENGINE_PLACE_H

#include "engine/group.h"

enum zkr__place_state {
    ZKR__PLACE_NONE,    /* not entered yet, or left */
    ZKR__PLACE_WAITING, /* undecided, or granted and not taken */
    ZKR__PLACE_HELD,    /* taken */
    ZKR__PLACE_LOST,  /* it had been taken; the claim stays until zkr__place_leave() */
    ZKR__PLACE_FAILED /* see failure; nothing is left in the queue */
};

/* The queues of a place that stands in several. Borrowed from its recipe. */
struct zkr__place_queues {
    struct zkr__queue *const *list; /* equal ones stand together */
    uint32_t count;
    uint32_t first; /* as in struct zkr__group_spec */
    void (*on_step)(struct zkr__group *group,
                    void *ctx); /* @ctx: the place; NULL = none */
    /* The place's owner has been told of the group, or it has left; NULL = nobody is told. */
    void (*on_told)(const struct zkr__place_queues *queues);
    /* The ticket that had them is destroyed; NULL = nobody is told. */
    void (*on_free)(const struct zkr__place_queues *queues);
};

struct zkr__place {
    struct zkr__queue
        *queue; /* borrowed; of several, the first, or the one in which it failed */
    struct zkr__claim *
        claim; /* NULL: none, or failed; of several, the first, or the one that was lost */
    const struct zkr__place_queues *queues; /* NULL: queue alone */
    struct zkr__group *group;               /* NULL: the claim alone */
    /*
     * Called at each change of the claim's outcome, at a loss with the state set already, and for
     * one entered with @timed at its deadline. Must not block. NULL = none.
     */
    void (*on_change)(struct zkr__place *place);
    int64_t deadline; /* of the way to the grant */
    int64_t since;    /* it waits, or is held */
    int failure;      /* FAILED: ZKR_E… */
    int detail;       /* ZooKeeper's code of it, or 0 */
    enum zkr__place_state state;
    bool once;  /* a try */
    bool timed; /* nobody waits for it: a timer tells the deadline */
};

/* A place measures itself, at each of the paths it is about. All functions need the client's lock. */

/* It has entered. */
void zkr__place_meter_wait(struct zkr__place *place) ZKR__LOCKED;
/* It waited, and holds now; or waits no more, because of @code. */
void zkr__place_meter_grant(struct zkr__place *place) ZKR__LOCKED;
void zkr__place_meter_fail(const struct zkr__place *place, int code) ZKR__LOCKED;
/* It held, and was let go; or was lost, as its claim says. */
void zkr__place_meter_release(const struct zkr__place *place) ZKR__LOCKED;
void zkr__place_meter_lose(const struct zkr__place *place) ZKR__LOCKED;

/*
 * Enter the queue: WAITING, or FAILED at once. @timeout_ms, from @started on, is an acquire's. The
 * members queue, queues, on_change and timed are the caller's to set before. One in several queues is
 * timed.
 */
void zkr__place_enter(struct zkr__place *place,
                      int64_t timeout_ms,
                      int64_t started) ZKR__LOCKED;

/* Where it stands now; what is granted is taken by that, what is worth nothing tried anew. */
enum zkr__place_state zkr__place_look(struct zkr__place *place) ZKR__LOCKED;
/* The same for one whom nobody is told of yet: a grant is left as it is. */
enum zkr__place_state zkr__place_follow(struct zkr__place *place) ZKR__LOCKED;
/* Sleep until it does not wait any more: it is taken, or has failed. The claim's release wakes
 * the sleeper itself. Not for one that is timed. */
enum zkr__place_state zkr__place_await(struct zkr__place *place) ZKR__LOCKED;
/* The sleeper gives up, if there is one. */
void zkr__place_cancel(struct zkr__place *place) ZKR__LOCKED;

/* The server has granted it, taken or not. */
bool zkr__place_granted(const struct zkr__place *place) ZKR__LOCKED;
/* Held, and surely so now. What is not is lost from here on, even if the session proves to be
 * alive. */
bool zkr__place_sure(struct zkr__place *place) ZKR__LOCKED;
/* Its claims, into @claims if it is not NULL; returns how many. Held. */
uint32_t zkr__place_claims(const struct zkr__place *place,
                           struct zkr__claim **claims) ZKR__LOCKED;
/* The path of a claim's node, which is known; ZKR_EINVAL when it does not fit. */
int zkr__place_node(const struct zkr__claim *claim, char *buf, size_t size) ZKR__LOCKED;

/*
 * Leave the queue, from any state; true: a hold had been lost. With @wait it returns when the node
 * is gone or the session over, and others may have the lock meanwhile.
 */
bool zkr__place_leave(struct zkr__place *place, bool wait) ZKR__LOCKED;

/*
 * A hold, or one that was lost, becomes @to's, and its claim one of @to's queue, which has the same directory. @to has
 * none yet, and its queue and on_change are set.
 */
void zkr__place_move(struct zkr__place *from, struct zkr__place *to) ZKR__LOCKED;

/* A try needs no more than two round trips, and ends when one has not been answered for so long. */
int64_t zkr__place_try_ms(const zkr_client *c);

/* Note why it has failed as the thread's last error; returns the code. */
int zkr__place_fail(const struct zkr__place *place, int64_t timeout_ms) ZKR__LOCKED;

#endif
