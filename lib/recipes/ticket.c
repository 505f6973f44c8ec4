/* SPDX-License-Identifier: Apache-2.0 */
/* A ticket: a hold that no thread owns. It notifies its callback and the threads that wait on it. */
#include "recipes/ticket.h"

#include <limits.h>
#include <string.h>

#include <zkr/guard.h>

#include "base/error.h"
#include "base/mem.h"
#include "look/contenders.h"
#include "queue/claim.h"
#include "queue/hold.h"
#include "queue/hold_write.h"
#include "queue/loss.h"
#include "recipes/recipe.h"
#include "session/bound.h"

/* A thread in zkr_ticket_wait(). The struct is on the stack of that thread. */
struct zkr__ticket_waiter {
    struct zkr__ticket_waiter *prev, *next;
    struct zkr__cv wake;
};

/*
 * Returns the path for error texts, which is the path of the first queue, or of the queue where the hold failed. Takes
 * the client's lock.
 */
static const char *dir_of(zkr_ticket *t)
{
    zkr__lock(t->c);
    const char *dir = t->hold.queue->dir;
    zkr__unlock(t->c);
    return dir;
}

/* --- reporting --- */

/*
 * Returns the state to report next, or 0 if there is none, as for a released ticket. HELD is reported even if the hold
 * is over by now.
 */
static int next_report(zkr_ticket *t) ZKR__LOCKED
{
    if (!t->fn || !t->announced) {
        return 0;
    }
    enum zkr__hold_state state = t->hold.state;
    if (t->reported == 0 || t->reported == ZKR_TICKET_QUEUED) {
        bool queued = t->reported == 0 && t->hold.queue->tells_queued &&
                      zkr__hold_place(&t->hold) > 0;
        return zkr__hold_granted(&t->hold) || state == ZKR__HOLD_LOST ? ZKR_TICKET_HELD
               : state == ZKR__HOLD_FAILED ? ZKR_TICKET_FAILED
               : queued                    ? ZKR_TICKET_QUEUED
                                           : 0;
    }
    bool warned = t->reported == ZKR_TICKET_WARNED;
    return !warned && t->reported != ZKR_TICKET_HELD   ? 0
           : state == ZKR__HOLD_LOST                   ? ZKR_TICKET_LOST
           : !warned && zkr__hold_is_to_warn(&t->hold) ? ZKR_TICKET_WARNED
                                                       : 0;
}

