/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for the tests of tickets. */
#ifndef ZKT_TICKETS_H
#define ZKT_TICKETS_H

#include <stdatomic.h>
#include <string.h>

#include "fixture.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000, SOON_MS = 500 };

/* The reports of the callback. */
struct told {
    atomic_int held, failed, lost;
    atomic_int wrong; /* calls out of order, or for another ticket */
    atomic_int turn;  /* value of *turns when HELD was reported */
    atomic_int *turns;
    zkr_ticket *t;
    void (*then)(zkr_ticket *t,
                 int state,
                 struct told *told); /* called on the dispatch thread */
    atomic_int code;
    atomic_bool in_callback, go_on;
};

static inline void note(zkr_ticket *t, int state, void *ctx)
{
    struct told *told = ctx;
    bool first = told->held + told->failed + told->lost == 0;
    bool right = t == told->t &&
                 (state == ZKR_TICKET_LOST ? told->held == 1 && told->lost == 0
                                           : first && (state == ZKR_TICKET_HELD ||
                                                       state == ZKR_TICKET_FAILED));
    told->wrong += !right;
    if (state == ZKR_TICKET_HELD && told->turns) {
        told->turn = ++*told->turns;
    }
    if (told->then) {
        told->then(t, state, told);
    }
    told->held += state == ZKR_TICKET_HELD;
    told->failed += state == ZKR_TICKET_FAILED;
    told->lost += state == ZKR_TICKET_LOST;
}

static inline zkr_ticket *request(zkr_mutex *m, int64_t timeout_ms, struct told *told)
{
    zkr_ticket *t = NULL;
    if (told) {
        ZKT_MUST(zkr_mutex_request(m, timeout_ms, note, told, &told->t));
        return told->t;
    }
    ZKT_MUST(zkr_mutex_request(m, timeout_ms, NULL, NULL, &t));
    return t;
}

/* Request a ticket, and wait until its node is in the queue. */
static inline zkr_ticket *queue(zkr_mutex *m, struct told *told)
{
    int before = zkt_nodes();
    zkr_ticket *t = request(m, ZKR_FOREVER, told);
    ZKT_BECOMES(zkt_nodes(), (before < 0 ? 0 : before) + 1, PATIENCE_MS);
    return t;
}

static inline void end(zkr_ticket *t)
{
    (void)zkr_ticket_release(t);
    ZKT_MUST(zkr_ticket_destroy(t));
}

static inline void expect(int rc, int code)
{
    assert_string_equal(zkr_err_name(rc), zkr_err_name(code));
    assert_int_equal(zkr_last_error()->code, code);
    assert_true(strlen(zkr_last_error()->message) > 0);
}

#endif
