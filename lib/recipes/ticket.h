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
    struct zkr__ticket_waiter *waiters; /* a list */
    struct zkr__call call;
    int reported; /* the state last passed to fn, a ZKR_TICKET_ number; 0 = none */
    int end;      /* after a release: why the ticket was not held, or no longer held */
    int writing;  /* how many threads have a transaction in flight */
    bool announced; /* *out is set, so callbacks may run */
    bool reporting; /* a call is deciding what to report, so no other call is posted */
    bool released;
    /* The claim that zkr_ticket_lost() described last, or NULL. Has one reference. */
    struct zkr__claim *told;
};

/*
 * Like zkr_mutex_request(), for an object that the caller has checked. The object is busy while it has tickets. If the
 * hold is in several queues, @queues describes them, and their on_free is called when the ticket is destroyed, or
 * before this function returns an error. Otherwise @queues is NULL.
 */
int zkr__ticket_request(zkr_ticket **out,
                        struct zkr__recipe *r,
                        const struct zkr__hold_queues *queues,
                        int64_t timeout_ms,
                        zkr_ticket_fn fn,
                        void *ctx);
/*
 * Like zkr__ticket_request(), but takes no callback, and sleeps until the ticket is held. The caller has made the
 * checks for a blocking call.
 */
int zkr__ticket_acquire(zkr_ticket **out,
                        struct zkr__recipe *r,
                        const struct zkr__hold_queues *queues,
                        int64_t timeout_ms);

#endif
