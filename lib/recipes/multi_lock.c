/* SPDX-License-Identifier: Apache-2.0 */
/* The multi-lock. Each ticket is one hold in the queues of all paths. The first contender of each queue holds. */
#include <string.h>

#include <zkr/multi_lock.h>

#include "base/error.h"
#include "base/options.h"
#include "recipes/recipe.h"
#include "recipes/reentrant.h"
#include "recipes/ticket.h"

ZKR__OPTIONS_CHECK(zkr_multi_lock_options, 8, warn_ms);

struct zkr_multi_lock {
    struct zkr__recipe r;
    struct zkr__hold_queues queues;
    struct zkr__queue *list[];
};

/* --- create, destroy --- */

static int check_pair(const char *path, const char *other)
{
    size_t len = strlen(path);
    if (strncmp(path, other, len) != 0 || (other[len] != '\0' && other[len] != '/')) {
        return ZKR_OK;
    }
    return other[len] == '\0'
               ? zkr__fail(ZKR_EINVAL, path, "the multi-lock names %s twice", path)
               : zkr__fail(ZKR_EINVAL, other, "%s lies below %s in a multi-lock", other,
                           path);
}

static int check(const zkr_multi_lock *l)
{
    size_t bytes = 0;
    int rc = ZKR_OK;
    for (uint32_t i = 0; i < l->queues.count; i++) {
        bytes += zkr__queue_node_bytes(l->list[i]);
        for (uint32_t k = 0; k < l->queues.count && rc == ZKR_OK; k++) {
            rc = i == k ? ZKR_OK : check_pair(l->list[i]->dir, l->list[k]->dir);
        }
    }
    return rc == ZKR_OK && bytes > ZKR__REQUEST_BYTES
               ? zkr__fail(ZKR_EINVAL, l->r.queue->dir,
                           "the nodes of a multi-lock need %zu bytes; one request has "
                           "room for %d",
                           bytes, ZKR__REQUEST_BYTES)
               : rc;
}

static void end(zkr_multi_lock *l)
{
    zkr__lock(l->r.c);
    for (uint32_t i = 1; i < l->queues.count; i++) {
        zkr__queue_unref(l->list[i]);
    }
    zkr__unlock(l->r.c);
    zkr__recipe_free(&l->r);
}

int zkr_multi_lock_create(zkr_multi_lock **out,
                          zkr_client *c,
                          const char *const *paths,
                          size_t count,
                          const zkr_multi_lock_options *options)
{
    zkr_multi_lock_options o;
    int rc = zkr__recipe_options(c, out, "multi-lock", &o, sizeof(o), options);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (count == 0 || count > ZKR_MULTI_LOCK_MAX || !paths) {
        return zkr__fail(ZKR_EINVAL, NULL, "a multi-lock has 1 to %d paths, not %zu",
                         ZKR_MULTI_LOCK_MAX, paths ? count : 0);
    }
    rc = zkr__recipe_check_warning(c, paths[0], "multi-lock", o.warn_ms, false);
    if (rc != ZKR_OK) {
        return rc;
    }
    struct zkr__queue chosen = {
        .dir = paths[0],
        .kind = ZKR__NAME_LOCK,
        .rule = zkr__rule_first,
        .owner = o.owner,
        .data = o.data,
        .data_len = o.data_len,
        .persistent_parent = o.persistent_parent != 0,
        .watch_node = o.watch_node != 0,
        .writes_metadata = true,
        .tells_queued = o.tell_queued != 0,
        .warn_ms = o.warn_ms,
    };
    size_t size = sizeof(zkr_multi_lock) + count * sizeof(struct zkr__queue *);
    zkr_multi_lock *l = zkr__recipe_make(size, c, "multi-lock", &chosen, &rc);
    if (!l) {
        return rc;
    }
    l->list[0] = l->r.queue;
    l->queues = (struct zkr__hold_queues){.list = l->list, .count = 1};
    for (size_t i = 1; i < count && rc == ZKR_OK; i++) {
        chosen.dir = paths[i];
        rc = zkr__queue_create(&l->list[i], c, "multi-lock", &chosen);
        l->queues.count += rc == ZKR_OK;
    }
    l->queues.first = l->queues.count;
    rc = rc == ZKR_OK ? check(l) : rc;
    if (rc == ZKR_OK) {
        *out = l;
    } else {
        end(l);
    }
    return rc;
}

int zkr_multi_lock_destroy(zkr_multi_lock *l)
{
    int rc = l ? zkr__recipe_enter(l) : ZKR_OK;
    if (!l || rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(l->r.c);
    rc = zkr__recipe_busy(&l->r, false);
    zkr__unlock(l->r.c);
    if (rc == ZKR_OK) {
        end(l);
    }
    return rc;
}

/* --- use --- */

static const struct zkr__hold_queues *queues_of(const zkr_multi_lock *l)
{
    return l->queues.count > 1 ? &l->queues : NULL; /* one path works like a mutex */
}

int zkr_multi_lock_request(zkr_multi_lock *l,
                           int64_t timeout_ms,
                           zkr_ticket_fn fn,
                           void *ctx,
                           zkr_ticket **out)
{
    int rc = zkr__recipe_enter(l);
    return rc == ZKR_OK
               ? zkr__ticket_request(out, &l->r, queues_of(l), timeout_ms, fn, ctx)
               : rc;
}

int zkr_multi_lock_acquire(zkr_multi_lock *l, int64_t timeout_ms, zkr_ticket **out)
{
    int rc = zkr__recipe_enter_blocking(l);
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(l->r.c);
    for (uint32_t i = 0; i < l->queues.count && rc == ZKR_OK; i++) {
        rc = zkr__deadlock_check(l->list[i], timeout_ms);
    }
    zkr__unlock(l->r.c);
    return rc == ZKR_OK ? zkr__ticket_acquire(out, &l->r, queues_of(l), timeout_ms)
                        : rc;
}
