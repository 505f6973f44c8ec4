/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets, for the recipes that hand them out. */
#ifndef ZKR_RECIPES_TICKET_H
#define ZKR_RECIPES_TICKET_H

#include <zkr/ticket.h>

#include "queue/hold.h"
#include "recipes/recipe.h"

struct zkr__ticket_waiter;

struct zkr_ticket {
    zkr_client *c; /* first: see zkr__recipe_enter() */
    struct zkr__hold hold;
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
    bool reporting; /* a call decides what to report: post nothing */
    bool released;
    /* Of which zkr_ticket_lost() has told, with a reference. NULL = nobody has asked. */
    struct zkr__claim *told;
};

/*
 * As zkr_mutex_request(), of an object that was entered; it is busy while it has tickets. @queues: of a hold in several,
 * else NULL. Their on_free is called when they are needed no more: at the end of the ticket, or before this returns an
 * error.
 */
int zkr__ticket_request(zkr_ticket **out,
                        struct zkr__recipe *r,
                        const struct zkr__hold_queues *queues,
                        int64_t timeout_ms,
                        zkr_ticket_fn fn,
                        void *ctx);
/* The same without a callback, and sleep until the ticket is held. The object was entered to block. */
int zkr__ticket_acquire(zkr_ticket **out,
                        struct zkr__recipe *r,
                        const struct zkr__hold_queues *queues,
                        int64_t timeout_ms);

#endif
