/* SPDX-License-Identifier: Apache-2.0 */
#include "any.h"

#include <stdlib.h>

#include "cli.h"
#include "held.h"

int any_create(struct any *a,
               struct held *held,
               const char *const *paths,
               size_t count,
               const zkr_mutex_options *options)
{
    int rc = ZKR_OK;
    a->held = held;
    a->paths = paths;
    a->mutexes = calloc(count, sizeof(zkr_mutex *));
    a->tickets = calloc(count, sizeof(zkr_ticket *));
    if (!a->mutexes || !a->tickets) {
        return ZKR_ENOMEM;
    }
    for (a->count = 0; a->count < count && rc == ZKR_OK; a->count++) {
        rc = zkr_mutex_create(&a->mutexes[a->count], held->env->client, paths[a->count],
                              options);
    }
    return rc;
}

void any_leave(struct any *a)
{
    for (size_t i = 0; i < a->count; i++) {
        (void)zkr_ticket_release(a->tickets[i]);
    }
    for (size_t i = 0; i < a->count; i++) {
        (void)zkr_ticket_destroy(a->tickets[i]); /* waits for a running callback */
        a->tickets[i] = NULL;
    }
}

void any_end(struct any *a)
{
    any_leave(a);
    for (size_t i = 0; i < a->count; i++) {
        (void)zkr_mutex_destroy(a->mutexes[i]);
    }
    free((void *)a->mutexes);
    free((void *)a->tickets);
}

/* Joins one queue. Returns 0 or an exit code, reported. */
static int ask(struct any *a, size_t i, int64_t ms)
{
    int rc =
        zkr_mutex_request(a->mutexes[i], ms, held_on_ticket, a->held, &a->tickets[i]);
    return rc == ZKR_OK ? 0 : cli_fail_rc(rc);
}

/* Takes the lock that is granted, and leaves the other queues. What they told meanwhile does not count. */
static int take(struct any *a, size_t i)
{
    struct held *h = a->held;
    h->path = a->paths[i];
    h->ticket = a->tickets[i];
    a->tickets[i] = NULL;
    any_leave(a);
    held_reset(h);
    return held_obtain(h, h->until);
}

/*
 * One try at each path, in turn, so that never two are held: one that others may have at that moment is not refused to
 * them.
 */
static int try_each(struct any *a)
{
    struct held *h = a->held;
    int status = held_refuse(h, ZKR_ETIMEDOUT);
    for (size_t i = 0; i < a->count; i++) {
        int failure = ask(a, i, 0);
        status = failure == 0 ? take(a, i) : failure;
        if (status != HELD_REFUSED || h->refusal != ZKR_ETIMEDOUT) {
            return status;
        }
        held_leave(h);
    }
    h->path = a->paths[0];
    return status;
}

enum { WAIT_ON = 0 };

/* The outcome of the wait, or WAIT_ON. It is over when one is granted, when one cannot be, or when all have timed out. */
static int look(struct any *a)
{
    size_t late = 0;
    for (size_t i = 0; i < a->count; i++) {
        int state = zkr_ticket_state(a->tickets[i]);
        int rc = state == ZKR_TICKET_FAILED ? zkr_ticket_error(a->tickets[i]) : ZKR_OK;
        bool timed_out = rc == ZKR_ETIMEDOUT || rc == ZKR_ENOANSWER;
        late += timed_out;
        if (state == ZKR_TICKET_HELD) {
            return take(a, i);
        }
        if (state == ZKR_TICKET_LOST) { /* before we came to look */
            return HELD_AGAIN;
        }
        if ((rc != ZKR_OK && !timed_out) || late == a->count) {
            return held_refuse(a->held, rc);
        }
    }
    return WAIT_ON;
}

static int await_one(struct any *a)
{
    const struct held *h = a->held;
    int status = WAIT_ON;
    for (size_t i = 0; i < a->count && status == WAIT_ON; i++) {
        status =
            ask(a, i, h->until == CLI_NEVER ? ZKR_FOREVER : cli_until(h->until) + 1);
    }
    while (status == WAIT_ON) {
        status = look(a);
        if (status == WAIT_ON) {
            cli_alive();
            (void)held_sleep(h, -1, cli_alive_rest(INT32_MAX));
            int signo = signals_stop(&h->env->signals);
            status = signo ? cli_exit_signal(signo) : WAIT_ON;
        }
    }
    return status;
}

int any_obtain(struct any *a, int64_t wait_ms)
{
    int status = try_each(a);
    bool again = status == HELD_REFUSED && zkr_err_retriable(a->held->refusal);
    if (!again || wait_ms == 0) {
        return status;
    }
    held_leave(a->held);
    return await_one(a);
}
