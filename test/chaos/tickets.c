/* SPDX-License-Identifier: Apache-2.0 */
#include "tickets.h"

#include <stdlib.h>

#include "plan.h"
#include "util.h"

enum { WAIT_MS = 50, BRIEF_OF = 4 };

/* ---- the callback ------------------------------------------------------------------- */

/* Returns whether the state may follow: first HELD or FAILED, once; after HELD at most LOST. */
static bool in_turn(const zkc_ticket *t, int state)
{
    return t->told == 0 ? state == ZKR_TICKET_HELD || state == ZKR_TICKET_FAILED
                        : t->told == ZKR_TICKET_HELD && state == ZKR_TICKET_LOST;
}

/* Records with the token of the ticket: the token of the grip belongs to the worker's thread. */
static void tell(const zkc_ticket *t, enum zkc_kind kind, int code)
{
    const struct zkc_worker *w = t->grip.w;
    zkc_record r = zkc_client_record(w->process, kind, t->grip.want.path);
    r.thread = (uint8_t)w->number;
    r.by = (uint8_t)t->grip.by;
    r.token = t->token;
    r.code = code;
    zkc_grip_put(&t->grip, &r);
}

static void on_held(zkc_ticket *t)
{
    (void)zkc_grip_token(&t->grip, &t->token);
    if (t->brief) {
        zkc_grip_granted(&t->grip, t->asked, t->told_at, t->limit_ms);
        (void)zkc_grip_sure(&t->grip);
        zkc_grip_release(&t->grip);
    }
}

static void on_ticket(zkr_ticket *ticket, int state, void *ctx)
{
    zkc_ticket *t = ctx;
    const int64_t now = zkc_now();
    (void)pthread_mutex_lock(&t->grip.w->lock);
    if (!in_turn(t, state) || ticket != t->grip.ticket) {
        tell(t, ZKC_BAD_CALL, state);
    }
    t->told_at = t->told == 0 ? now : t->told_at;
    t->told = state;
    if (state == ZKR_TICKET_HELD && !t->canceled) {
        on_held(t);
    } else if (state == ZKR_TICKET_LOST) {
        tell(t, ZKC_LOST, 0);
    }
    (void)pthread_cond_signal(&t->grip.w->moved);
    (void)pthread_mutex_unlock(&t->grip.w->lock);
}

/* ---- the outcome -------------------------------------------------------------------- */

static int code_of(const zkc_ticket *t, int state)
{
    return state == ZKR_TICKET_HELD || state == ZKR_TICKET_RELEASED
               ? ZKR_OK
               : zkr_ticket_error(t->grip.ticket);
}

static int hear(zkc_ticket *t)
{
    struct zkc_worker *w = t->grip.w;
    (void)pthread_mutex_lock(&w->lock);
    while (t->told == 0 && !t->canceled) {
        (void)pthread_cond_wait(&w->moved, &w->lock);
    }
    /* A loss reported meanwhile shows when the worker checks whether the hold is sure. */
    const int state = t->told == ZKR_TICKET_FAILED ? t->told : ZKR_TICKET_HELD;
    (void)pthread_mutex_unlock(&w->lock);
    return code_of(t, state);
}

static int await(const zkc_ticket *t)
{
    int rc;
    do {
        rc = zkr_ticket_wait(t->grip.ticket, WAIT_MS);
    } while (rc == ZKR_ETIMEDOUT &&
             zkr_ticket_state(t->grip.ticket) == ZKR_TICKET_WAITING);
    return rc == ZKR_ETIMEDOUT && zkr_ticket_state(t->grip.ticket) == ZKR_TICKET_HELD
               ? ZKR_OK
               : rc;
}

static int poll(const zkc_ticket *t)
{
    int state;
    while ((state = zkr_ticket_state(t->grip.ticket)) == ZKR_TICKET_WAITING) {
        zkt_sleep_ms(2);
    }
    return code_of(t, state);
}

static void destroy(zkc_ticket *t)
{
    if (zkr_ticket_destroy(t->grip.ticket) != ZKR_OK) {
        zkt_fail("a ticket cannot be destroyed: %s", zkr_last_error()->message);
    }
    free(t); /* no callback follows */
}

