/* SPDX-License-Identifier: Apache-2.0 */
/* The leader latch: one claim in the queue at its path, made again whenever it is lost. */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "engine/loss.h"
#include "recipes/leader_latch_events.h"
#include "session/log.h"
#include "session/state.h"

ZKR__OPTIONS_CHECK(zkr_leader_latch_options, 8, persistent_parent);

enum { ID_MAX = 65536 };

/* --- candidacy --- */

static void join(zkr_leader_latch *l) ZKR__LOCKED;

static void end_candidacy(zkr_leader_latch *l, int code, int detail) ZKR__LOCKED
{
    l->failure = code;
    l->failure_detail = detail;
    l->failure_due = true;
    zkr__log(l->c, ZKR_LOG_ERROR,
             ZKR__EVENT("candidacy_over", .path = l->queue->dir,
                        .reason = zkr_strerror(code)));
}

/* With the lock held. A claim that can bring us nothing any more makes way for the next. */
// NOLINTNEXTLINE(misc-no-recursion): a claim that is refused at once ends it
static void on_change(struct zkr__claim *claim, void *ctx) ZKR__LOCKED
{
    zkr_leader_latch *l = ctx;
    int failure = claim->k.failure;
    int detail = claim->detail;
    if (claim->k.lost != 0) {
        zkr__loss_log(claim, claim->k.lost);
    }
    if (failure != 0 || claim->k.lost != 0) {
        l->claim = NULL;
        zkr__claim_leave(claim);
        if (failure == 0 || zkr_err_retriable(failure)) {
            join(l);
        } else {
            end_candidacy(l, failure, detail);
        }
    }
    zkr__latch_changed(l);
}

// NOLINTNEXTLINE(misc-no-recursion): see on_change()
static void join(zkr_leader_latch *l)
{
    /* Into the latch at once: a claim that is refused calls on_change() before this returns. */
    const struct zkr__entry entry = {.metered = true, .on_change = on_change, .ctx = l};
    int rc = zkr__claim_enter(&l->claim, l->queue, &entry);
    if (rc != ZKR_OK) {
        end_candidacy(l, rc, 0);
    }
}

static void on_state(struct zkr__listener *listener, int state) ZKR__LOCKED
{
    zkr_leader_latch *l = ZKR__OWNER_OF(listener, zkr_leader_latch, listener);
    (void)state;
    zkr__latch_changed(l);
}

int zkr_leader_latch_start(zkr_leader_latch *l)
{
    int rc = zkr__latch_enter(l);
    if (rc != ZKR_OK) {
        return rc;
    }
    const char *dir = l->queue->dir;
    zkr__lock(l->c);
    if (l->claim) {
        rc = zkr__fail(ZKR_ESTATE, dir, "the latch on %s is started already", dir);
    } else {
        l->failure = 0;
        l->failure_due = false;
        const struct zkr__entry entry = {
            .metered = true, .on_change = on_change, .ctx = l};
        rc = zkr__claim_enter(&l->claim, l->queue, &entry);
        if (rc != ZKR_OK) {
            (void)zkr__fail(rc, dir, "cannot join %s: out of resources", dir);
        }
    }
    zkr__unlock(l->c);
    return rc;
}

int zkr_leader_latch_stop(zkr_leader_latch *l, int mode)
{
    int rc = zkr__latch_enter(l);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (mode != ZKR_LATCH_SILENT && mode != ZKR_LATCH_NOTIFY) {
        return zkr__fail(ZKR_EINVAL, l->queue->dir, "there is no mode %d", mode);
    }
    zkr__lock(l->c);
    struct zkr__claim *claim = l->claim;
    l->claim = NULL;
    l->failure = 0;
    l->failure_due = false;
    if (claim) {
        zkr__claim_leave(claim);
    }
    if (mode == ZKR_LATCH_SILENT) {
        zkr__latch_skip_loss(l);
    }
    zkr__latch_changed(l);
    zkr__latch_await_callbacks(l);
    zkr__unlock(l->c);
    return ZKR_OK;
}

/* --- create, destroy --- */

static void on_contenders_change(void *ctx) ZKR__LOCKED
{
    zkr_leader_latch *l = ctx;
    l->contenders_due = true;
    zkr__latch_changed(l);
}

