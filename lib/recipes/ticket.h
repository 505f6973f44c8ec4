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
    int reported;   /* the last state passed to fn, a ZKR_TICKET_ number; 0 = none */
    int end;        /* after a release: why the ticket was not or no longer held */
    int writing;    /* number of threads with a transaction in flight */
    bool announced; /* *out is set, so callbacks may run */
    bool reporting; /* a call is deciding what to report, so no other call is posted */
    bool released;
    /* The claim that zkr_ticket_lost() has described, with one reference. NULL = none. */
    struct zkr__claim *told;
};

/*
 * Like zkr_mutex_request(), for an object that the caller has checked. The object is busy while it has tickets. @queues
 * are the queues of a hold in several queues, else NULL. Their on_free is called when the ticket is destroyed, or
 * before this function returns an error.
 */
int zkr__ticket_request(zkr_ticket **out,
                        struct zkr__recipe *r,
                        const struct zkr__hold_queues *queues,
                        int64_t timeout_ms,
                        zkr_ticket_fn fn,
                        void *ctx);
/*
 * Like zkr__ticket_request(), but without a callback, and sleeps until the ticket is held. The caller has made the
 * checks for a blocking call.
 */
int zkr__ticket_acquire(zkr_ticket **out,
                        struct zkr__recipe *r,
                        const struct zkr__hold_queues *queues,
                        int64_t timeout_ms);

#endif
