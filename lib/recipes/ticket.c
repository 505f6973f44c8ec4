/* SPDX-License-Identifier: Apache-2.0 */
/* A place in a queue that no thread owns, and those who hear of it: a callback and waiters. */
#include "recipes/ticket.h"

#include "base/error.h"
#include "base/mem.h"

/* On the stack of a thread in zkr_ticket_wait(). */
struct zkr__ticket_waiter {
    struct zkr__ticket_waiter *prev, *next;
    struct zkr__cv wake;
};

int zkr__ticket_enter(const zkr_ticket *t)
{
    return t ? zkr__client_enter(t->c)
             : zkr__fail(ZKR_EINVAL, NULL, "the ticket is NULL");
}

const char *zkr__ticket_dir(zkr_ticket *t)
{
    zkr__lock(t->c);
    const char *dir = t->place.queue->dir;
    zkr__unlock(t->c);
    return dir;
}

/* --- reporting --- */

/* What the callback is to hear next; 0 = nothing, as of one released. HELD may turn out to be over
 * by then. */
static int next_report(const zkr_ticket *t) ZKR__LOCKED
{
    if (!t->fn || !t->announced) {
        return 0;
    }
    enum zkr__place_state state = t->place.state;
    if (t->reported == 0) {
        return zkr__place_granted(&t->place) || state == ZKR__PLACE_LOST
                   ? ZKR_TICKET_HELD
               : state == ZKR__PLACE_FAILED ? ZKR_TICKET_FAILED
                                            : 0;
    }
    return t->reported == ZKR_TICKET_HELD && state == ZKR__PLACE_LOST ? ZKR_TICKET_LOST
                                                                      : 0;
}

static void post_report(zkr_ticket *t) ZKR__LOCKED
{
    if (!t->posted && next_report(t) != 0) {
        t->posted = true;
        zkr__dispatch_post(&t->c->dispatch, &t->call);
    }
}

static void wake(zkr_ticket *t) ZKR__LOCKED
{
    struct zkr__ticket_waiter *w;
    DL_FOREACH(t->waiters, w)
    {
        zkr__cv_signal(&w->wake);
    }
}

/* On the dispatch thread. The callback may end the ticket. */
static bool run(struct zkr__call *call)
{
    zkr_ticket *t = ZKR__OWNER_OF(call, zkr_ticket, call);
    zkr_client *c = t->c;
    zkr_ticket_fn fn = t->fn;
    void *ctx = t->ctx;
    zkr__lock(c);
    (void)zkr__ticket_look(t);
    t->posted = false;
    int report = next_report(t);
    if (report != 0) {
        t->reported = report;
        post_report(t); /* of the loss, when it was over by now */
    }
    zkr__unlock(c);
    if (report != 0) {
        fn(t, report, ctx);
    }
    return report != 0;
}

static void on_change(struct zkr__place *place) ZKR__LOCKED
{
    zkr_ticket *t = ZKR__OWNER_OF(place, zkr_ticket, place);
    (void)zkr__place_follow(place);
    wake(t);
    post_report(t);
}

/* --- asking --- */

int zkr__ticket_look(zkr_ticket *t)
{
    if (t->released) {
        return ZKR_TICKET_RELEASED;
    }
    enum zkr__place_state before = t->place.state;
    if (zkr__place_look(&t->place) != before) {
        wake(t);
        post_report(t);
    }
    switch (t->place.state) {
    case ZKR__PLACE_HELD:
        return ZKR_TICKET_HELD;
    case ZKR__PLACE_LOST:
        return ZKR_TICKET_LOST;
    case ZKR__PLACE_FAILED:
        return ZKR_TICKET_FAILED;
    case ZKR__PLACE_NONE: /* released, the caller does not know yet */
        return ZKR_TICKET_RELEASED;
    case ZKR__PLACE_WAITING:
        break;
    }
    return ZKR_TICKET_WAITING;
}

