/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_TICKETS_H
#define ZKC_TICKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "grip.h"

/*
 * Tickets of a worker: it asks, and hears of the outcome by callback, by waiting or by asking
 * again; the callback may end the hold itself, another thread may cancel one that waits, and may
 * end one that is held.
 */

typedef struct zkc_ticket {
    struct zkc_grip grip;
    int64_t asked; /* when */
    int64_t limit_ms;
    int64_t known_at; /* when the worker knew */
    bool brief;       /* the callback releases */
    /* Under the worker's lock. */
    int told;        /* the last state that the callback was called with; 0: none */
    int64_t token;   /* read in the callback of the grant */
    int64_t told_at; /* when it was called first */
    bool canceled;   /* by zkc_ticket_cancel(), before the worker knew of a grant */
    struct zkc_ticket *next; /* of those given to zkc_tickets_leave() */
} zkc_ticket;

/**
 * Ask for a ticket and wait for its outcome. ZKR_OK: it is held, and told to the history; end it
 * with zkc_ticket_end() or zkc_tickets_leave(). Also ZKR_OK with *@out NULL: the hold is over
 * already. Else why not, which is told as well.
 */
int zkc_ticket_take(struct zkc_worker *w,
                    const struct zkc_want *want,
                    enum zkc_by by,
                    int64_t limit_ms,
                    zkc_ticket **out);

/** Release and destroy. */
void zkc_ticket_end(zkc_ticket *t);

/** The thread of zkc_tickets_end_left() shall end it. */
void zkc_tickets_leave(zkc_ticket *t);
void zkc_tickets_end_left(struct zkc_process *p);

/** From another thread: release what the worker waits for. Returns whether there was any. */
bool zkc_ticket_cancel(struct zkc_worker *w);

#endif
