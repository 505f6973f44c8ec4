/* SPDX-License-Identifier: Apache-2.0 */
/* The semaphore: tickets for permits. A ticket's nodes are leases, and it queues at the gate; see semaphore_steps.h. */
#include <string.h>

#include <zkr/semaphore.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "engine/contenders.h"
#include "engine/semaphore_steps.h"
#include "recipes/recipe.h"
#include "recipes/ticket.h"

ZKR__OPTIONS_CHECK(zkr_semaphore_options, 7, watch_node);

struct zkr_semaphore {
    zkr_client *c;
    struct zkr__gate gate;
    int64_t max;
    struct zkr__node_watch *count; /* NULL: max is fixed */
    int64_t tickets;               /* that exist */
};

static int enter(const zkr_semaphore *s)
{
    return zkr__recipe_enter(s ? s->c : NULL, "semaphore");
}

static int enter_blocking(const zkr_semaphore *s)
{
    return zkr__recipe_enter_blocking(s ? s->c : NULL, "semaphore");
}

/* --- the maximum --- */

/* A raised maximum may let waiting requests in: they look again. */
static void set_max(zkr_semaphore *s, int64_t max) ZKR__LOCKED
{
    struct zkr__queue *leases = s->gate.leases;
    bool raised = max > leases->rule_arg;
    leases->rule_arg = s->gate.lower_leases->rule_arg = max;
    if (raised) {
        struct zkr__engine *engine = s->c->engine;
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
    const char *fault = zkr__path_fault(path);
    if (fault) {
        return zkr__fail(ZKR_EINVAL, path, "the path of a semaphore %s", fault);
    }
    if (max <= 0 || max > INT32_MAX) {
        return zkr__fail(ZKR_EINVAL, path, "a semaphore of %lld permits: 1 to %d",
                         (long long)max, INT32_MAX);
    }
    int rc = zkr__queue_check_data("semaphore", o->owner, o->data, o->data_len);
    if (rc != ZKR_OK) {
        return rc;
    }
    fault = o->max_from ? zkr__path_fault(o->max_from) : NULL;
    return fault ? zkr__fail(ZKR_EINVAL, o->max_from,
                             "zkr_semaphore_options: max_from %s", fault)
                 : ZKR_OK;
}

static bool make_queue(struct zkr__queue **out,
                       zkr_client *c,
                       struct zkr__queue *chosen,
                       const char *path,
                       const char *below)
{
    char *dir = zkr__path_join(path, below);
    chosen->dir = dir;
    bool made = dir && zkr__queue_create(out, c, chosen) == ZKR_OK;
    zkr__mem_free(dir);
    return made;
}

static bool make_queues(struct zkr__gate *gate,
                        zkr_client *c,
                        const char *path,
                        int64_t max,
                        const zkr_semaphore_options *o)
{
    struct zkr__queue locks = {.meter_path = path,
                               .kind = ZKR__NAME_LOCK,
                               .rule = zkr__rule_first,
                               .owner = o->owner,
                               .data = o->data,
                               .data_len = o->data_len,
                               .persistent_parent = o->persistent_parent != 0};
    struct zkr__queue leases = locks;
    leases.kind = ZKR__NAME_LEASE;
    leases.rule = zkr__rule_permits;
    leases.rule_arg = o->max_from ? 0 : max;
    leases.tells_arg = true;
    leases.watch_node = o->watch_node != 0;
    leases.writes_metadata = true;
    struct zkr__queue lower = leases;
    lower.rule = zkr__rule_any;
    return make_queue(&gate->locks, c, &locks, path, "locks") &&
           make_queue(&gate->leases, c, &leases, path, "leases") &&
           make_queue(&gate->lower_leases, c, &lower, path, "leases");
}

static void free_queues(struct zkr__gate *gate) ZKR__LOCKED
{
    struct zkr__queue *const queues[] = {gate->locks, gate->leases, gate->lower_leases};
    for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
        if (queues[i]) {
            zkr__queue_unref(queues[i]);
        }
    }
}

static void end(zkr_semaphore *s) ZKR__LOCKED
{
    zkr__node_watch_end(s->count);
    free_queues(&s->gate);
    zkr__mem_free(s);
}

/* Into the client's count of recipes, and watching. */
static int
begin(zkr_semaphore *s, const char *path, const zkr_semaphore_options *o) ZKR__LOCKED
{
    int rc = zkr__client_enlist(s->c, path);
    if (rc != ZKR_OK || !o->max_from) {
        return rc;
    }
    rc = zkr__node_watch_create(&s->count, s->c, o->max_from, ZKR__FOLLOW_COUNT,
                                on_count, s);
    if (rc != ZKR_OK) {
        s->c->recipes--;
        return zkr__fail(rc, path, "zkr_semaphore_create: out of memory");
    }
    return ZKR_OK;
}

