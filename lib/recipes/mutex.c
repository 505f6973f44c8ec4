/* SPDX-License-Identifier: Apache-2.0 */
/* The mutex: a re-entrant lock, and tickets, in the queue at its path, where the first one holds. */
#include "recipes/mutex.h"

#include <string.h>

#include <zkr/mutex.h>
#include <zkr/ticket.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "recipes/ticket.h"

ZKR__OPTIONS_CHECK(zkr_mutex_options, 11, on_revoke_ctx);

/* --- create, destroy --- */

static int
check(const char *path, const zkr_mutex_options *o, const struct zkr__mutex_sort *sort)
{
    const char *fault = zkr__path_fault(path);
    if (fault) {
        return zkr__fail(ZKR_EINVAL, path, "the path of a %s %s", sort->name, fault);
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
    const struct zkr__queue_spec spec = {
        .dir = path,
        .kind = sort->kind,
        .other_kinds = sort->other_kinds,
        .rule = sort->rule,
        .owner = o->owner,
        .data = o->data,
        .data_len = o->data_len,
        .persistent_parent = o->persistent_parent != 0,
        .watch_node = o->watch_node != 0 || o->on_revoke,
        .notes_hold = true,
    };
    zkr_mutex *m = zkr__mem_alloc(sizeof(*m));
    if (!m || zkr__queue_create(&m->lock.queue, c, &spec) != ZKR_OK) {
        zkr__mem_free(m);
        return NULL;
    }
    m->c = c;
    m->on_lost = o->on_lost;
    m->on_lost_ctx = o->on_lost_ctx;
    zkr__mutex_make_revocable(m, o->on_revoke, o->on_revoke_ctx);
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
    int rc = zkr__client_enter(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!out) {
        return zkr__fail(ZKR_EINVAL, path, "the mutex cannot be stored: out is NULL");
    }
    zkr_mutex_options o;
    rc = zkr__options_take(&o, sizeof(o), options, "zkr_mutex_options");
    return rc == ZKR_OK ? zkr__mutex_make(out, c, path, &o, &sort) : rc;
}

int zkr__mutex_busy(const zkr_mutex *m)
{
    const char *dir = m->lock.queue->dir;
    if (m->lock.holders || zkr__children_watch_busy(m->lookout)) {
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
    zkr__children_watch_end(m->lookout);
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
    int rc = zkr__mutex_enter(m);
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
    int rc = zkr__mutex_enter_blocking(m);
    if (rc == ZKR_OK) {
        rc = zkr__timeout_check(timeout_ms, m->lock.queue->dir);
    }
    return rc == ZKR_OK ? zkr__reentrant_acquire(&m->lock, timeout_ms) : rc;
}

int zkr_mutex_release(zkr_mutex *m)
{
    int rc = zkr__mutex_enter(m);
    return rc == ZKR_OK ? zkr__reentrant_release(&m->lock) : rc;
}

int zkr_mutex_cancel(zkr_mutex *m)
{
    int rc = zkr__mutex_enter(m);
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
    int rc = zkr__mutex_enter(m);
    if (rc != ZKR_OK) {
        return rc;
    }
    const struct zkr__request_args args = {.queue = m->lock.queue,
                                           .tickets = &m->tickets,
                                           .timeout_ms = timeout_ms,
                                           .fn = fn,
                                           .ctx = ctx};
    return zkr__ticket_request(out, &args);
}
