/* SPDX-License-Identifier: Apache-2.0 */
/* The leader selector: a thread that takes rounds in the queue at its path. */
#include "recipes/leader_selector.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "base/thread.h"
#include "session/log.h"

ZKR__OPTIONS_CHECK(zkr_leader_selector_options, 6, persistent_parent);

enum { ID_MAX = 65536 };

/* --- the end of a candidacy --- */

static void free_selector(zkr_leader_selector *s)
{
    zkr__cv_destroy(&s->changed);
    zkr__mem_free(s);
}

static void run_failed(struct zkr__call *call)
{
    zkr_leader_selector *s = ZKR__OWNER_OF(call, zkr_leader_selector, failed);
    zkr_client *c = s->c;
    zkr__lock(c);
    int code = s->failure;
    s->posted = false;
    s->running = true;
    zkr__unlock(c);
    if (code != 0) {
        s->o.on_failed(s, code, s->ctx);
    }
    zkr__lock(c);
    s->running = false;
    bool dead = s->dead;
    zkr__unlock(c);
    if (dead) {
        free_selector(s);
    }
}

static void end_candidacy(zkr_leader_selector *s, int code) ZKR__LOCKED
{
    s->queued = false;
    s->failure = code;
    zkr__log(s->c, ZKR_LOG_ERROR, "%s: no candidate any more: %s", s->queue->dir,
             zkr_strerror(code));
    if (s->o.on_failed && !s->posted) {
        s->posted = true;
        zkr__dispatch_post(&s->c->dispatch, &s->failed);
    }
}

/* --- rounds, on the selector's thread --- */

bool zkr__leadership_sure(struct zkr_leadership *lead)
{
    zkr__claim_check(lead->claim);
    return !lead->suspended && zkr__claim_sure(lead->claim);
}

static void on_change(struct zkr__claim *claim, void *ctx) ZKR__LOCKED
{
    zkr_leader_selector *s = ctx;
    if (claim->k.lost != 0 && s->leading) {
        zkr__log(s->c, ZKR_LOG_WARN, "%s: leadership lost", claim->node);
    }
    zkr__cv_broadcast(&s->changed);
}

static void on_state(struct zkr__listener *listener, int state) ZKR__LOCKED
{
    zkr_leader_selector *s = ZKR__OWNER_OF(listener, zkr_leader_selector, listener);
    if (state != ZKR_STATE_CONNECTED) {
        s->lead.suspended = true;
        zkr__cv_broadcast(&s->changed);
    }
}

/* Queue up and wait. ZKR_ESESSION: granted, but over before we woke up. */
static int contend(zkr_leader_selector *s) ZKR__LOCKED
{
    int rc = zkr__claim_enter(&s->claim, s->queue, false, on_change, s);
    if (rc != ZKR_OK) {
        return rc;
    }
    struct zkr__claim *claim = s->claim;
    zkr__claim_wait(claim, ZKR__NEVER);
    s->lead = (struct zkr_leadership){
        .s = s,
        .claim = claim,
        .suspended = s->o.step_down_when_suspended && !zkr__connected(s->c),
    };
    if (!s->stopping && claim->k.phase == ZKR__HELD && zkr__leadership_sure(&s->lead)) {
        return ZKR_OK;
    }
    rc = s->stopping             ? ZKR_ECANCELED
         : claim->k.failure != 0 ? claim->k.failure
                                 : ZKR_ESESSION;
    s->claim = NULL;
    zkr__claim_leave(claim);
    return rc;
}

static void lead(zkr_leader_selector *s) ZKR__LOCKED
{
    zkr_client *c = s->c;
    s->leading = true;
    s->queued = s->o.auto_requeue != 0;
    zkr__unlock(c);
    s->take(&s->lead, s->ctx);
    zkr__lock(c);
    struct zkr__claim *claim = s->claim;
    s->leading = false;
    s->claim = NULL;
    zkr__claim_leave(claim);
}

static void pause_between(zkr_leader_selector *s) ZKR__LOCKED
{
    zkr_client *c = s->c;
    int64_t deadline = zkr__clock_deadline(zkr__now(c), s->o.requeue_delay_ms);
    bool in_time = s->o.auto_requeue && s->o.requeue_delay_ms > 0;
    while (!s->stopping && in_time) {
        in_time = zkr__wait(c, &s->changed, deadline);
    }
}

static void *run(void *arg)
{
    zkr_leader_selector *s = arg;
    zkr_client *c = s->c;
    zkr__lock(c);
    while (!s->stopping) {
        if (!s->queued) {
            (void)zkr__wait(c, &s->changed, ZKR__NEVER);
            continue;
        }
        int rc = contend(s);
        if (rc == ZKR_OK) {
            lead(s);
            pause_between(s);
        } else if (rc != ZKR_ECANCELED && !zkr_err_retriable(rc)) {
            end_candidacy(s, rc);
        }
    }
    s->ended = true;
    zkr__cv_broadcast(&s->changed);
    zkr__unlock(c);
    return NULL;
}

/* --- start, stop --- */

/* The thread has ended: forget it. */
static void reap(zkr_leader_selector *s) ZKR__LOCKED
{
    zkr_client *c = s->c;
    if (!s->ended || s->joining) {
        return;
    }
    s->joining = true;
    zkr__unlock(c);
    int cancel_state = zkr__cancel_hold();
    (void)pthread_join(s->thread, NULL);
    zkr__cancel_restore(cancel_state);
    zkr__lock(c);
    s->started = s->stopping = s->ended = s->joining = s->queued = false;
    s->failure = 0;
    zkr__cv_broadcast(&s->changed);
}

