/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The semaphore: tickets for permits. Each ticket has one lease node for each permit, and may queue at the gate
 * (permits.h).
 */
#include <zkr/semaphore.h>

#include "base/error.h"
#include "base/options.h"
#include "base/path.h"
#include "look/contenders.h"
#include "queue/permits.h"
#include "recipes/recipe.h"
#include "recipes/ticket.h"

ZKR__OPTIONS_CHECK(zkr_semaphore_options, 8, warn_ms);

struct zkr_semaphore {
    struct zkr__recipe r; /* queue: leases; watch: on max_from, or NULL */
    struct zkr__gate gate;
    int64_t max;
};

/* --- the maximum --- */

/* Set the maximum. A raised maximum may admit waiting requests, so these requests list again. */
static void set_max(zkr_semaphore *s, int64_t max) ZKR__LOCKED
{
    struct zkr__queue *leases = s->gate.leases;
    bool raised = max > leases->rule_arg;
    leases->rule_arg = s->gate.lower_leases->rule_arg = max;
    if (raised) {
        struct zkr__engine *engine = s->r.c->engine;
        zkr__path_event(&engine->watchers, leases->dir, ZKR__NODE_CHANGED);
    }
}

static void on_count(void *ctx, int64_t count) ZKR__LOCKED
{
    zkr_semaphore *s = ctx;
    set_max(s, count == ZKR__COUNT_MISSING ? s->max : count < 0 ? 0 : count);
}

/* --- create, destroy --- */

static int check(const char *path, int64_t max, const zkr_semaphore_options *o)
{
    const char *fault = o->max_from ? zkr__path_fault(o->max_from) : NULL;
    return max <= 0 || max > INT32_MAX
               ? zkr__fail(ZKR_EINVAL, path,
                           "a semaphore has 1 to %d permits, not %lld", INT32_MAX,
                           (long long)max)
           : fault ? zkr__fail(ZKR_EINVAL, o->max_from,
                               "zkr_semaphore_options: max_from %s", fault)
                   : ZKR_OK;
}

static void end(zkr_semaphore *s)
{
    zkr__lock(s->r.c);
    zkr__node_watch_end(s->r.watch); /* first, because on_count() changes the queues */
    s->r.watch = NULL;
    zkr__queue_unref(s->gate.locks);
    zkr__queue_unref(s->gate.lower_leases);
    zkr__unlock(s->r.c);
    zkr__recipe_free(&s->r);
}

/* Create the other two queues, and the watch on max_from. */
static int complete(zkr_semaphore *s,
                    const struct zkr__queue *leases,
                    const zkr_semaphore_options *o)
{
    const struct zkr__queue locks = {
        .dir = leases->dir,
        .below = "locks",
        .kind = ZKR__NAME_LOCK,
        .rule = zkr__rule_first,
        .owner = leases->owner,
        .data = leases->data,
        .data_len = leases->data_len,
        .persistent_parent = leases->persistent_parent,
    };
    struct zkr__queue lower = *leases;
    lower.rule = zkr__rule_any;
    int rc = zkr__queue_create(&s->gate.lower_leases, s->r.c, "semaphore", &lower);
    if (rc == ZKR_OK) {
        rc = zkr__queue_create(&s->gate.locks, s->r.c, "semaphore", &locks);
    }
    return rc == ZKR_OK && o->max_from
               ? zkr__recipe_follow(&s->r, o->max_from, ZKR__FOLLOW_COUNT, on_count)
               : rc;
}

