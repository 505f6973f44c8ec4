/* SPDX-License-Identifier: Apache-2.0 */
/* The leader selector: a thread that contends, leads, and contends again as often as requested. */
#include "recipes/leader_selector.h"

#include <errno.h>

#include "base/error.h"
#include "base/options.h"
#include "base/thread.h"
#include "recipes/recipe.h"
#include "session/bound.h"
#include "session/log.h"

/* Returns whether the thread surely leads now. A hold that is not sure is declared lost. */
static bool is_sure(struct zkr_leadership *lead) ZKR__LOCKED
{
    return zkr__hold_check(&lead->s->hold) && !lead->suspended;
}

/* --- the end of a candidacy --- */

/* Runs on the dispatch thread. The callback may destroy the selector. */
static bool run_failed(struct zkr__call *call)
{
    zkr_leader_selector *s = ZKR__OWNER_OF(call, zkr_leader_selector, failed);
    zkr__lock(s->r.c);
    int code = s->failure;
    zkr__unlock(s->r.c);
    if (code != 0) {
        s->o.on_failed(s, code, s->ctx);
    }
    return code != 0;
}

static void end_candidacy(zkr_leader_selector *s, int code) ZKR__LOCKED
{
    s->queued = false;
    s->failure = code;
    zkr__log(s->r.c, ZKR_LOG_ERROR,
             ZKR__EVENT("candidacy_over", .path = s->r.queue->dir,
                        .reason = zkr_strerror(code)));
    if (s->o.on_failed) {
        zkr__dispatch_post(&s->r.c->dispatch, &s->failed);
    }
}

/* --- rounds, on the selector's thread --- */

static void on_change(struct zkr__hold *hold) ZKR__LOCKED
{
    zkr__cv_broadcast(&ZKR__OWNER_OF(hold, zkr_leader_selector, hold)->r.changed);
}

static void on_state(struct zkr__listener *listener, int state) ZKR__LOCKED
{
    zkr_leader_selector *s = ZKR__OWNER_OF(listener, zkr_leader_selector, listener);
    if (state != ZKR_STATE_CONNECTED) {
        s->lead.suspended = true;
        zkr__cv_broadcast(&s->r.changed);
    }
}

/*
 * Enter the queue and wait. Returns ZKR_OK if the thread leads, or ZKR_ESESSION if the grant ended before the thread
 * woke up.
 */
static int contend(zkr_leader_selector *s) ZKR__LOCKED
{
    zkr__hold_enter(&s->hold, ZKR_FOREVER, zkr__now(s->r.c));
    enum zkr__hold_state state = zkr__hold_await(&s->hold);
    s->lead = (struct zkr_leadership){
        .s = s,
        .suspended = s->o.step_down_when_suspended && !zkr__connected(s->r.c),
    };
    if (!s->stopping && is_sure(&s->lead)) {
        return ZKR_OK;
    }
    zkr__hold_leave(&s->hold, false);
    return s->stopping                 ? ZKR_ECANCELED
           : state == ZKR__HOLD_FAILED ? s->hold.failure
                                       : ZKR_ESESSION;
}

static void *run_rounds(void *selector);

/* Announce that the thread no longer uses the selector. */
static void end_thread(zkr_leader_selector *s) ZKR__LOCKED
{
    s->ended = true;
    zkr__cv_broadcast(&s->r.changed);
}

/* Start another thread for the next rounds, because take_leadership() has ended the calling thread. */
static void give_up_thread(zkr_leader_selector *s) ZKR__LOCKED
{
    zkr_client *c = s->r.c;
    int error = EAGAIN;
    while (!s->stopping && (error = zkr__thread_replace(&s->thread, "zkr-selector",
                                                        run_rounds, s)) != 0) {
        zkr__unlock(c);
        zkr__thread_rest();
        zkr__lock(c);
    }
    if (error != 0) {
        end_thread(s);
    }
}

static void call_take(void *selector)
{
    zkr_leader_selector *s = selector;
    s->take(&s->lead, s->ctx);
}

static void after_take(void *selector, bool cut)
{
    zkr_leader_selector *s = selector;
    zkr_client *c = s->r.c;
    zkr__lock(c);
    s->leading = false;
    s->led = true;
    zkr__hold_leave(&s->hold, false);
    if (cut) {
        give_up_thread(s);
    }
    zkr__unlock(c);
}