static int say(const zkr_ticket *t, int code) ZKR__LOCKED
{
    const char *dir = t->place.queue->dir;
    return code == ZKR_ESESSION ? zkr__fail(code, dir, "%s was lost while held", dir)
           : code == ZKR_ECANCELED
               ? zkr__fail(code, dir, "the ticket of %s was released", dir)
               : zkr__place_fail(&t->place, t->timeout_ms);
}

int zkr__ticket_why(const zkr_ticket *t)
{
    int code = t->released                           ? t->end
               : t->place.state == ZKR__PLACE_LOST   ? ZKR_ESESSION
               : t->place.state == ZKR__PLACE_FAILED ? t->place.failure
                                                     : ZKR_OK;
    return code == ZKR_OK ? ZKR_OK : say(t, code);
}

bool zkr__ticket_is_sure(zkr_ticket *t)
{
    return zkr__ticket_look(t) == ZKR_TICKET_HELD && zkr__place_sure(&t->place);
}

const struct zkr__claim *zkr__ticket_hold(zkr_ticket *t, int *rc)
{
    const char *dir = t->place.queue->dir;
    if (zkr__ticket_is_sure(t)) {
        return t->place.claim;
    }
    *rc = t->place.state == ZKR__PLACE_LOST
              ? zkr__ticket_why(t)
              : zkr__fail(ZKR_ESTATE, dir, "the ticket of %s is not held", dir);
    return NULL;
}

/* --- life --- */

static zkr_ticket *make(const struct zkr__request_args *args)
{
    zkr_ticket *t = zkr__mem_alloc(sizeof(*t));
    if (t) {
        t->c = args->queue->c;
        t->fn = args->fn;
        t->ctx = args->ctx;
        t->timeout_ms = args->timeout_ms;
        t->tickets = args->tickets;
        t->call = (struct zkr__call){.owner = t, .run = run};
        t->place.queue = args->queue;
        t->place.queues = args->queues;
        t->place.timed = true;
        t->place.on_change = on_change;
    }
    return t;
}

int zkr__ticket_request(zkr_ticket **out, const struct zkr__request_args *args)
{
    zkr_client *c = args->queue->c;
    const char *dir = args->queue->dir;
    int rc = zkr__timeout_check(args->timeout_ms, dir);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!out) {
        return zkr__fail(ZKR_EINVAL, dir, "the ticket cannot be stored: out is NULL");
    }
    int64_t started = zkr__now(c);
    zkr_ticket *t = make(args);
    if (!t) {
        return zkr__fail(ZKR_ENOMEM, dir, "cannot make a ticket: out of memory");
    }
    zkr__lock(c);
    zkr__place_enter(&t->place, args->timeout_ms, started);
    if (t->place.failure == ZKR_ENOMEM || t->place.failure == ZKR_ESYS) {
        rc = zkr__place_fail(&t->place, args->timeout_ms);
    } else {
        /* Before the lock is let go, and so before anybody can be told. */
        *out = t;
        t->announced = true;
        (*t->tickets)++;
        post_report(t);
    }
    zkr__unlock(c);
    if (rc != ZKR_OK) {
        zkr__mem_free(t);
    }
    return rc;
}

void zkr__ticket_let_go(zkr_ticket *t, int end)
{
    if (!t->released) {
        (void)zkr__place_leave(&t->place, false);
        t->released = true;
        t->end = end;
        wake(t);
    }
}

int zkr_ticket_release(zkr_ticket *t)
{
    int rc = zkr__ticket_enter(t);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(t->c);
    switch (t->released ? ZKR__PLACE_NONE : zkr__place_follow(&t->place)) {
    case ZKR__PLACE_WAITING:
        zkr__ticket_let_go(t, ZKR_ECANCELED);
        break;
    case ZKR__PLACE_FAILED:
        zkr__ticket_let_go(t, t->place.failure);
        break;
    case ZKR__PLACE_HELD:
    case ZKR__PLACE_LOST:
        (void)zkr__place_look(&t->place);
        zkr__ticket_let_go(t,
                           t->place.state == ZKR__PLACE_LOST ? ZKR_ESESSION : ZKR_OK);
        break;
    case ZKR__PLACE_NONE:
        break;
    }
    if (t->end == ZKR_ESESSION) {
        rc = say(t, t->end);
    }
    zkr__unlock(t->c);
    return rc;
}

