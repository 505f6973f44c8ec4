/* SPDX-License-Identifier: Apache-2.0 */
/* The leader selector: its thread, from start to stop. */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "base/thread.h"
#include "recipes/leader_selector_rounds.h"
#include "session/state.h"

ZKR__OPTIONS_CHECK(zkr_leader_selector_options, 6, persistent_parent);

enum { ID_MAX = 65536 };

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
    zkr__thread_join(s->thread);
    zkr__cancel_restore(cancel_state);
    zkr__lock(c);
    s->started = s->stopping = s->ended = s->joining = s->queued = false;
    s->failure = 0;
    s->runs++;
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
        int error = zkr__thread_start(&s->thread, "zkr-selector", zkr__selector_run, s);
        s->started = s->queued = error == 0;
        rc = error == 0 ? ZKR_OK : zkr__fail_sys(error, "zkr_leader_selector_start");
    }
    zkr__unlock(s->c);
    return rc;
}

/* Must the calling thread not wait for the selector's? */
static bool is_inside(const zkr_leader_selector *s) ZKR__LOCKED
{
    bool own = s->started && !s->ended && zkr__thread_is_self(s->thread);
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
    uint64_t run = s->runs;
    s->waiting++;
    reap(s);
    /* A thread that does not lead has nothing to do but to end, which takes no time. Another thread may start the
     * selector anew by then. */
    while (s->started && s->runs == run && (in_time || !s->leading)) {
        in_time = zkr__wait(c, &s->changed, s->leading ? deadline : ZKR__NEVER);
        reap(s);
    }
    s->waiting--;
    if (s->started && s->runs == run) {
        rc = zkr__fail(ZKR_ETIMEDOUT, dir,
                       "take_leadership() of %s has not returned yet; it was asked to",
                       dir);
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
    zkr__selector_init_callbacks(s);
    if (zkr__cv_init(&s->changed) != 0) {
        zkr__mem_free(s);
        return ZKR_ESYS;
    }
    int rc = zkr__queue_create(&s->queue, c, spec);
    if (rc != ZKR_OK) {
        zkr__selector_free(s);
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
        .kind = ZKR__NAME_LOCK /* a mutex on the wire, as Curator's */,
        .rule = zkr__rule_first,
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
        zkr__selector_free(s);
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
        zkr__selector_free(s);
    }
    return ZKR_OK;
}