static void lead(zkr_leader_selector *s) ZKR__LOCKED
{
    zkr_client *c = s->r.c;
    s->leading = true;
    s->queued = s->o.auto_requeue != 0;
    zkr__unlock(c);
    zkr__thread_call_cancelable(call_take, after_take, s);
    zkr__lock(c);
}

static void pause_between(zkr_leader_selector *s) ZKR__LOCKED
{
    zkr_client *c = s->r.c;
    s->led = false;
    int64_t deadline = zkr__clock_deadline(zkr__now(c), s->o.requeue_delay_ms);
    bool in_time = s->o.auto_requeue && s->o.requeue_delay_ms > 0;
    while (!s->stopping && in_time) {
        in_time = zkr__wait(c, &s->r.changed, deadline);
    }
}

/* The main function of the thread. Once `stopping` is set, it sets `ended` and returns. */
static void *run_rounds(void *selector)
{
    zkr_leader_selector *s = selector;
    zkr_client *c = s->r.c;
    zkr__lock(c);
    while (!s->stopping) {
        if (s->led) {
            pause_between(s);
            continue;
        }
        if (!s->queued) {
            (void)zkr__wait(c, &s->r.changed, ZKR__NEVER);
            continue;
        }
        int rc = contend(s);
        if (rc == ZKR_OK) {
            lead(s);
        } else if (rc != ZKR_ECANCELED && !zkr_err_retriable(rc)) {
            end_candidacy(s, rc);
        }
    }
    end_thread(s);
    zkr__unlock(c);
    return NULL;
}

ZKR__OPTIONS_CHECK(zkr_leader_selector_options, 6, persistent_parent);

/* --- start, stop --- */

/* Join the thread if it has ended. */
static void reap(zkr_leader_selector *s) ZKR__LOCKED
{
    zkr_client *c = s->r.c;
    if (!s->ended || s->joining || zkr__thread_is_of(s)) {
        return;
    }
    s->joining = true;
    zkr__unlock(c);
    int cancel_state = zkr__cancel_hold();
    zkr__thread_join(s->thread);
    zkr__cancel_restore(cancel_state);
    zkr__lock(c);
    s->started = s->stopping = s->ended = s->joining = s->queued = s->led = false;
    s->failure = 0;
    s->runs++;
    zkr__cv_broadcast(&s->r.changed);
}

