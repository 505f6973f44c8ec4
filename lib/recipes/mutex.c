/* SPDX-License-Identifier: Apache-2.0 */
/* The re-entrant mutex: a table of holding threads over one claim each in the queue at its path. */
#include "recipes/mutex.h"

#include <limits.h>
#include <string.h>

#include <zkr/mutex.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "session/log.h"

ZKR__OPTIONS_CHECK(zkr_mutex_options, 9, watch_node);

enum { DATA_MAX = 65536 };

/* --- create, destroy --- */

static int check_options(const zkr_mutex_options *o)
{
    if (o->data_len > DATA_MAX || (!o->data && o->data_len > 0)) {
        return zkr__fail(ZKR_EINVAL, NULL,
                         "zkr_mutex_options: data and data_len do not match, or "
                         "are more than %d bytes",
                         DATA_MAX);
    }
    if (o->owner && strlen(o->owner) > DATA_MAX) {
        return zkr__fail(ZKR_EINVAL, NULL,
                         "zkr_mutex_options: owner is longer than %d bytes", DATA_MAX);
    }
    return ZKR_OK;
}

int zkr_mutex_create(zkr_mutex **out,
                     zkr_client *c,
                     const char *path,
                     const zkr_mutex_options *options)
{
    int rc = zkr__client_enter(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    const char *fault = out ? zkr__path_fault(path) : "cannot be stored: out is NULL";
    if (fault) {
        return zkr__fail(ZKR_EINVAL, path, "the path of a mutex %s", fault);
    }
    zkr_mutex_options o;
    rc = zkr__options_take(&o, sizeof(o), options, "zkr_mutex_options");
    if (rc == ZKR_OK) {
        rc = check_options(&o);
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    const struct zkr__queue_spec spec = {
        .dir = path,
        .prefix = ZKR__MUTEX_PREFIX,
        .rule = zkr__rule_first_n,
        .rule_arg = 1,
        .owner = o.owner,
        .data = o.data,
        .data_len = o.data_len,
        .persistent_parent = o.persistent_parent != 0,
        .watch_node = o.watch_node != 0,
    };
    zkr_mutex *m = zkr__mem_alloc(sizeof(*m));
    if (!m || zkr__queue_create(&m->queue, c, &spec) != ZKR_OK) {
        zkr__mem_free(m);
        return zkr__fail(ZKR_ENOMEM, path, "zkr_mutex_create: out of memory");
    }
    m->c = c;
    m->on_lost = o.on_lost;
    m->on_lost_ctx = o.on_lost_ctx;
    m->wait_on_release = o.wait_on_release != 0;
    zkr__lock(c);
    rc = zkr__client_enlist(c, path);
    if (rc != ZKR_OK) {
        zkr__queue_unref(m->queue);
    }
    zkr__unlock(c);
    if (rc != ZKR_OK) {
        zkr__mem_free(m);
        return rc;
    }
    *out = m;
    return ZKR_OK;
}

int zkr_mutex_destroy(zkr_mutex *m)
{
    if (!m) {
        return ZKR_OK;
    }
    int rc = zkr__mutex_enter(m);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = m->c;
    zkr__lock(c);
    bool busy = m->holders || m->waiting || zkr__lookout_busy(m->lookout);
    const char *dir = m->queue->dir;
    if (busy) {
        rc = zkr__fail(ZKR_EBUSY, dir, "the mutex %s is held or waited for", dir);
    }
    zkr__unlock(c);
    if (busy) {
        return rc;
    }
    zkr__dispatch_cancel(&c->dispatch, m);
    zkr__lock(c);
    zkr__lookout_end(m->lookout);
    zkr__queue_unref(m->queue);
    c->recipes--;
    zkr__unlock(c);
    zkr__mem_free(m);
    return ZKR_OK;
}

/* --- loss --- */

/* The call is done with the holder; its thread may have let go long ago. */
static void end_lost_call(struct zkr__holder *holder)
{
    struct zkr__claim *claim = holder->claim;
    zkr_client *c = claim->q->c;
    zkr__lock(c);
    holder->lost_posted = false;
    if (holder->depth == 0) {
        zkr__mem_free(holder);
    }
    zkr__claim_let(claim);
    zkr__unlock(c);
}

static struct zkr__holder *holder_of(struct zkr__call *call)
{
    return ZKR__OWNER_OF(call, struct zkr__holder, lost);
}

static void run_lost(struct zkr__call *call)
{
    struct zkr__holder *holder = holder_of(call);
    zkr_mutex *m = holder->lock;
    const zkr_lost lost = {.reason = holder->claim->k.lost,
                           .fencing_token = holder->claim->czxid,
                           .node = holder->claim->node};
    m->on_lost(m, &lost, m->on_lost_ctx);
    end_lost_call(holder);
}

static void drop_lost(struct zkr__call *call)
{
    end_lost_call(holder_of(call));
}

/* With the lock held. Before the acquire has returned there is nothing to tell anybody. */
static void on_change(struct zkr__claim *claim, void *ctx) ZKR__LOCKED
{
    struct zkr__holder *holder = ctx;
    zkr_mutex *m = holder->lock;
    if (claim->k.lost == 0 || holder->depth == 0) {
        return;
    }
    zkr__log(m->c, ZKR_LOG_WARN, "%s: lost while held (%s)", claim->node,
             claim->k.lost == ZKR_LOST_SESSION ? "session ended"
             : claim->k.lost == ZKR_LOST_LEASE ? "no answer from a quorum in time"
                                               : "node deleted");
    if (m->on_lost) {
        holder->lost_posted = true;
        zkr__claim_keep(claim);
        zkr__dispatch_post(&m->c->dispatch, &holder->lost);
    }
}

/* --- release --- */

/* The thread lets go of its hold for good. True: it had been lost. */
static bool let_go(zkr_mutex *m, struct zkr__holder *holder, bool wait) ZKR__LOCKED
{
    struct zkr__claim *claim = holder->claim;
    zkr__claim_check(claim);
    bool lost = claim->k.lost != 0;
    zkr__holders_remove(&m->holders, holder);
    holder->depth = 0;
    if (!holder->lost_posted) {
        zkr__mem_free(holder);
    }
    if (wait) {
        zkr__claim_leave_wait(claim);
    } else {
        zkr__claim_leave(claim);
    }
    return lost;
}

/* The thread ends while it holds. */
static void abandon(struct zkr__thread_duty *duty)
{
    struct zkr__holder *holder = ZKR__OWNER_OF(duty, struct zkr__holder, duty);
    zkr_mutex *m = holder->lock;
    zkr_client *c = m->c;
    if (c->fork_generation != zkr__fork_generation()) {
        return;
    }
    zkr__lock(c);
    zkr__log(c, ZKR_LOG_WARN, "%s: released, because its thread has ended",
             holder->claim->node);
    (void)let_go(m, holder, false);
    zkr__unlock(c);
}

int zkr_mutex_release(zkr_mutex *m)
{
    int rc = zkr__mutex_enter(m);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = m->c;
    const char *dir = m->queue->dir;
    bool wait = m->wait_on_release && !zkr__dispatch_is_self(&c->dispatch);
    zkr__lock(c);
    struct zkr__holder *holder = zkr__holders_find(m->holders);
    if (!holder) {
        rc = zkr__fail(ZKR_ENOTOWNER, dir, "%s is not held by the calling thread", dir);
    } else if (holder->depth > 1 && zkr__claim_sure(holder->claim)) {
        holder->depth--;
    } else if (let_go(m, holder, wait)) {
        rc = zkr__fail(ZKR_ESESSION, dir, "%s had been lost before it was released",
                       dir);
    }
    zkr__unlock(c);
    return rc;
}

/* --- acquire --- */

static int64_t try_limit_ms(const zkr_client *c)
{
    int64_t third = c->session_ms / 3;
    return third < c->options.connect_timeout_ms ? third
                                                 : c->options.connect_timeout_ms;
}

static int
fail_acquire(const zkr_mutex *m, const struct zkr__claim *claim, int64_t timeout_ms)
{
    const char *dir = m->queue->dir;
    int code = claim->k.failure;
    if (code == ZKR_ETIMEDOUT) {
        return zkr__fail(code, dir, "%s is held by another", dir);
    }
    if (code == ZKR_ESEQUENCE) {
        return zkr__fail(code, dir,
                         "%s has used up its sequence numbers; let it be empty for a "
                         "moment and delete it, or use another path",
                         dir);
    }
    if (code == ZKR_ENONODE) {
        return zkr__fail(code, dir,
                         "cannot make %s: is the chroot of the server list missing?",
                         dir);
    }
    if (code != 0) {
        return zkr__fail_zk(code, claim->detail, dir, "cannot acquire");
    }
    if (claim->canceled) {
        return zkr__fail(ZKR_ECANCELED, dir, "the wait for %s was canceled", dir);
    }
    if (claim->k.phase != ZKR__PARKED) {
        return zkr__fail(ZKR_ENOANSWER, dir, "no answer about %s in time", dir);
    }
    return zkr__fail(ZKR_ETIMEDOUT, dir,
                     "%s not acquired within %lld ms: held by another", dir,
                     (long long)timeout_ms);
}

/* One claim, from joining to the verdict. ZKR_ESESSION: granted, but over before we woke up. */
static int contend(zkr_mutex *m,
                   struct zkr__holder *holder,
                   int64_t timeout_ms,
                   int64_t deadline) ZKR__LOCKED
{
    struct zkr__claim *claim;
    int rc = zkr__claim_enter(&claim, m->queue, timeout_ms == 0, on_change, holder);
    if (rc != ZKR_OK) {
        return zkr__fail(rc, m->queue->dir, "cannot join %s: out of resources",
                         m->queue->dir);
    }
    DL_APPEND2(m->waiting, claim, owner_prev, owner_next);
    zkr__claim_wait(claim, deadline);
    DL_DELETE2(m->waiting, claim, owner_prev, owner_next);
    bool granted = claim->k.phase == ZKR__HELD;
    if (granted && zkr__claim_sure(claim)) {
        holder->claim = claim;
        holder->depth = 1;
        return ZKR_OK;
    }
    /* Canceled after the grant, and the grant is worth nothing: it does not try again. */
    bool again = (granted || claim->k.lost != 0) && !claim->canceled;
    rc = again ? ZKR_ESESSION : fail_acquire(m, claim, timeout_ms);
    zkr__claim_leave(claim);
    return rc;
}

static int acquire_anew(zkr_mutex *m, int64_t timeout_ms, int64_t deadline) ZKR__LOCKED
{
    const char *dir = m->queue->dir;
    struct zkr__holder *holder = zkr__mem_alloc(sizeof(*holder));
    if (!holder) {
        return zkr__fail(ZKR_ENOMEM, dir, "zkr_mutex_acquire: out of memory");
    }
    holder->lock = m;
    holder->lost = (struct zkr__call){.owner = m, .run = run_lost, .drop = drop_lost};
    holder->duty.at_exit = abandon;
    if (!zkr__holders_add(&m->holders, holder)) {
        zkr__mem_free(holder);
        return zkr__fail(ZKR_ENOMEM, dir, "zkr_mutex_acquire: out of memory");
    }
    int rc;
    do {
        rc = contend(m, holder, timeout_ms, deadline);
    } while (rc == ZKR_ESESSION);
    if (rc != ZKR_OK) {
        zkr__holders_remove(&m->holders, holder);
        zkr__mem_free(holder);
    }
    return rc;
}

static int acquire_again(zkr_mutex *m, struct zkr__holder *holder) ZKR__LOCKED
{
    const char *dir = m->queue->dir;
    zkr__claim_check(holder->claim);
    if (holder->claim->k.lost != 0) {
        return zkr__fail(ZKR_ESESSION, dir, "%s was lost while held; release it first",
                         dir);
    }
    if (holder->depth == INT_MAX) {
        return zkr__fail(ZKR_EINVAL, dir, "%s is held too often", dir);
    }
    holder->depth++;
    return ZKR_OK;
}

int zkr_mutex_acquire(zkr_mutex *m, int64_t timeout_ms)
{
    int rc = zkr__mutex_enter_blocking(m);
    if (rc != ZKR_OK) {
        return rc;
    }
    rc = zkr__timeout_check(timeout_ms, m->queue->dir);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = m->c;
    int64_t started = zkr__now(c);
    zkr__lock(c);
    struct zkr__holder *holder = zkr__holders_find(m->holders);
    if (holder) {
        rc = acquire_again(m, holder);
    } else if (timeout_ms == 0 && !zkr__connected(c)) {
        rc = zkr__fail(ZKR_ENOANSWER, m->queue->dir, "not connected: %s",
                       c->obstacle[0] ? c->obstacle : "no session yet");
    } else {
        int64_t limit = timeout_ms == 0 ? try_limit_ms(c) : timeout_ms;
        rc = acquire_anew(m, timeout_ms, zkr__clock_deadline(started, limit));
    }
    zkr__unlock(c);
    return rc;
}

int zkr_mutex_cancel(zkr_mutex *m)
{
    int rc = zkr__mutex_enter(m);
    if (rc != ZKR_OK) {
        return rc;
    }
    struct zkr__claim *claim;
    zkr__lock(m->c);
    DL_FOREACH2(m->waiting, claim, owner_next)
    {
        zkr__claim_cancel(claim);
    }
    zkr__unlock(m->c);
    return ZKR_OK;
}
