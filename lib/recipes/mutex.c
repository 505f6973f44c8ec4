/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mutex: a re-entrant lock, with tickets, in the queue at the mutex's path. The first contender in the queue holds.
 */
#include "recipes/mutex.h"

#include <zkr/guard.h>
#include <zkr/mutex.h>
#include <zkr/ticket.h>

#include "base/error.h"
#include "base/options.h"
#include "look/contenders.h"
#include "look/revoke.h"
#include "queue/claim.h"
#include "queue/hold_write.h"
#include "recipes/recipe.h"
#include "recipes/ticket.h"
#include "session/zk_multi.h"

ZKR__OPTIONS_CHECK(zkr_mutex_options, 18, on_warn_ctx);

/* --- revocation requests from others --- */

static void on_revocation(struct zkr__queue *q) ZKR__LOCKED
{
    zkr_mutex *m = q->on_revocation_ctx;
    zkr__dispatch_post(&m->r.c->dispatch, &m->revoke);
}

/* Runs on the dispatch thread. The callback may destroy the mutex. */
static bool run(struct zkr__call *call)
{
    zkr_mutex *m = ZKR__OWNER_OF(call, zkr_mutex, revoke);
    zkr_client *c = m->r.c;
    zkr_mutex_revoke_fn fn = m->on_revoke;
    void *ctx = m->on_revoke_ctx;
    zkr__lock(c);
    bool more, asked = zkr__revocation_take(m->r.queue, &more);
    if (more) {
        on_revocation(m->r.queue);
    }
    zkr__unlock(c);
    if (asked) {
        fn(m, ctx);
    }
    return asked;
}

/* --- create, destroy --- */

static void on_lost(struct zkr__reentrant *lock, const zkr_lost *lost)
{
    zkr_mutex *m = ZKR__OWNER_OF(lock, zkr_mutex, lock);
    m->on_lost(m, lost, m->on_lost_ctx);
}

static void on_warn(struct zkr__reentrant *lock, int64_t token, int64_t left_ms)
{
    zkr_mutex *m = ZKR__OWNER_OF(lock, zkr_mutex, lock);
    m->on_warn(m, token, left_ms, m->on_warn_ctx);
}

int zkr__mutex_make(zkr_mutex **out,
                    zkr_client *c,
                    const char *path,
                    const zkr_mutex_options *o,
                    const struct zkr__mutex_sort *sort)
{
    if (o->keep_ms < 0 || o->max_waiters < 0 ||
        (o->keep_ms > 0 && (o->wait_on_release || o->max_waiters > 0 || o->robust))) {
        return zkr__fail(
            ZKR_EINVAL, path,
            "options of a %s: keep_ms or max_waiters is negative, or keep_ms "
            "is set together with max_waiters, robust or wait_on_release",
            sort->name);
    }
    int rc = zkr__recipe_check_warning(c, path, sort->name, o->warn_ms, o->on_warn);
    if (rc != ZKR_OK) {
        return rc;
    }
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
        .hears_news = sort->kind == ZKR__NAME_LOCK && !o->robust && o->keep_ms == 0,
        .keep_ms = o->keep_ms,
        .max_waiters = o->max_waiters,
        .tells_queued = o->tell_queued != 0,
        .warn_ms = o->warn_ms,
    };
    zkr_mutex *m = zkr__recipe_make(sizeof(*m), c, sort->name, &chosen, &rc);
    if (!m) {
        return rc;
    }
    m->robust = o->robust != 0;
    m->on_lost = o->on_lost;
    m->on_lost_ctx = o->on_lost_ctx;
    m->on_warn = o->on_warn;
    m->on_warn_ctx = o->on_warn_ctx;
    m->on_revoke = o->on_revoke;
    m->on_revoke_ctx = o->on_revoke_ctx;
    m->revoke = (struct zkr__call){.owner = m, .run = run};
    m->r.queue->on_revocation = o->on_revoke ? on_revocation : NULL;
    m->r.queue->on_revocation_ctx = m;
    m->lock.c = c;
    m->lock.queue = m->r.queue;
    zkr__reentrant_tell(&m->lock, m, o->on_lost ? on_lost : NULL,
                        o->on_warn ? on_warn : NULL);
    m->lock.wait_on_release = o->wait_on_release != 0;
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
    int rc = zkr__recipe_options(c, out, sort.name, &o, sizeof(o), options);
    return rc == ZKR_OK ? zkr__mutex_make(out, c, path, &o, &sort) : rc;
}

int zkr_mutex_destroy(zkr_mutex *m)
{
    int rc = m ? zkr__recipe_enter(m) : ZKR_OK;
    if (!m || rc != ZKR_OK) {
        return rc;
    }
    if (m->side) {
        return zkr__fail(ZKR_ESTATE, m->r.queue->dir,
                         "this mutex is a side of a read-write lock");
    }
    zkr__lock(m->r.c);
    rc = zkr__recipe_busy(&m->r, m->lock.holders);
    zkr__unlock(m->r.c);
    if (rc == ZKR_OK) {
        zkr__recipe_free(&m->r);
    }
    return rc;
}

