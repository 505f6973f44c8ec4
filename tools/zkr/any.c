/* SPDX-License-Identifier: Apache-2.0 */
#include "any.h"

#include <stdbool.h>

#include "clock.h"
#include "grant.h"
#include "held.h"
#include "locks.h"
#include "obtain.h"

/* Takes the granted lock @i, and leaves the other queues. Events of those queues no longer count. */
static int take(struct locks *l, size_t i)
{
    locks_choose(l, i);
    held_reset(l->h);
    return obtain_held(l->h, l->h->until);
}

/*
 * Tries each path once, one after the other. zkr never holds two locks at a time, so it never blocks others with a lock
 * that it does not take.
 */
static int try_each(struct locks *l)
{
    struct held *h = l->h;
    int status = held_refuse(h, ZKR_ETIMEDOUT);
    for (size_t i = 0; i < l->o->path_count; i++) {
        int failure = locks_join_one(l, i, 0);
        status = failure == 0 ? take(l, i) : failure;
        if (status != HELD_REFUSED || h->refusal != ZKR_ETIMEDOUT) {
            return status;
        }
        grant_leave(&h->grant);
    }
    h->path = l->o->paths[0];
    return status;
}

enum { WAIT_ON = 0 };

/*
 * Returns the outcome of the wait, or WAIT_ON if the wait goes on. The wait ends when one queue grants or fails, or
 * when all queues have timed out.
 */
static int check_queues(struct locks *l)
{
    size_t late = 0;
    for (size_t i = 0; i < l->o->path_count; i++) {
        zkr_ticket *ticket = l->queues[i].ticket;
        int state = zkr_ticket_state(ticket);
        int rc = state == ZKR_TICKET_FAILED ? zkr_ticket_error(ticket) : ZKR_OK;
        bool timed_out = rc == ZKR_ETIMEDOUT || rc == ZKR_ENOANSWER;
        late += timed_out;
        if (state == ZKR_TICKET_HELD) {
            return take(l, i);
        }
        if (state == ZKR_TICKET_LOST) { /* lost before this check */
            return HELD_AGAIN;
        }
        if ((rc != ZKR_OK && !timed_out) || late == l->o->path_count) {
            return held_refuse(l->h, rc);
        }
    }
    return WAIT_ON;
}

int any_obtain(struct locks *l)
{
    enum { LOOK_MS = 1000 };
    struct held *h = l->h;
    int status = try_each(l);
    bool again = status == HELD_REFUSED && zkr_err_retriable(h->refusal);
    if (!again || l->o->wait_ms == 0) {
        return status;
    }
    grant_leave(&h->grant);
    status = WAIT_ON;
    for (size_t i = 0; i < l->o->path_count && status == WAIT_ON; i++) {
        status = locks_join_one(
            l, i, h->until == NEVER ? ZKR_FOREVER : clock_left_ms(h->until) + 1);
    }
    while (status == WAIT_ON) {
        status = check_queues(l);
        if (status == WAIT_ON) {
            obtain_say_slow(h);
            status = held_pause(h, LOOK_MS);
        }
    }
    return status;
}