int zkr_ticket_destroy(zkr_ticket *t)
{
    if (!t) {
        return ZKR_OK;
    }
    int rc = zkr__ticket_enter(t);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = t->c;
    zkr__lock(c);
    int state = zkr__ticket_look(t);
    if (t->waiters || t->writing > 0 || state == ZKR_TICKET_WAITING ||
        state == ZKR_TICKET_HELD) {
        const char *dir = t->place.queue->dir;
        rc = zkr__fail(ZKR_EBUSY, dir, "the ticket of %s is held or waited for", dir);
    }
    zkr__unlock(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__dispatch_cancel(&c->dispatch, t);
    zkr__lock(c);
    (void)zkr__place_leave(&t->place, false);
    (*t->tickets)--;
    if (t->place.queues && t->place.queues->on_free) {
        t->place.queues->on_free(t->place.queues);
    }
    zkr__unlock(c);
    zkr__mem_free(t->lost_text);
    zkr__mem_free(t);
    return ZKR_OK;
}

/* --- waiting --- */

/* The ticket's own time-out ends the wait as well, though the service thread be busy with a handle. */
static bool sleep_on(zkr_ticket *t, struct zkr__cv *wake, int64_t deadline) ZKR__LOCKED
{
    int64_t own = t->place.deadline;
    return zkr__wait(t->c, wake, own < deadline ? own : deadline);
}

static int wait_for(zkr_ticket *t, int64_t timeout_ms) ZKR__LOCKED
{
    struct zkr__ticket_waiter self;
    int64_t deadline = zkr__clock_deadline(zkr__now(t->c), timeout_ms);
    int state = zkr__ticket_look(t);
    if (state == ZKR_TICKET_WAITING && timeout_ms != 0) {
        int error = zkr__cv_init(&self.wake);
        if (error != 0) {
            return zkr__fail_sys(error, "cannot wait");
        }
        bool in_time = true;
        DL_APPEND(t->waiters, &self);
        while (state == ZKR_TICKET_WAITING && in_time) {
            in_time = sleep_on(t, &self.wake, deadline);
            state = zkr__ticket_look(t);
        }
        DL_DELETE(t->waiters, &self);
        zkr__cv_destroy(&self.wake);
    }
    if (state == ZKR_TICKET_HELD) {
        return ZKR_OK;
    }
    if (state == ZKR_TICKET_WAITING) {
        return zkr__fail(ZKR_ETIMEDOUT, t->place.queue->dir,
                         "%s is not granted after %lld ms; the ticket still waits",
                         t->place.queue->dir, (long long)timeout_ms);
    }
    int why = zkr__ticket_why(t);
    return why == ZKR_OK ? say(t, ZKR_ECANCELED) : why;
}

int zkr_ticket_wait(zkr_ticket *t, int64_t timeout_ms)
{
    int rc = zkr__ticket_enter(t);
    if (rc == ZKR_OK) {
        rc = zkr__client_enter_blocking(t->c);
    }
    if (rc == ZKR_OK) {
        rc = zkr__timeout_check(timeout_ms, zkr__ticket_dir(t));
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(t->c);
    rc = wait_for(t, timeout_ms);
    zkr__unlock(t->c);
    return rc;
}

int zkr__ticket_acquire(zkr_ticket **out, zkr_ticket *t)
{
    int rc = zkr_ticket_wait(t, ZKR_FOREVER);
    if (rc == ZKR_OK) {
        *out = t;
    } else {
        (void)zkr_ticket_release(t);
        (void)zkr_ticket_destroy(t);
    }
    return rc;
}