/* The client is told of a new latch only here, where nothing can fail any more but its watch. */
static int attach(zkr_leader_latch *l) ZKR__LOCKED
{
    zkr_client *c = l->c;
    const char *dir = l->queue->dir;
    int rc = zkr__client_enlist(c, dir);
    if (rc == ZKR_OK && l->o.on_contenders) {
        rc = zkr__children_watch_create(&l->watch, c, dir, on_contenders_change, l);
        c->recipes -= rc != ZKR_OK;
    }
    if (rc != ZKR_OK) {
        zkr__queue_unref(l->queue);
        return rc;
    }
    if (l->o.step_down_when_suspended) {
        l->listener.on_state = on_state;
        zkr__listen(c, &l->listener);
    }
    return ZKR_OK;
}

static int make_latch(zkr_leader_latch **out,
                      zkr_client *c,
                      const struct zkr__queue_spec *spec,
                      const zkr_leader_latch_options *o)
{
    zkr_leader_latch *l = zkr__mem_alloc(sizeof(*l));
    if (!l) {
        return ZKR_ENOMEM;
    }
    l->c = c;
    l->o = *o;
    zkr__latch_init_callbacks(l);
    if (zkr__cv_init(&l->changed) != 0) {
        zkr__mem_free(l);
        return ZKR_ESYS;
    }
    int rc = zkr__queue_create(&l->queue, c, spec);
    if (rc == ZKR_OK) {
        zkr__lock(c);
        rc = attach(l);
        zkr__unlock(c);
    }
    if (rc != ZKR_OK) {
        zkr__latch_free(l);
        return rc;
    }
    *out = l;
    return ZKR_OK;
}

int zkr_leader_latch_create(zkr_leader_latch **out,
                            zkr_client *c,
                            const char *path,
                            const char *id,
                            const zkr_leader_latch_options *options)
{
    int rc = zkr__client_enter(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    const char *fault = out ? zkr__path_fault(path) : "cannot be stored: out is NULL";
    if (fault) {
        return zkr__fail(ZKR_EINVAL, path, "the path of a leader latch %s", fault);
    }
    if (id && strlen(id) > ID_MAX) {
        return zkr__fail(ZKR_EINVAL, path, "the id is longer than %d bytes", ID_MAX);
    }
    zkr_leader_latch_options o;
    rc = zkr__options_take(&o, sizeof(o), options, "zkr_leader_latch_options");
    if (rc != ZKR_OK) {
        return rc;
    }
    const struct zkr__queue_spec spec = {
        .dir = path,
        .kind = ZKR__NAME_LATCH,
        .rule = zkr__rule_first,
        .data = id,
        .data_len = id ? strlen(id) : 0,
        .persistent_parent = o.persistent_parent != 0,
        .keeps_place = true,
    };
    rc = make_latch(out, c, &spec, &o);
    return rc == ZKR_OK || rc == ZKR_ECLOSED
               ? rc
               : zkr__fail(rc, path, "zkr_leader_latch_create: out of resources");
}

int zkr_leader_latch_destroy(zkr_leader_latch *l)
{
    if (!l) {
        return ZKR_OK;
    }
    int rc = zkr__latch_enter(l);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = l->c;
    const char *dir = l->queue->dir;
    zkr__lock(c);
    if (l->claim || l->waiting > 0 || zkr__children_watch_busy(l->watch)) {
        rc = zkr__fail(ZKR_EBUSY, dir, "the latch on %s is started or waited for", dir);
        zkr__unlock(c);
        return rc;
    }
    zkr__children_watch_end(l->watch);
    l->watch = NULL;
    if (l->o.step_down_when_suspended) {
        zkr__unlisten(c, &l->listener);
    }
    zkr__unlock(c);
    zkr__dispatch_cancel(&c->dispatch, l);
    zkr__lock(c);
    zkr__latch_skip_loss(l);
    zkr__queue_unref(l->queue);
    c->recipes--;
    l->dead = l->running; /* by this very thread */
    bool dead = l->dead;
    zkr__unlock(c);
    if (!dead) {
        zkr__latch_free(l);
    }
    return ZKR_OK;
}
