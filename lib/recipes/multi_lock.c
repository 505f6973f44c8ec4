/* SPDX-License-Identifier: Apache-2.0 */
/* The multi-lock: tickets, each a hold in the queues of all its paths, where the first holds. */
#include <string.h>

#include <zkr/multi_lock.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "recipes/recipe.h"
#include "recipes/reentrant.h"
#include "recipes/ticket.h"

ZKR__OPTIONS_CHECK(zkr_multi_lock_options, 6, watch_node);

struct zkr_multi_lock {
    zkr_client *c;
    int64_t tickets; /* that exist */
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

static int check_paths(const char *const *paths, size_t count, size_t data_len)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const char *fault = zkr__path_fault(paths[i]);
        if (fault) {
            return zkr__fail(ZKR_EINVAL, paths[i], "path %zu of a multi-lock %s", i,
                             fault);
        }
        bytes += strlen(paths[i]) + data_len + ZKR__NODE_BYTES;
    }
    if (bytes > ZKR__REQUEST_BYTES) {
        return zkr__fail(ZKR_EINVAL, paths[0],
                         "the nodes of a multi-lock need %zu bytes; one request has "
                         "room for %d",
                         bytes, ZKR__REQUEST_BYTES);
    }
    int rc = ZKR_OK;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count && rc == ZKR_OK; k++) {
            rc = i == k ? ZKR_OK : check_pair(paths[i], paths[k]);
        }
    }
    return rc;
}

static int check(const char *const *paths,
                 size_t count,
                 const zkr_client *c,
                 const zkr_multi_lock_options *o)
{
    if (count == 0 || count > ZKR_MULTI_LOCK_MAX || !paths) {
        return zkr__fail(ZKR_EINVAL, NULL, "a multi-lock has 1 to %d paths, not %zu",
                         ZKR_MULTI_LOCK_MAX, paths ? count : 0);
    }
    int rc = zkr__queue_check_data("multi-lock", o->owner, o->data, o->data_len);
    if (rc != ZKR_OK) {
        return rc;
    }
    const char *owner = o->owner ? o->owner : c->owner ? c->owner : "";
    return check_paths(paths, count, o->data ? o->data_len : strlen(owner));
}

static void free_lock(zkr_multi_lock *l) ZKR__LOCKED
{
    for (uint32_t i = 0; i < l->queues.count; i++) {
        zkr__queue_unref(l->list[i]);
    }
    zkr__mem_free(l);
}

/* NULL: no memory. */
static zkr_multi_lock *make(zkr_client *c,
                            const char *const *paths,
                            size_t count,
                            const zkr_multi_lock_options *o) ZKR__LOCKED
{
    zkr_multi_lock *l =
        zkr__mem_alloc(sizeof(*l) + count * sizeof(struct zkr__queue *));
    struct zkr__queue chosen = {
        .kind = ZKR__NAME_LOCK,
        .rule = zkr__rule_first,
        .owner = o->owner,
        .data = o->data,
        .data_len = o->data_len,
        .persistent_parent = o->persistent_parent != 0,
        .watch_node = o->watch_node != 0,
        .writes_metadata = true,
    };
    if (!l) {
        return NULL;
    }
    l->c = c;
    l->queues.list = l->list;
    for (size_t i = 0; i < count; i++) {
        chosen.dir = paths[i];
        if (zkr__queue_create(&l->list[i], c, &chosen) != ZKR_OK) {
            free_lock(l);
            return NULL;
        }
        l->queues.first = ++l->queues.count;
    }
    return l;
}

int zkr_multi_lock_create(zkr_multi_lock **out,
                          zkr_client *c,
                          const char *const *paths,
                          size_t count,
                          const zkr_multi_lock_options *options)
{
    zkr_multi_lock_options o;
    int rc = zkr__recipe_create(c, out, "multi-lock", &o, sizeof(o), options);
    if (rc == ZKR_OK) {
        rc = check(paths, count, c, &o);
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(c);
    zkr_multi_lock *l = make(c, paths, count, &o);
    rc = l ? zkr__client_enlist(c, paths[0])
           : zkr__fail(ZKR_ENOMEM, paths[0], "zkr_multi_lock_create: out of memory");
    if (rc == ZKR_OK) {
        *out = l;
    } else if (l) {
        free_lock(l);
    }
    zkr__unlock(c);
    return rc;
}

static int enter(const zkr_multi_lock *l)
{
    return zkr__recipe_enter(l ? l->c : NULL, "multi-lock");
}

int zkr_multi_lock_destroy(zkr_multi_lock *l)
{
    int rc = l ? enter(l) : ZKR_OK;
    if (!l || rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = l->c;
    zkr__lock(c);
    if (l->tickets > 0) {
        rc = zkr__fail(ZKR_EBUSY, l->list[0]->dir,
                       "%lld tickets of the multi-lock still exist",
                       (long long)l->tickets);
    } else {
        free_lock(l);
        c->recipes--;
    }
    zkr__unlock(c);
    return rc;
}

/* --- use --- */

static struct zkr__request_args args_of(zkr_multi_lock *l, int64_t timeout_ms)
{
    return (struct zkr__request_args){
        .queue = l->list[0],
        .queues = l->queues.count > 1 ? &l->queues : NULL, /* else as a mutex */
        .tickets = &l->tickets,
        .timeout_ms = timeout_ms};
}

int zkr_multi_lock_request(zkr_multi_lock *l,
                           int64_t timeout_ms,
                           zkr_ticket_fn fn,
                           void *ctx,
                           zkr_ticket **out)
{
    int rc = enter(l);
    if (rc != ZKR_OK) {
        return rc;
    }
    struct zkr__request_args args = args_of(l, timeout_ms);
    args.fn = fn;
    args.ctx = ctx;
    return zkr__ticket_request(out, &args);
}

int zkr_multi_lock_acquire(zkr_multi_lock *l, int64_t timeout_ms, zkr_ticket **out)
{
    int rc = zkr__recipe_enter_blocking(l ? l->c : NULL, "multi-lock");
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(l->c);
    for (uint32_t i = 0; i < l->queues.count && rc == ZKR_OK; i++) {
        rc = zkr__deadlock_check(l->list[i], timeout_ms);
    }
    zkr__unlock(l->c);
    const struct zkr__request_args args = args_of(l, timeout_ms);
    return rc == ZKR_OK ? zkr__ticket_acquire(out, &args) : rc;
}