static void post_report(zkr_ticket *t) ZKR__LOCKED
{
    if (!t->reporting && next_report(t) != 0) {
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

/* Take the grant if there is one. Returns the present state, one of ZKR_TICKET_…. */
static int look(zkr_ticket *t) ZKR__LOCKED
{
    if (t->released) {
        return ZKR_TICKET_RELEASED;
    }
    enum zkr__hold_state before = t->hold.state;
    if (zkr__hold_take(&t->hold) != before) {
        wake(t);
        post_report(t);
    }
    switch (t->hold.state) {
    case ZKR__HOLD_HELD:
        return ZKR_TICKET_HELD;
    case ZKR__HOLD_LOST:
        return ZKR_TICKET_LOST;
    case ZKR__HOLD_FAILED:
        return ZKR_TICKET_FAILED;
    case ZKR__HOLD_NONE: /* released by a write that has not returned yet */
        return ZKR_TICKET_RELEASED;
    case ZKR__HOLD_WAITING:
    case ZKR__HOLD_DOUBTED: /* impossible: a ticket's queue has no keeps_place */
        break;
    }
    return ZKR_TICKET_WAITING;
}

/* Runs on the dispatch thread. The callback may destroy the ticket. */
static bool run(struct zkr__call *call)
{
    zkr_ticket *t = ZKR__OWNER_OF(call, zkr_ticket, call);
    zkr_client *c = t->c;
    zkr_ticket_fn fn = t->fn;
    void *ctx = t->ctx;
    zkr__lock(c);
    t->reporting = true;
    (void)look(t);
    t->reporting = false;
    int report = next_report(t);
    if (report != 0) {
        t->reported = report;
        post_report(t); /* the state may already differ from @report */
    }
    zkr__unlock(c);
    if (report != 0) {
        fn(t, report, ctx);
    }
    return report != 0;
}

static void on_change(struct zkr__hold *hold) ZKR__LOCKED
{
    zkr_ticket *t = ZKR__OWNER_OF(hold, zkr_ticket, hold);
    (void)zkr__hold_follow(hold);
    wake(t);
    post_report(t);
}

/* --- reasons --- */

static int say(const zkr_ticket *t, int code) ZKR__LOCKED
{
    const char *dir = t->hold.queue->dir;
    return code == ZKR_ESESSION ? zkr__fail(code, dir, "%s was lost while held", dir)
           : code == ZKR_ECANCELED
               ? zkr__fail(code, dir, "the ticket of %s was released", dir)
               : zkr__hold_fail(&t->hold, t->timeout_ms);
}

/*
 * Set the last error to the reason why the ticket is not held, and return its code. Returns ZKR_OK if the ticket is
 * held or waits.
 */
static int why(const zkr_ticket *t) ZKR__LOCKED
{
    int code = t->released                         ? t->end
               : t->hold.state == ZKR__HOLD_LOST   ? ZKR_ESESSION
               : t->hold.state == ZKR__HOLD_FAILED ? t->hold.failure
                                                   : ZKR_OK;
    return code == ZKR_OK ? ZKR_OK : say(t, code);
}

/*
 * Returns the claim by which the ticket surely holds. If there is none, returns NULL, and sets *rc unless @rc is NULL.
 */
static const struct zkr__claim *hold(void *ticket, int *rc) ZKR__LOCKED
{
    zkr_ticket *t = ticket;
    const char *dir = t->hold.queue->dir;
    bool sure = look(t) == ZKR_TICKET_HELD && zkr__hold_check(&t->hold);
    if (!sure && rc) {
        *rc = t->hold.state == ZKR__HOLD_LOST
                  ? why(t)
                  : zkr__fail(ZKR_ESTATE, dir, "the ticket of %s is not held", dir);
    }
    return sure ? t->hold.claim : NULL;
}

/* --- creation and release --- */

static zkr_ticket *make(struct zkr__recipe *r, const struct zkr__hold_queues *queues)
{
    zkr_ticket *t = zkr__mem_alloc(sizeof(*t));
    if (t) {
        t->c = r->c;
        t->tickets = &r->tickets;
        t->call = (struct zkr__call){.owner = t, .run = run};
        t->hold.queue = r->queue;
        t->hold.queues = queues;
        t->hold.timed = true;
        t->hold.on_change = on_change;
    }
    return t;
}

static void drop_queues(const struct zkr__hold_queues *queues) ZKR__LOCKED
{
    if (queues && queues->on_free) {
        queues->on_free(queues);
    }
}

/* Enter the queue. Returns ZKR_OK even if the hold has FAILED, unless memory ran out or a system call failed. */
static int enter(zkr_ticket *t, int64_t started) ZKR__LOCKED
{
    zkr__hold_enter(&t->hold, t->timeout_ms, started);
    bool short_of = t->hold.failure == ZKR_ENOMEM || t->hold.failure == ZKR_ESYS;
    return short_of ? zkr__hold_fail(&t->hold, t->timeout_ms) : ZKR_OK;
}

int zkr__ticket_request(zkr_ticket **out,
                        struct zkr__recipe *r,
                        const struct zkr__hold_queues *queues,
                        int64_t timeout_ms,
                        zkr_ticket_fn fn,
                        void *ctx)
{
    const char *dir = r->queue->dir;
    int64_t started = zkr__now(r->c);
    int rc = zkr__timeout_check(timeout_ms, dir);
    zkr_ticket *t = rc == ZKR_OK && out ? make(r, queues) : NULL;
    if (rc == ZKR_OK && !t) {
        rc = out ? zkr__fail(ZKR_ENOMEM, dir, "cannot make a ticket: out of memory")
                 : zkr__fail(ZKR_EINVAL, dir, "cannot store the ticket: out is NULL");
    }
    zkr__lock(r->c);
    if (t) {
        t->timeout_ms = timeout_ms;
        t->fn = fn;
        t->ctx = ctx;
        rc = enter(t, started);
    }
    if (t && rc == ZKR_OK) {
        /* *out is set before the lock is released, and so before any callback. */
        *out = t;
        t->announced = true;
        r->tickets++;
        post_report(t);
    } else {
        drop_queues(queues);
    }
    zkr__unlock(r->c);
    if (rc != ZKR_OK) {
        zkr__mem_free(t);
    }
    return rc;
}

/* Leave the queue unless the ticket was released before. @end is the reason why the ticket is no longer held. */
static void let_go(zkr_ticket *t, int end) ZKR__LOCKED
{
    if (!t->released) {
        (void)zkr__hold_leave(&t->hold, false);
        t->released = true;
        t->end = end;
        wake(t);
    }
}

int zkr_ticket_release(zkr_ticket *t)
{
    int rc = zkr__recipe_enter(t);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(t->c);
    enum zkr__hold_state state =
        t->released ? ZKR__HOLD_NONE : zkr__hold_follow(&t->hold);
    if (state == ZKR__HOLD_HELD) {
        state = zkr__hold_take(&t->hold);
    }
    if (state != ZKR__HOLD_NONE) {
        let_go(t, state == ZKR__HOLD_WAITING  ? ZKR_ECANCELED
                  : state == ZKR__HOLD_FAILED ? t->hold.failure
                  : state == ZKR__HOLD_LOST   ? ZKR_ESESSION
                                              : ZKR_OK);
    }
    if (t->end == ZKR_ESESSION) {
        rc = say(t, t->end);
    }
    zkr__unlock(t->c);
    return rc;
}

int zkr_ticket_destroy(zkr_ticket *t)
{
    int rc = t ? zkr__recipe_enter(t) : ZKR_OK;
    if (!t || rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = t->c;
    zkr__lock(c);
    int state = look(t);
    if (t->waiters || t->writing > 0 || state == ZKR_TICKET_WAITING ||
        state == ZKR_TICKET_HELD) {
        const char *dir = t->hold.queue->dir;
        rc = zkr__fail(ZKR_EBUSY, dir,
                       "the ticket of %s is held, or a thread is waiting for it", dir);
    }
    zkr__unlock(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__dispatch_cancel(&c->dispatch, t);
    zkr__lock(c);
    (void)zkr__hold_leave(&t->hold, false);
    (*t->tickets)--;
    if (t->told) {
        zkr__claim_unref(t->told);
    }
    drop_queues(t->hold.queues);
    zkr__unlock(c);
    zkr__mem_free(t);
    return ZKR_OK;
}

/* --- waiting --- */

/* The ticket's own deadline also ends the sleep, because its timer may be late while the service thread is busy. */
static bool sleep_on(zkr_ticket *t, struct zkr__cv *wake, int64_t deadline) ZKR__LOCKED
{
    int64_t own = t->hold.deadline;
    return zkr__wait(t->c, wake, own < deadline ? own : deadline);
}

static int wait_for(zkr_ticket *t, int64_t timeout_ms) ZKR__LOCKED
{
    struct zkr__ticket_waiter self;
    int64_t deadline = zkr__clock_deadline(zkr__now(t->c), timeout_ms);
    int state = look(t);
    if (state == ZKR_TICKET_WAITING && timeout_ms != 0) {
        zkr__cv_init(&self.wake);
        bool in_time = true;
        DL_APPEND(t->waiters, &self);
        while (state == ZKR_TICKET_WAITING && in_time) {
            in_time = sleep_on(t, &self.wake, deadline);
            state = look(t);
        }
        DL_DELETE(t->waiters, &self);
        zkr__cv_destroy(&self.wake);
    }
    if (state == ZKR_TICKET_HELD) {
        return ZKR_OK;
    }
    if (state == ZKR_TICKET_WAITING) {
        return zkr__fail(
            ZKR_ETIMEDOUT, t->hold.queue->dir,
            "%s was not granted within %lld ms; the ticket is still waiting",
            t->hold.queue->dir, (long long)timeout_ms);
    }
    int rc = why(t);
    return rc == ZKR_OK ? say(t, ZKR_ECANCELED) : rc;
}

int zkr_ticket_wait(zkr_ticket *t, int64_t timeout_ms)
{
    int rc = zkr__recipe_enter_blocking(t);
    if (rc == ZKR_OK) {
        rc = zkr__timeout_check(timeout_ms, dir_of(t));
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(t->c);
    rc = wait_for(t, timeout_ms);
    zkr__unlock(t->c);
    return rc;
}

int zkr__ticket_acquire(zkr_ticket **out,
                        struct zkr__recipe *r,
                        const struct zkr__hold_queues *queues,
                        int64_t timeout_ms)
{
    zkr_ticket *t = NULL;
    int rc = zkr__ticket_request(out ? &t : NULL, r, queues, timeout_ms, NULL, NULL);
    if (!t) {
        return rc;
    }
    rc = zkr_ticket_wait(t, ZKR_FOREVER);
    if (rc == ZKR_OK) {
        *out = t;
    } else {
        (void)zkr_ticket_release(t);
        (void)zkr_ticket_destroy(t);
    }
    return rc;
}

/* --- queries --- */

int zkr_ticket_state(zkr_ticket *t)
{
    int state = zkr__recipe_enter(t);
    if (state == ZKR_OK) {
        zkr__lock(t->c);
        state = look(t);
        zkr__unlock(t->c);
    }
    return state;
}

int zkr_ticket_position(zkr_ticket *t, int64_t *ahead)
{
    int rc = zkr__recipe_enter(t);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(t->c);
    const char *dir = t->hold.queue->dir;
    int state = look(t);
    int64_t place = zkr__hold_place(&t->hold);
    if (!ahead) {
        rc = zkr__fail(ZKR_EINVAL, dir, "cannot store the position: ahead is NULL");
    } else if (state == ZKR_TICKET_HELD || (state == ZKR_TICKET_WAITING && place > 0)) {
        *ahead = place;
    } else if (state == ZKR_TICKET_WAITING) {
        rc = zkr__fail(ZKR_ENOANSWER, dir, "the position at %s is not known yet", dir);
    } else {
        rc = zkr__fail(ZKR_ESTATE, dir, "the ticket of %s does not wait", dir);
    }
    zkr__unlock(t->c);
    return rc;
}

int zkr_ticket_ahead(zkr_ticket *t, zkr_contenders **out)
{
    int rc = zkr__recipe_enter(t);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(t->c);
    int64_t place;
    const char *dir = t->hold.queue->dir;
    int state = look(t);
    const struct zkr__claim *claim = zkr__hold_behind(&t->hold, &place);
    if (!out) {
        rc = zkr__fail(ZKR_EINVAL, dir, "cannot store the list: out is NULL");
    } else if (state != ZKR_TICKET_WAITING) {
        rc = zkr__fail(ZKR_ESTATE, dir, "the ticket of %s does not wait", dir);
    } else {
        rc = claim ? zkr__contenders_ahead(out, claim) : ZKR_ENOANSWER;
        rc = rc == ZKR_OK
                 ? rc
                 : zkr__fail(rc, dir, "cannot find the contender ahead at %s: %s", dir,
                             rc == ZKR_ENOMEM ? zkr_strerror(rc)
                                              : "no server has answered yet");
    }
    zkr__unlock(t->c);
    return rc;
}

int zkr_ticket_error(zkr_ticket *t)
{
    int rc = zkr__recipe_enter(t);
    if (rc == ZKR_OK) {
        zkr__lock(t->c);
        (void)look(t);
        rc = why(t);
        zkr__unlock(t->c);
    }
    return rc;
}

int64_t zkr_ticket_valid_for_ms(zkr_ticket *t)
{
    return zkr__recipe_valid_for_ms(t, hold);
}

int zkr_ticket_fencing_token(zkr_ticket *t, int64_t *token)
{
    return zkr__recipe_get(t, hold, zkr__hold_get_token, token, sizeof(*token));
}

int zkr_ticket_pass(zkr_ticket *t, int64_t *pass)
{
    return zkr__recipe_get(t, hold, zkr__hold_get_pass, pass, sizeof(*pass));
}

int zkr_ticket_node(zkr_ticket *t, char *buf, size_t size)
{
    return zkr__recipe_get(t, hold, zkr__hold_get_node, buf, size);
}

int zkr_ticket_guard(zkr_ticket *t, struct zoo_op *op)
{
    return zkr__recipe_get(t, hold, zkr__hold_get_guard, op, 0);
}

int zkr_ticket_lost(zkr_ticket *t, zkr_lost *out, size_t size)
{
    int rc = zkr__recipe_enter(t);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!out || size == 0 || size > INT_MAX) {
        return zkr__fail(ZKR_EINVAL, dir_of(t),
                         "the output pointer is NULL, or the size is not valid");
    }
    zkr__lock(t->c);
    const char *dir = t->hold.queue->dir;
    if (look(t) != ZKR_TICKET_LOST) {
        rc = zkr__fail(ZKR_ESTATE, dir, "the ticket of %s was not lost", dir);
    } else {
        if (!t->told) {
            t->told = t->hold.claim;
            zkr__claim_ref(t->told);
        }
        const zkr_lost lost = zkr__loss_tell(t->told, t->told->k.lost);
        memset(out, 0, size);
        memcpy(out, &lost, size < sizeof(lost) ? size : sizeof(lost));
    }
    zkr__unlock(t->c);
    return rc;
}

/* --- writes of the application while the ticket is held --- */

static int write(zkr_ticket *t, const struct zkr__writes *writes)
{
    int rc = zkr__recipe_enter_blocking(t);
    if (rc == ZKR_OK) {
        rc = zkr__writes_check(writes, dir_of(t));
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(t->c);
    if (hold(t, &rc)) {
        bool over;
        t->writing++;
        rc = zkr__hold_write(&t->hold, writes, &over);
        t->writing--;
        if (over) {
            let_go(t, rc == ZKR_ESESSION ? ZKR_ESESSION : ZKR_OK);
        }
    }
    zkr__unlock(t->c);
    return rc;
}

int zkr_ticket_multi(zkr_ticket *t,
                     int count,
                     const zoo_op_t *ops,
                     zoo_op_result_t *results,
                     int64_t timeout_ms)
{
    return write(t, &(struct zkr__writes){.count = (size_t)count,
                                          .ops = ops,
                                          .results = results,
                                          .timeout_ms = timeout_ms});
}

int zkr_ticket_release_multi(zkr_ticket *t,
                             int count,
                             const zoo_op_t *ops,
                             zoo_op_result_t *results,
                             int64_t timeout_ms)
{
    return write(t, &(struct zkr__writes){.count = (size_t)count,
                                          .ops = ops,
                                          .results = results,
                                          .timeout_ms = timeout_ms,
                                          .release = true});
}