/* From here on no thread cancels the ticket. */
static int settle(zkc_ticket *t, int rc)
{
    (void)pthread_mutex_lock(&t->grip.w->lock);
    t->grip.w->waiting = NULL;
    rc = t->canceled ? ZKR_ECANCELED : rc;
    const bool called = t->told != 0 && t->grip.by == ZKC_BY_CALLBACK;
    t->known_at = called ? t->told_at : zkc_now();
    (void)pthread_mutex_unlock(&t->grip.w->lock);
    return rc;
}

static void tell_failed(const zkc_ticket *t, int rc)
{
    zkc_record r = zkc_grip_record(&t->grip, ZKC_FAIL);
    r.token = 0;
    r.at = t->asked;
    r.until = t->known_at;
    r.limit = t->limit_ms;
    r.code = rc;
    zkc_grip_put(&t->grip, &r);
}

static int request(zkc_ticket *t)
{
    struct zkc_worker *w = t->grip.w;
    (void)pthread_mutex_lock(&w->lock); /* callbacks wait until w->waiting is set */
    int rc = zkc_locks_request(w->locks, &t->grip.want, t->limit_ms,
                               t->grip.by == ZKC_BY_WAIT ? NULL : on_ticket, t,
                               &t->grip.ticket);
    w->waiting = rc == ZKR_OK ? t : NULL;
    (void)pthread_mutex_unlock(&w->lock);
    return rc;
}

int zkc_ticket_take(struct zkc_worker *w,
                    const struct zkc_want *want,
                    enum zkc_by by,
                    int64_t limit_ms,
                    zkc_ticket **out)
{
    zkc_ticket *t = calloc(1, sizeof *t);
    *out = NULL;
    if (t == NULL) {
        zkt_fail("no memory");
    }
    t->grip = zkc_grip_begin(w, want, by);
    t->limit_ms = limit_ms;
    t->brief = by == ZKC_BY_CALLBACK && zkc_between(&w->random, 1, BRIEF_OF) == 1;
    t->asked = zkc_now();
    if (request(t) != ZKR_OK) {
        zkt_fail("no ticket: %s", zkr_last_error()->message);
    }
    int rc = by == ZKC_BY_CALLBACK ? hear(t) : by == ZKC_BY_WAIT ? await(t) : poll(t);
    rc = settle(t, rc);
    if (rc != ZKR_OK) {
        tell_failed(t, rc);
        (void)zkr_ticket_release(t->grip.ticket); /* may have been lost: no news */
        destroy(t);
    } else if (t->brief) {
        destroy(t);
    } else {
        zkc_grip_granted(&t->grip, t->asked, t->known_at, limit_ms);
        *out = t;
    }
    return rc;
}

/* ---- the end ------------------------------------------------------------------------ */

void zkc_ticket_end(zkc_ticket *t)
{
    zkc_grip_release(&t->grip);
    destroy(t);
}

void zkc_tickets_leave(zkc_ticket *t)
{
    struct zkc_process *p = t->grip.w->process;
    (void)pthread_mutex_lock(&p->lock);
    t->next = p->left;
    p->left = t;
    (void)pthread_mutex_unlock(&p->lock);
}

void zkc_tickets_end_left(struct zkc_process *p)
{
    (void)pthread_mutex_lock(&p->lock);
    zkc_ticket *t = p->left;
    p->left = NULL;
    (void)pthread_mutex_unlock(&p->lock);
    while (t != NULL) {
        zkc_ticket *next = t->next;
        (void)zkc_grip_sure(&t->grip);
        zkc_ticket_end(t);
        t = next;
    }
}

bool zkc_ticket_cancel(struct zkc_worker *w)
{
    (void)pthread_mutex_lock(&w->lock);
    zkc_ticket *t = w->waiting;
    const bool waits = t != NULL && t->told == 0 && !t->canceled;
    if (waits) {
        tell(t, ZKC_CANCEL, zkr_ticket_release(t->grip.ticket));
        t->canceled = true;
        (void)pthread_cond_signal(&w->moved);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return waits;
}
