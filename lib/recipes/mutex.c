/* SPDX-License-Identifier: Apache-2.0 */
/* The mutex: a re-entrant lock, and tickets, in the queue at its path, where the first one holds. */
#include "recipes/mutex.h"

#include <string.h>

#include <zkr/guard.h>
#include <zkr/mutex.h>
#include <zkr/ticket.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "engine/claim.h"
#include "engine/contenders.h"
#include "recipes/mutex_robust.h"
#include "recipes/recipe.h"
#include "recipes/ticket.h"
#include "session/zk_multi.h"

ZKR__OPTIONS_CHECK(zkr_mutex_options, 15, robust);

static int enter(const zkr_mutex *m)
{
    return zkr__recipe_enter(m ? m->c : NULL, "mutex");
}

static int enter_blocking(const zkr_mutex *m)
{
    return zkr__recipe_enter_blocking(m ? m->c : NULL, "mutex");
}

/* --- being asked to release --- */

static void on_revocation(struct zkr__queue *q) ZKR__LOCKED
{
    zkr_mutex *m = q->on_revocation_ctx;
    zkr__dispatch_post(&m->c->dispatch, &m->revoke);
}

/* On the dispatch thread. The callback may end the mutex. */
static bool run(struct zkr__call *call)
{
    zkr_mutex *m = ZKR__OWNER_OF(call, zkr_mutex, revoke);
    zkr_client *c = m->c;
    zkr_mutex_revoke_fn fn = m->on_revoke;
    void *ctx = m->on_revoke_ctx;
    zkr__lock(c);
    bool more, asked = zkr__revocation_take(m->lock.queue, &more);
    if (more) {
        on_revocation(m->lock.queue);
    }
    zkr__unlock(c);
    if (asked) {
        fn(m, ctx);
    }
    return asked;
}

/* From now on @fn is told of revocation requests. NULL: nobody is told. */
static void make_revocable(zkr_mutex *m, zkr_mutex_revoke_fn fn, void *ctx)
{
    m->on_revoke = fn;
    m->on_revoke_ctx = ctx;
    m->revoke = (struct zkr__call){.owner = m, .run = run};
    m->lock.queue->on_revocation = fn ? on_revocation : NULL;
    m->lock.queue->on_revocation_ctx = m;
}

/* --- create, destroy --- */

static int
check(const char *path, const zkr_mutex_options *o, const struct zkr__mutex_sort *sort)
{
    const char *fault = zkr__path_fault(path);
    if (fault) {
        return zkr__fail(ZKR_EINVAL, path, "the path of a %s %s", sort->name, fault);
    }
    if (o->keep_ms < 0 || o->max_waiters < 0 ||
        (o->keep_ms > 0 && (o->wait_on_release || o->max_waiters > 0 || o->robust))) {
        return zkr__fail(
            ZKR_EINVAL, path,
            "options of a %s: keep_ms or max_waiters is negative, or keep_ms "
            "is set together with max_waiters, robust or wait_on_release",
            sort->name);
    }
    return zkr__queue_check_data(sort->name, o->owner, o->data, o->data_len);
}

static void on_lost(struct zkr__reentrant *lock, const zkr_lost *lost)
{
    zkr_mutex *m = ZKR__OWNER_OF(lock, zkr_mutex, lock);
    m->on_lost(m, lost, m->on_lost_ctx);
}

static zkr_mutex *allocate(zkr_client *c,
                           const char *path,
                           const zkr_mutex_options *o,
                           const struct zkr__mutex_sort *sort)
{
    const struct zkr__queue chosen = {
        .dir = path,
        .kind = sort->kind,
        .other_kinds = sort->other_kinds,
        .rule = sort->rule,
        .owner = o->owner,
        .data = o->data,
        .data_len = o->data_len,
        .persistent_parent = o->persistent_parent != 0 || o->robust != 0,
        .watch_node = o->watch_node != 0 || o->on_revoke,
        .writes_metadata = true,
        .keep_ms = o->keep_ms,
        .max_waiters = o->max_waiters,
        .tells_queued = o->tell_queued != 0,
    };
    zkr_mutex *m = zkr__mem_alloc(sizeof(*m));
    if (!m || zkr__queue_create(&m->lock.queue, c, &chosen) != ZKR_OK) {
        zkr__mem_free(m);
        return NULL;
    }
    m->c = c;
    m->robust = o->robust != 0;
    m->on_lost = o->on_lost;
    m->on_lost_ctx = o->on_lost_ctx;
    make_revocable(m, o->on_revoke, o->on_revoke_ctx);
    m->lock.c = c;
    m->lock.owner = m;
    m->lock.on_lost = o->on_lost ? on_lost : NULL;
    m->lock.wait_on_release = o->wait_on_release != 0;
    return m;
}