/* --- use --- */

int zkr_mutex_acquire(zkr_mutex *m, int64_t timeout_ms)
{
    int rc = zkr__recipe_enter_blocking(m);
    if (rc == ZKR_OK) {
        rc = zkr__timeout_check(timeout_ms, m->r.queue->dir);
    }
    return rc != ZKR_OK ? rc
           : m->robust  ? zkr__robust_acquire(&m->lock, timeout_ms)
                        : zkr__reentrant_acquire(&m->lock, timeout_ms);
}

int zkr_mutex_release(zkr_mutex *m)
{
    int rc = zkr__recipe_enter(m);
    return rc != ZKR_OK ? rc
           : m->robust  ? zkr__robust_release(&m->lock)
                        : zkr__reentrant_release(&m->lock);
}

int zkr_mutex_cancel(zkr_mutex *m)
{
    int rc = zkr__recipe_enter(m);
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
    int rc = zkr__recipe_enter(m);
    if (rc == ZKR_OK && m->robust) {
        rc = zkr__fail(ZKR_EINVAL, m->r.queue->dir, "a robust mutex has no tickets: %s",
                       m->r.queue->dir);
    }
    return rc == ZKR_OK ? zkr__ticket_request(out, &m->r, NULL, timeout_ms, fn, ctx)
                        : rc;
}

/* --- queries --- */

static int64_t ask(zkr_mutex *m, int64_t (*question)(const struct zkr__reentrant *lock))
{
    return zkr__recipe_enter(m) == ZKR_OK ? zkr__reentrant_ask(&m->lock, question) : 0;
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

static const struct zkr__claim *hold(void *m, int *rc) ZKR__LOCKED
{
    return zkr__reentrant_hold(&((zkr_mutex *)m)->lock, rc);
}

int64_t zkr_mutex_valid_for_ms(zkr_mutex *m)
{
    return zkr__recipe_valid_for_ms(m, hold);
}

int zkr_mutex_fencing_token(zkr_mutex *m, int64_t *token)
{
    return zkr__recipe_get(m, hold, zkr__hold_get_token, token, sizeof(*token));
}

int zkr_mutex_pass(zkr_mutex *m, int64_t *pass)
{
    return zkr__recipe_get(m, hold, zkr__hold_get_pass, pass, sizeof(*pass));
}

int zkr_mutex_node(zkr_mutex *m, char *buf, size_t size)
{
    return zkr__recipe_get(m, hold, zkr__hold_get_node, buf, size);
}

int zkr_mutex_guard(zkr_mutex *m, struct zoo_op *op)
{
    return zkr__recipe_get(m, hold, zkr__hold_get_guard, op, 0);
}

int zkr_mutex_contenders(zkr_mutex *m, zkr_contenders **out)
{
    int rc = zkr__recipe_enter_blocking(m);
    return rc == ZKR_OK ? zkr__contenders_list(out, m->r.queue, NULL, &m->r.watch) : rc;
}

int zkr_mutex_watch(zkr_mutex *m, int64_t timeout_ms)
{
    int rc = zkr__recipe_enter_blocking(m);
    return rc == ZKR_OK
               ? zkr__contenders_await_change(m->r.queue, &m->r.watch, timeout_ms)
               : rc;
}

int zkr_mutex_await_free(zkr_mutex *m, int64_t timeout_ms)
{
    int rc = zkr__recipe_enter_blocking(m);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(m->r.c);
    m->r.waiting++;
    zkr__unlock(m->r.c);
    rc = zkr__contenders_await_none(m->r.queue, timeout_ms);
    zkr__lock(m->r.c);
    m->r.waiting--;
    zkr__unlock(m->r.c);
    return rc;
}

/* --- writes of the application under the lock --- */

static int write(zkr_mutex *m, const struct zkr__writes *writes)
{
    int rc = zkr__recipe_enter_blocking(m);
    if (rc == ZKR_OK) {
        rc = zkr__writes_check(writes, m->r.queue->dir);
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

/* --- revocation requests to others --- */

int zkr_mutex_revoke(zkr_mutex *m)
{
    int rc = zkr__recipe_enter_blocking(m);
    return rc == ZKR_OK ? zkr__queue_act(m->r.queue, ZKR__ASK_HOLDERS, NULL) : rc;
}

int zkr_mutex_revoke_node(zkr_mutex *m, const char *node)
{
    int rc = zkr__recipe_enter_blocking(m);
    return rc == ZKR_OK ? zkr__queue_act(m->r.queue, ZKR__ASK_NODE, node) : rc;
}

int zkr_mutex_evict(zkr_mutex *m, const char *node)
{
    int rc = zkr__recipe_enter_blocking(m);
    return rc == ZKR_OK ? zkr__queue_act(m->r.queue, ZKR__DELETE_NODE, node) : rc;
}