int zkr_leader_selector_start(zkr_leader_selector *s)
{
    int rc = zkr__selector_enter(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    const char *dir = s->queue->dir;
    zkr__lock(s->c);
    reap(s);
    if (s->started) {
        rc = zkr__fail(ZKR_ESTATE, dir, "the selector on %s is %s", dir,
                       s->stopping ? "still stopping" : "started already");
    } else {
        int error = zkr__thread_start(&s->thread, "zkr-selector", run, s);
        s->started = s->queued = error == 0;
        rc = error == 0 ? ZKR_OK : zkr__fail_sys(error, "zkr_leader_selector_start");
    }
    zkr__unlock(s->c);
    return rc;
}

/* Must the calling thread not wait for the selector's? */
static bool is_inside(const zkr_leader_selector *s) ZKR__LOCKED
{
    bool own = s->started && !s->ended && pthread_equal(s->thread, pthread_self());
    return own || zkr__dispatch_is_self(&s->c->dispatch);
}

int zkr_leader_selector_stop(zkr_leader_selector *s, int64_t timeout_ms)
{
    int rc = zkr__selector_enter(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = s->c;
    const char *dir = s->queue->dir;
    rc = zkr__timeout_check(timeout_ms, dir);
    if (rc != ZKR_OK) {
        return rc;
    }
    int64_t deadline = zkr__clock_deadline(zkr__now(c), timeout_ms);
    zkr__lock(c);
    s->stopping = s->started;
    if (s->claim && !s->leading) {
        zkr__claim_cancel(s->claim);
    }
    zkr__cv_broadcast(&s->changed);
    bool in_time = timeout_ms != 0 && !is_inside(s);
    s->waiting++;
    reap(s);
    /* A thread that does not lead has nothing to do but to end, which takes no time. */
    while (s->started && (in_time || !s->leading)) {
        in_time = zkr__wait(c, &s->changed, deadline);
        reap(s);
    }
    s->waiting--;
    if (s->started) {
        rc = zkr__fail(ZKR_ETIMEDOUT, dir,
                       "take_leadership() of %s has not returned; it is told to", dir);
    }
    zkr__unlock(c);
    return rc;
}

/* --- create, destroy --- */

static int make_selector(zkr_leader_selector **out,
                         zkr_client *c,
                         const struct zkr__queue_spec *spec)
{
    zkr_leader_selector *s = zkr__mem_alloc(sizeof(*s));
    if (!s) {
        return ZKR_ENOMEM;
    }
    s->c = c;
    s->failed = (struct zkr__call){.owner = s, .run = run_failed};
    s->listener.on_state = on_state;
    if (zkr__cv_init(&s->changed) != 0) {
        zkr__mem_free(s);
        return ZKR_ESYS;
    }
    int rc = zkr__queue_create(&s->queue, c, spec);
    if (rc != ZKR_OK) {
        free_selector(s);
        return rc;
    }
    *out = s;
    return ZKR_OK;
}

static int check_arguments(const char *path,
                           const char *id,
                           zkr_take_leadership take,
                           const zkr_leader_selector_options *o)
{
    const char *fault = zkr__path_fault(path);
    if (fault) {
        return zkr__fail(ZKR_EINVAL, path, "the path of a leader selector %s", fault);
    }
    if (!take) {
        return zkr__fail(ZKR_EINVAL, path, "take_leadership is NULL");
    }
    if (id && strlen(id) > ID_MAX) {
        return zkr__fail(ZKR_EINVAL, path, "the id is longer than %d bytes", ID_MAX);
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
    int rc = zkr__client_enter(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!out) {
        return zkr__fail(ZKR_EINVAL, path, "zkr_leader_selector_create: out is NULL");
    }
    zkr_leader_selector_options o;
    rc = zkr__options_take(&o, sizeof(o), options, "zkr_leader_selector_options");
    if (rc == ZKR_OK) {
        rc = check_arguments(path, id, take_leadership, &o);
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    const struct zkr__queue_spec spec = {
        .dir = path,
        .prefix = ZKR__SELECTOR_PREFIX,
        .rule = zkr__rule_first_n,
        .rule_arg = 1,
        .owner = id && id[0] ? id : NULL,
        .persistent_parent = o.persistent_parent != 0,
    };
    zkr_leader_selector *s;
    rc = make_selector(&s, c, &spec);
    if (rc != ZKR_OK) {
        return zkr__fail(rc, path, "zkr_leader_selector_create: out of resources");
    }
    s->take = take_leadership;
    s->ctx = ctx;
    s->o = o;
    zkr__lock(c);
    rc = zkr__client_enlist(c, path);
    if (rc == ZKR_OK && o.step_down_when_suspended) {
        zkr__listen(c, &s->listener);
    }
    if (rc != ZKR_OK) {
        zkr__queue_unref(s->queue);
    }
    zkr__unlock(c);
    if (rc != ZKR_OK) {
        free_selector(s);
        return rc;
    }
    *out = s;
    return ZKR_OK;
}

int zkr_leader_selector_destroy(zkr_leader_selector *s)
{
    if (!s) {
        return ZKR_OK;
    }
    int rc = zkr__selector_enter(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = s->c;
    const char *dir = s->queue->dir;
    zkr__lock(c);
    reap(s);
    if (s->started || s->waiting > 0) {
        rc = zkr__fail(ZKR_EBUSY, dir, "the selector on %s is not stopped", dir);
        zkr__unlock(c);
        return rc;
    }
    if (s->o.step_down_when_suspended) {
        zkr__unlisten(c, &s->listener);
    }
    zkr__unlock(c);
    zkr__dispatch_cancel(&c->dispatch, s);
    zkr__lock(c);
    zkr__queue_unref(s->queue);
    c->recipes--;
    s->dead = s->running; /* by this very thread */
    bool dead = s->dead;
    zkr__unlock(c);
    if (!dead) {
        free_selector(s);
    }
    return ZKR_OK;
}