int zkr__mutex_make(zkr_mutex **out,
                    zkr_client *c,
                    const char *path,
                    const zkr_mutex_options *o,
                    const struct zkr__mutex_sort *sort)
{
    int rc = check(path, o, sort);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_mutex *m = allocate(c, path, o, sort);
    if (!m) {
        return zkr__fail(ZKR_ENOMEM, path, "cannot make a %s: out of memory",
                         sort->name);
    }
    zkr__lock(c);
    rc = zkr__client_enlist(c, path);
    if (rc != ZKR_OK) {
        zkr__queue_unref(m->lock.queue);
    }
    zkr__unlock(c);
    if (rc != ZKR_OK) {
        zkr__mem_free(m);
        return rc;
    }
    *out = m;
    return ZKR_OK;
}

int zkr_mutex_create(zkr_mutex **out,
                     zkr_client *c,
                     const char *path,
                     const zkr_mutex_options *options)
{
    static const struct zkr__mutex_sort sort = {
        .name = "mutex", .kind = ZKR__NAME_LOCK, .rule = zkr__rule_first};
    zkr_mutex_options o;
    int rc = zkr__recipe_create(c, out, sort.name, &o, sizeof(o), options);
    return rc == ZKR_OK ? zkr__mutex_make(out, c, path, &o, &sort) : rc;
}

int zkr__mutex_busy(const zkr_mutex *m)
{
    const char *dir = m->lock.queue->dir;
    if (m->lock.holders || m->awaiting > 0 || zkr__node_watch_busy(m->lookout)) {
        return zkr__fail(ZKR_EBUSY, dir, "the lock %s is held or waited for", dir);
    }
    if (m->tickets > 0) {
        return zkr__fail(ZKR_EBUSY, dir, "%lld tickets of the lock %s still exist",
                         (long long)m->tickets, dir);
    }
    return ZKR_OK;
}

void zkr__mutex_free(zkr_mutex *m)
{
    zkr_client *c = m->c;
    zkr__dispatch_cancel(&c->dispatch, m);
    zkr__lock(c);
    zkr__node_watch_end(m->lookout);
    if (m->lock.queue->keep_ms > 0 && c->engine) {
        zkr__claims_end_keeping(c->engine, m->lock.queue);
    }
    zkr__queue_unref(m->lock.queue);
    c->recipes--;
    zkr__unlock(c);
    zkr__mem_free(m);
}

int zkr_mutex_destroy(zkr_mutex *m)
{
    if (!m) {
        return ZKR_OK;
    }
    int rc = enter(m);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (m->side) {
        return zkr__fail(ZKR_ESTATE, m->lock.queue->dir,
                         "this mutex is a side of a read-write lock");
    }
    zkr__lock(m->c);
    rc = zkr__mutex_busy(m);
    zkr__unlock(m->c);
    if (rc == ZKR_OK) {
        zkr__mutex_free(m);
    }
    return rc;
}

/* --- use --- */

int zkr_mutex_acquire(zkr_mutex *m, int64_t timeout_ms)
{
    int rc = enter_blocking(m);
    if (rc == ZKR_OK) {
        rc = zkr__timeout_check(timeout_ms, m->lock.queue->dir);
    }
    return rc != ZKR_OK ? rc
           : m->robust  ? zkr__robust_acquire(&m->lock, timeout_ms)
                        : zkr__reentrant_acquire(&m->lock, timeout_ms);
}

int zkr_mutex_release(zkr_mutex *m)
{
    int rc = enter(m);
    return rc != ZKR_OK ? rc
           : m->robust  ? zkr__robust_release(&m->lock)
                        : zkr__reentrant_release(&m->lock);
}

int zkr_mutex_cancel(zkr_mutex *m)
{
    int rc = enter(m);
    if (rc == ZKR_OK) {
        zkr__reentrant_cancel(&m->lock);
    }
    return rc;
}

int zkr_mutex_request(zkr_mutex *m,
                      int64_t timeout_ms,
                      zkr_ticket_fn fn,
                      void *ctx,
                      zkr_ticket **out)
{
    int rc = enter(m);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (m->robust) {
        return zkr__fail(ZKR_EINVAL, m->lock.queue->dir,
                         "a robust mutex has no tickets: %s", m->lock.queue->dir);
    }
    const struct zkr__request_args args = {.queue = m->lock.queue,
                                           .tickets = &m->tickets,
                                           .timeout_ms = timeout_ms,
                                           .fn = fn,
                                           .ctx = ctx};
    return zkr__ticket_request(out, &args);
}

/* --- what it can be asked --- */

static int64_t ask(zkr_mutex *m, int64_t (*question)(const struct zkr__reentrant *lock))
{
    if (enter(m) != ZKR_OK) {
        return 0;
    }
    zkr__lock(m->c);
    int64_t answer = question(&m->lock);
    zkr__unlock(m->c);
    return answer;
}