int zkr_semaphore_create(zkr_semaphore **out,
                         zkr_client *c,
                         const char *path,
                         int64_t max,
                         const zkr_semaphore_options *options)
{
    zkr_semaphore_options o;
    int rc = zkr__recipe_create(c, out, "semaphore", &o, sizeof(o), options);
    if (rc == ZKR_OK) {
        rc = check(path, max, &o);
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    zkr_semaphore *s = zkr__mem_alloc(sizeof(*s));
    bool made = s && make_queues(&s->gate, c, path, max, &o);
    zkr__lock(c);
    if (made) {
        s->c = c;
        s->max = max;
        rc = begin(s, path, &o);
    } else {
        rc = zkr__fail(ZKR_ENOMEM, path, "zkr_semaphore_create: out of memory");
    }
    if (rc == ZKR_OK) {
        *out = s;
    } else if (s) {
        end(s);
    }
    zkr__unlock(c);
    return rc;
}

int zkr_semaphore_destroy(zkr_semaphore *s)
{
    int rc = s ? enter(s) : ZKR_OK;
    if (!s || rc != ZKR_OK) {
        return rc;
    }
    zkr_client *c = s->c;
    zkr__lock(c);
    if (s->tickets > 0) {
        const char *dir = s->gate.leases->dir;
        rc = zkr__fail(ZKR_EBUSY, dir, "%lld tickets of the semaphore %s still exist",
                       (long long)s->tickets, dir);
    } else {
        end(s);
        c->recipes--;
    }
    zkr__unlock(c);
    return rc;
}

/* --- use --- */

static size_t bytes_per_node(const zkr_semaphore *s)
{
    const struct zkr__queue *q = s->gate.leases;
    const char *owner = q->owner ? q->owner : s->c->owner ? s->c->owner : "";
    return ZKR__NODE_BYTES + strlen(q->dir) + (q->data ? q->data_len : strlen(owner));
}

static int check_permits(const zkr_semaphore *s, int n)
{
    const char *dir = s->gate.leases->dir;
    if (n <= 0 || n > ZKR_SEMAPHORE_PERMITS_MAX) {
        return zkr__fail(ZKR_EINVAL, dir, "%d permits: 1 to %d", n,
                         ZKR_SEMAPHORE_PERMITS_MAX);
    }
    if ((size_t)n * bytes_per_node(s) > ZKR__REQUEST_BYTES) {
        return zkr__fail(ZKR_EINVAL, dir,
                         "the nodes of %d permits need %zu bytes; one request has room "
                         "for %d",
                         n, (size_t)n * bytes_per_node(s), ZKR__REQUEST_BYTES);
    }
    if (!s->count && n > s->max) {
        return zkr__fail(ZKR_EINVAL, dir, "%d permits of %lld", n, (long long)s->max);
    }
    return ZKR_OK;
}

/* What a request for @n permits is made of, into @args. */
static int prepare(zkr_semaphore *s, int n, struct zkr__request_args *args)
{
    int rc = check_permits(s, n);
    if (rc != ZKR_OK) {
        return rc;
    }
    args->queue = s->gate.leases;
    args->queues = zkr__permits_ask(&s->gate, (uint32_t)n);
    args->tickets = &s->tickets;
    return args->queues ? ZKR_OK
                        : zkr__fail(ZKR_ENOMEM, args->queue->dir,
                                    "cannot make a ticket: out of memory");
}

int zkr_semaphore_request(zkr_semaphore *s,
                          int n,
                          int64_t timeout_ms,
                          zkr_ticket_fn fn,
                          void *ctx,
                          zkr_ticket **out)
{
    struct zkr__request_args args = {.timeout_ms = timeout_ms, .fn = fn, .ctx = ctx};
    int rc = enter(s);
    if (rc == ZKR_OK) {
        rc = prepare(s, n, &args);
    }
    return rc == ZKR_OK ? zkr__ticket_request(out, &args) : rc;
}

int zkr_semaphore_acquire(zkr_semaphore *s, int n, int64_t timeout_ms, zkr_ticket **out)
{
    struct zkr__request_args args = {.timeout_ms = timeout_ms};
    int rc = enter_blocking(s);
    if (rc == ZKR_OK) {
        rc = prepare(s, n, &args);
    }
    return rc == ZKR_OK ? zkr__ticket_acquire(out, &args) : rc;
}

int zkr_semaphore_holders(zkr_semaphore *s, zkr_contenders **out)
{
    int rc = enter_blocking(s);
    return rc == ZKR_OK ? zkr__contenders_list(out, s->gate.leases, s->gate.locks, NULL)
                        : rc;
}
