/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_TICKETS_H
#define ZKC_TICKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "grip.h"

/*
 * The tickets of a worker. The worker requests a ticket and learns the outcome by a callback, by waiting, or by
 * polling. The callback may end the hold itself. Another thread may cancel a waiting ticket, and may end a held one.
 */

typedef struct zkc_ticket {
    struct zkc_grip grip;
    int64_t asked; /* when it was requested */
    int64_t limit_ms;
    int64_t known_at; /* when the worker learned the outcome */
    bool brief;       /* the callback releases the hold */
    /* Protected by the worker's lock. */
    int told;        /* the state in the last callback; 0: no callback yet */
    int64_t token;   /* read in the HELD callback */
    int64_t told_at; /* when the first callback came */
    bool canceled;   /* by zkc_ticket_cancel(), before the worker knew of a grant */
    struct zkc_ticket *next; /* the next ticket in the list of zkc_tickets_leave() */
} zkc_ticket;

/**
 * Request a ticket, and wait for its outcome. Returns ZKR_OK if the ticket is held; the grant is recorded. End the
 * ticket with zkc_ticket_end() or zkc_tickets_leave(). Also returns ZKR_OK, with *@out NULL, if the hold is already
 * over. Any other outcome is returned as an error, and recorded.
 */
int zkc_ticket_take(struct zkc_worker *w,
                    const struct zkc_want *want,
                    enum zkc_by by,
                    int64_t limit_ms,
                    zkc_ticket **out);

/** Release and destroy the ticket. */
void zkc_ticket_end(zkc_ticket *t);

/** Leave the ticket to the thread that calls zkc_tickets_end_left(). */
void zkc_tickets_leave(zkc_ticket *t);
void zkc_tickets_end_left(struct zkc_process *p);

/** From another thread, release the ticket that the worker waits for. Returns whether there was one. */
bool zkc_ticket_cancel(struct zkc_worker *w);

#endif
