/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets, for the recipes that offer them. */
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
    int64_t *tickets; /* counter in the recipe's object, which outlives the ticket */
    struct zkr__ticket_waiter *waiters; /* list */
    struct zkr__call call;
    int reported; /* the state last passed to fn: a ZKR_TICKET_ number, or 0 */
    int end;      /* after a release: why the ticket was not held, or no longer held */
    int writing;  /* threads with a transaction in flight */
    bool announced; /* the request has returned the ticket */
    bool reporting; /* a call decides what to report: post no other */
    bool released;
    /* The claim described by zkr_ticket_lost(), referenced. NULL = never called. */
    struct zkr__claim *told;
};

/*
 * Like zkr_mutex_request(), for an object whose checks were made; the object is busy while it has tickets. @queues: of
 * a hold in several queues, else NULL. Their on_free is called when the ticket is destroyed, or before this returns an
 * error.
 */
int zkr__ticket_request(zkr_ticket **out,
                        struct zkr__recipe *r,
                        const struct zkr__hold_queues *queues,
                        int64_t timeout_ms,
                        zkr_ticket_fn fn,
                        void *ctx);
/* The same without a callback; sleeps until the ticket is held. The checks for a blocking call were made. */
int zkr__ticket_acquire(zkr_ticket **out,
                        struct zkr__recipe *r,
                        const struct zkr__hold_queues *queues,
                        int64_t timeout_ms);

#endif
