/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets, for the recipes that hand them out. */
#ifndef ZKR_RECIPES_TICKET_H
#define ZKR_RECIPES_TICKET_H

#include <zkr/ticket.h>

#include "engine/loss.h"
#include "engine/place.h"

struct zkr__ticket_waiter;

struct zkr_ticket {
    zkr_client *c;
    struct zkr__place place;
    zkr_ticket_fn fn;
    void *ctx;
    int64_t timeout_ms;
    int64_t *tickets;                   /* of its recipe's object, which outlives it */
    struct zkr__ticket_waiter *waiters; /* list */
    struct zkr__call call;
    int reported;   /* what fn was told last: a ZKR_TICKET_ state, or 0 */
    int end;        /* why it was not held, or no more, when it was released */
    int writing;    /* threads in a transaction of it */
    bool announced; /* the request is through */
    bool posted;    /* the call is queued */
    bool released;
    char *lost_text; /* of zkr_ticket_lost(); NULL = nobody has asked */
};

struct zkr__request_args {
    struct zkr__queue *queue;
    const struct zkr__place_queues *queues; /* NULL: queue alone; until on_free */
    int64_t
        *tickets; /* a count: of those on the recipe's object, which they keep busy */
    int64_t timeout_ms;
    zkr_ticket_fn fn;
    void *ctx;
};

/* As zkr_mutex_request(); the client was entered. */
int zkr__ticket_request(zkr_ticket **out, const struct zkr__request_args *args);

/*
 * Sleep until it is held, with *out set; else it is gone, and the code says why. Its time-out is the limit. The client
 * was entered to block.
 */
int zkr__ticket_acquire(zkr_ticket **out, zkr_ticket *t);

/* First thing in each public function: as zkr__client_enter(). */
int zkr__ticket_enter(const zkr_ticket *t);
/* The path that errors name, without the client's lock: of several, another one once it has failed there. */
const char *zkr__ticket_dir(zkr_ticket *t);
/* Where it stands now, as a ZKR_TICKET_ state; a grant is had by that. */
int zkr__ticket_look(zkr_ticket *t) ZKR__LOCKED;
/* Held, and surely so now. */
bool zkr__ticket_is_sure(zkr_ticket *t) ZKR__LOCKED;
/* The claim by which it surely holds, or NULL and a code. */
const struct zkr__claim *zkr__ticket_hold(zkr_ticket *t, int *rc) ZKR__LOCKED;
/* Leave the queue, unless it was released before; @end: why it was not held, or no more. */
void zkr__ticket_let_go(zkr_ticket *t, int end) ZKR__LOCKED;
/* The code and text of what keeps it from being held; ZKR_OK when nothing does, or not yet. */
int zkr__ticket_why(const zkr_ticket *t) ZKR__LOCKED;

#endif