bool zkr_mutex_is_held(zkr_mutex *m)
{
    return ask(m, zkr__reentrant_is_held) != 0;
}

bool zkr_mutex_is_held_in_process(zkr_mutex *m)
{
    return ask(m, zkr__reentrant_is_held_by_any) != 0;
}

int zkr_mutex_depth(zkr_mutex *m)
{
    return (int)ask(m, zkr__reentrant_depth);
}

int64_t zkr_mutex_valid_for_ms(zkr_mutex *m)
{
    return ask(m, zkr__reentrant_valid_for_ms);
}

/* What @getter says of a sure hold, into @out. */
static int get(zkr_mutex *m, zkr__hold_getter getter, void *out, size_t size)
{
    int rc = enter(m);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!out) {
        return zkr__fail(ZKR_EINVAL, m->lock.queue->dir,
                         "there is no room for the result");
    }
    zkr__lock(m->c);
    const struct zkr__claim *claim = zkr__reentrant_hold(&m->lock, &rc);
    rc = claim ? getter(claim, out, size) : rc;
    zkr__unlock(m->c);
    return rc;
}

int zkr_mutex_fencing_token(zkr_mutex *m, int64_t *token)
{
    return get(m, zkr__hold_get_token, token, sizeof(*token));
}

int zkr_mutex_pass(zkr_mutex *m, int64_t *pass)
{
    return get(m, zkr__hold_get_pass, pass, sizeof(*pass));
}

int zkr_mutex_node(zkr_mutex *m, char *buf, size_t size)
{
    return get(m, zkr__hold_get_node, buf, size);
}

int zkr_mutex_guard(zkr_mutex *m, struct zoo_op *op)
{
    return get(m, zkr__hold_get_guard, op, 0);
}

int zkr_mutex_contenders(zkr_mutex *m, zkr_contenders **out)
{
    int rc = enter_blocking(m);
    return rc == ZKR_OK ? zkr__contenders_list(out, m->lock.queue, NULL, &m->lookout)
                        : rc;
}

int zkr_mutex_watch(zkr_mutex *m, int64_t timeout_ms)
{
    int rc = enter_blocking(m);
    return rc == ZKR_OK
               ? zkr__contenders_await_change(m->lock.queue, &m->lookout, timeout_ms)
               : rc;
}

int zkr_mutex_await_free(zkr_mutex *m, int64_t timeout_ms)
{
    int rc = enter_blocking(m);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(m->c);
    m->awaiting++;
    zkr__unlock(m->c);
    rc = zkr__contenders_await_none(m->lock.queue, timeout_ms);
    zkr__lock(m->c);
    m->awaiting--;
    zkr__unlock(m->c);
    return rc;
}

/* --- writes of the application while it is held --- */

static int write(zkr_mutex *m, const struct zkr__writes *writes)
{
    int rc = enter_blocking(m);
    if (rc == ZKR_OK) {
        rc = zkr__writes_check(writes, m->lock.queue->dir);
    }
    return rc != ZKR_OK                   ? rc
           : m->robust && writes->release ? zkr__robust_release_multi(&m->lock, writes)
                                          : zkr__reentrant_multi(&m->lock, writes);
}

int zkr_mutex_multi(zkr_mutex *m,
                    int count,
                    const zoo_op_t *ops,
                    zoo_op_result_t *results,
                    int64_t timeout_ms)
{
    return write(m, &(struct zkr__writes){.count = (size_t)count,
                                          .ops = ops,
                                          .results = results,
                                          .timeout_ms = timeout_ms});
}

int zkr_mutex_release_multi(zkr_mutex *m,
                            int count,
                            const zoo_op_t *ops,
                            zoo_op_result_t *results,
                            int64_t timeout_ms)
{
    return write(m, &(struct zkr__writes){.count = (size_t)count,
                                          .ops = ops,
                                          .results = results,
                                          .timeout_ms = timeout_ms,
                                          .release = true});
}

/* --- asking others to release --- */

int zkr_mutex_revoke(zkr_mutex *m)
{
    int rc = enter_blocking(m);
    return rc == ZKR_OK ? zkr__queue_revoke(m->lock.queue) : rc;
}

int zkr_mutex_revoke_node(zkr_mutex *m, const char *node)
{
    int rc = enter_blocking(m);
    return rc == ZKR_OK ? zkr__queue_revoke_node(m->lock.queue, node) : rc;
}

int zkr_mutex_evict(zkr_mutex *m, const char *node)
{
    int rc = enter_blocking(m);
    return rc == ZKR_OK ? zkr__queue_evict(m->lock.queue, node) : rc;
}