int zkr_semaphore_create(zkr_semaphore **out,
                         zkr_client *c,
                         const char *path,
                         int64_t max,
                         const zkr_semaphore_options *options)
{
    zkr_semaphore_options o;
    int rc = zkr__recipe_options(c, out, "semaphore", &o, sizeof(o), options);
    if (rc == ZKR_OK) {
        rc = check(path, max, &o);
    }
    if (rc == ZKR_OK) {
        rc = zkr__recipe_check_warning(c, path, "semaphore", o.warn_ms, false);
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    const struct zkr__queue leases = {
        .dir = path,
        .below = "leases",
        .kind = ZKR__NAME_LEASE,
        .rule = zkr__rule_permits,
        .rule_arg = o.max_from ? 0 : max,
        .owner = o.owner,
        .tells_arg = true,
        .data = o.data,
        .data_len = o.data_len,
        .persistent_parent = o.persistent_parent != 0,
        .watch_node = o.watch_node != 0,
        .writes_metadata = true,
        .warn_ms = o.warn_ms,
    };
    zkr_semaphore *s = zkr__recipe_make(sizeof(*s), c, "semaphore", &leases, &rc);
    if (!s) {
        return rc;
    }
    s->max = max;
    s->gate.leases = s->r.queue;
    rc = complete(s, &leases, &o);
    if (rc == ZKR_OK) {
        *out = s;
    } else {
        end(s);
    }
    return rc;
}

int zkr_semaphore_destroy(zkr_semaphore *s)
{
    int rc = s ? zkr__recipe_enter(s) : ZKR_OK;
    if (!s || rc != ZKR_OK) {
        return rc;
    }
    zkr__lock(s->r.c);
    rc = zkr__recipe_busy(&s->r, false);
    zkr__unlock(s->r.c);
    if (rc == ZKR_OK) {
        end(s);
    }
    return rc;
}

/* --- use --- */

static int check_permits(const zkr_semaphore *s, int n)
{
    const char *dir = s->gate.leases->dir;
    if (n <= 0 || n > ZKR_SEMAPHORE_PERMITS_MAX) {
        return zkr__fail(ZKR_EINVAL, dir, "%d permits: 1 to %d", n,
                         ZKR_SEMAPHORE_PERMITS_MAX);
    }
    size_t bytes = (size_t)n * zkr__queue_node_bytes(s->gate.leases);
    if (bytes > ZKR__REQUEST_BYTES) {
        return zkr__fail(ZKR_EINVAL, dir,
                         "the nodes of %d permits need %zu bytes; one request has room "
                         "for %d",
                         n, bytes, ZKR__REQUEST_BYTES);
    }
    if (!s->r.watch && n > s->max) {
        return zkr__fail(ZKR_EINVAL, dir, "%d permits were requested of %lld", n,
                         (long long)s->max);
    }
    return ZKR_OK;
}

/* Returns the queues of a request for @n permits, or NULL with the reason in *rc. */
static const struct zkr__hold_queues *prepare(zkr_semaphore *s, int n, int *rc)
{
    *rc = check_permits(s, n);
    if (*rc != ZKR_OK) {
        return NULL;
    }
    const struct zkr__hold_queues *queues = zkr__permits_ask(&s->gate, (uint32_t)n);
    if (!queues) {
        *rc = zkr__fail(ZKR_ENOMEM, s->r.queue->dir,
                        "cannot make a ticket: out of memory");
    }
    return queues;
}

int zkr_semaphore_request(zkr_semaphore *s,
                          int n,
                          int64_t timeout_ms,
                          zkr_ticket_fn fn,
                          void *ctx,
                          zkr_ticket **out)
{
    int rc = zkr__recipe_enter(s);
    const struct zkr__hold_queues *queues = rc == ZKR_OK ? prepare(s, n, &rc) : NULL;
    return queues ? zkr__ticket_request(out, &s->r, queues, timeout_ms, fn, ctx) : rc;
}

int zkr_semaphore_acquire(zkr_semaphore *s, int n, int64_t timeout_ms, zkr_ticket **out)
{
    int rc = zkr__recipe_enter_blocking(s);
    const struct zkr__hold_queues *queues = rc == ZKR_OK ? prepare(s, n, &rc) : NULL;
    return queues ? zkr__ticket_acquire(out, &s->r, queues, timeout_ms) : rc;
}

int zkr_semaphore_holders(zkr_semaphore *s, zkr_contenders **out)
{
    int rc = zkr__recipe_enter_blocking(s);
    return rc == ZKR_OK ? zkr__contenders_list(out, s->gate.leases, s->gate.locks, NULL)
                        : rc;
}