int zkr_leader_selector_start(zkr_leader_selector *s)
{
    int rc = zkr__recipe_enter(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    const char *dir = s->r.queue->dir;
    zkr__lock(s->r.c);
    reap(s);
    if (s->started) {
        rc = zkr__fail(ZKR_ESTATE, dir, "the selector on %s is %s", dir,
                       s->stopping ? "still stopping" : "started already");
    } else {
        int error = zkr__thread_start(&s->thread, "zkr-selector", run_rounds, s);
        s->started = s->queued = error == 0;
        rc = error == 0 ? ZKR_OK : zkr__fail_sys(error, "zkr_leader_selector_start");
    }
    zkr__unlock(s->r.c);
    return rc;
}

/* Returns whether the calling thread would wait for itself. */
static bool is_inside(const zkr_leader_selector *s) ZKR__LOCKED
{
    return zkr__thread_is_of(s) || zkr__dispatch_is_self(&s->r.c->dispatch);
}

int zkr_leader_selector_stop(zkr_leader_selector *s, int64_t timeout_ms)
{
    int rc = zkr__recipe_enter(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = s->r.c;
    const char *dir = s->r.queue->dir;
    rc = zkr__timeout_check(timeout_ms, dir);
    if (rc != ZKR_OK) {
        return rc;
    }
    int64_t deadline = zkr__clock_deadline(zkr__now(c), timeout_ms);
    zkr__lock(c);
    s->stopping = s->started;
    zkr__hold_cancel(&s->hold);
    zkr__cv_broadcast(&s->r.changed);
    bool in_time = timeout_ms != 0 && !is_inside(s);
    uint64_t run = s->runs;
    s->r.waiting++;
    reap(s);
    /*
     * A thread that does not lead ends at once. Meanwhile another thread may start the selector again, which changes
     * `runs`.
     */
    while (s->started && s->runs == run && !zkr__thread_is_of(s) &&
           (in_time || !s->leading)) {
        in_time = zkr__wait(c, &s->r.changed, s->leading ? deadline : ZKR__NEVER);
        reap(s);
    }
    s->r.waiting--;
    if (s->started && s->runs == run) {
        rc = zkr__fail(
            ZKR_ETIMEDOUT, dir,
            "take_leadership() of %s has not returned yet; it has been interrupted",
            dir);
    }
    zkr__unlock(c);
    return rc;
}

/* --- create, destroy --- */

static int check_arguments(const char *path,
                           zkr_take_leadership take,
                           const zkr_leader_selector_options *o)
{
    if (!take) {
        return zkr__fail(ZKR_EINVAL, path, "take_leadership is NULL");
    }
    return o->requeue_delay_ms < 0
               ? zkr__fail(ZKR_EINVAL, path, "option requeue_delay_ms is negative")
               : ZKR_OK;
}

// NOLINTNEXTLINE(readability-function-size): one parameter more than most
int zkr_leader_selector_create(zkr_leader_selector **out,
                               zkr_client *c,
                               const char *path,
                               const char *id,
                               zkr_take_leadership take_leadership,
                               void *ctx,
                               const zkr_leader_selector_options *options)
{
    zkr_leader_selector_options o;
    int rc = zkr__recipe_options(c, out, "leader selector", &o, sizeof(o), options);
    if (rc == ZKR_OK) {
        rc = check_arguments(path, take_leadership, &o);
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    const struct zkr__queue chosen = {
        .dir = path,
        .kind = ZKR__NAME_LOCK /* on the servers, a mutex as Curator's is */,
        .rule = zkr__rule_first,
        .owner = id && id[0] ? id : NULL,
        .persistent_parent = o.persistent_parent != 0,
    };
    zkr_leader_selector *s =
        zkr__recipe_make(sizeof(*s), c, "leader selector", &chosen, &rc);
    if (!s) {
        return rc;
    }
    s->take = take_leadership;
    s->ctx = ctx;
    s->o = o;
    s->failed = (struct zkr__call){.owner = s, .run = run_failed};
    s->hold.queue = s->r.queue;
    s->hold.on_change = on_change;
    s->listener.on_state = on_state;
    if (o.step_down_when_suspended) {
        zkr__lock(c);
        zkr__listen(c, &s->listener);
        zkr__unlock(c);
    }
    *out = s;
    return ZKR_OK;
}

int zkr_leader_selector_destroy(zkr_leader_selector *s)
{
    int rc = s ? zkr__recipe_enter(s) : ZKR_OK;
    if (!s || rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = s->r.c;
    zkr__lock(c);
    reap(s);
    rc = zkr__recipe_busy(&s->r, s->started);
    if (rc == ZKR_OK && s->o.step_down_when_suspended) {
        zkr__unlisten(c, &s->listener);
    }
    zkr__unlock(c);
    if (rc == ZKR_OK) {
        zkr__recipe_free(&s->r);
    }
    return rc;
}

/* --- queries and requests --- */

int zkr_leader_selector_state(zkr_leader_selector *s)
{
    int rc = zkr__recipe_enter(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(s->r.c);
    int state = !s->started || s->ended ? ZKR_SELECTOR_STOPPED
                : s->stopping           ? ZKR_SELECTOR_STOPPING
                : s->leading            ? ZKR_SELECTOR_LEADING
                : s->failure != 0       ? s->failure
                : s->queued             ? ZKR_SELECTOR_QUEUED
                                        : ZKR_SELECTOR_IDLE;
    zkr__unlock(s->r.c);
    return state;
}

bool zkr_leader_selector_has_leadership(zkr_leader_selector *s)
{
    if (zkr__recipe_enter(s) != ZKR_OK) {
        return false;
    }
    zkr__lock(s->r.c);
    bool leads = s->leading && is_sure(&s->lead);
    zkr__unlock(s->r.c);
    return leads;
}

int zkr_leader_selector_requeue(zkr_leader_selector *s)
{
    int rc = zkr__recipe_enter(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    const char *dir = s->r.queue->dir;
    zkr__lock(s->r.c);
    if (!s->started || s->stopping) {
        rc = zkr__fail(ZKR_ESTATE, dir, "the selector on %s is not started", dir);
    } else if (s->queued) {
        rc = zkr__fail(ZKR_EBUSY, dir, "the selector is already in the queue of %s",
                       dir);
    } else {
        s->queued = true;
        s->failure = 0;
        zkr__cv_broadcast(&s->r.changed);
    }
    zkr__unlock(s->r.c);
    return rc;
}

int zkr_leader_selector_interrupt(zkr_leader_selector *s)
{
    int rc = zkr__recipe_enter(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    const char *dir = s->r.queue->dir;
    zkr__lock(s->r.c);
    if (s->leading) {
        s->lead.interrupted = true;
        zkr__cv_broadcast(&s->r.changed);
    } else {
        rc = zkr__fail(ZKR_ENOTOWNER, dir, "the selector does not lead %s", dir);
    }
    zkr__unlock(s->r.c);
    return rc;
}

int zkr_leader_selector_leader(zkr_leader_selector *s, char *buf, size_t size)
{
    int rc = zkr__recipe_enter_blocking(s);
    return rc == ZKR_OK ? zkr__contenders_first(buf, size, s->r.queue, NULL) : rc;
}

int zkr_leader_selector_participants(zkr_leader_selector *s, zkr_contenders **out)
{
    int rc = zkr__recipe_enter_blocking(s);
    return rc == ZKR_OK ? zkr__contenders_list(out, s->r.queue, NULL, NULL) : rc;
}

/* --- for take_leadership() --- */

static zkr_leader_selector *selector_of(const zkr_leadership *lead)
{
    return lead ? lead->s : NULL;
}

/* Returns why the leadership is over, or ZKR_ETIMEDOUT if it is not over. */
static int why_over(zkr_leadership *lead) ZKR__LOCKED
{
    const char *dir = lead->s->r.queue->dir;
    if (!is_sure(lead)) {
        return zkr__fail(ZKR_ESESSION, dir, "the leadership of %s is lost", dir);
    }
    if (lead->interrupted || lead->s->stopping) {
        return zkr__fail(ZKR_ECANCELED, dir, "the leadership of %s must be released",
                         dir);
    }
    if (lead->s->r.c->shut) {
        return zkr__fail(ZKR_ECLOSED, dir, "the client is shut down");
    }
    return ZKR_ETIMEDOUT;
}

int zkr_leadership_wait(zkr_leadership *lead, int64_t timeout_ms)
{
    zkr_leader_selector *s = selector_of(lead);
    int rc = zkr__recipe_enter_blocking(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    rc = zkr__timeout_check(timeout_ms, s->r.queue->dir);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = s->r.c;
    int64_t deadline = zkr__clock_deadline(zkr__now(c), timeout_ms);
    zkr__lock(c);
    bool in_time = timeout_ms != 0;
    rc = why_over(lead);
    while (rc == ZKR_ETIMEDOUT && in_time) {
        in_time = zkr__wait(c, &s->r.changed, deadline);
        rc = why_over(lead);
    }
    zkr__unlock(c);
    return rc;
}

int64_t zkr_leadership_valid_for_ms(zkr_leadership *lead)
{
    zkr_leader_selector *s = selector_of(lead);
    if (zkr__recipe_enter(s) != ZKR_OK) {
        return 0;
    }
    zkr__lock(s->r.c);
    int64_t left = is_sure(lead) ? zkr__valid_for_ms(s->r.c) : 0;
    zkr__unlock(s->r.c);
    return left;
}

int64_t zkr_leadership_fencing_token(zkr_leadership *lead)
{
    zkr_leader_selector *s = selector_of(lead);
    if (zkr__recipe_enter(s) != ZKR_OK) {
        return 0;
    }
    zkr__lock(s->r.c);
    int64_t token = s->hold.claim->czxid;
    zkr__unlock(s->r.c);
    return token;
}

int zkr_leadership_node(zkr_leadership *lead, char *buf, size_t size)
{
    zkr_leader_selector *s = selector_of(lead);
    int rc = zkr__recipe_enter(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(s->r.c);
    rc = zkr__hold_get_node(s->hold.claim, buf, size);
    zkr__unlock(s->r.c);
    return rc;
}
