/* SPDX-License-Identifier: Apache-2.0 */
/* The semaphore: tickets for permits. A ticket's nodes are leases, and it queues at the gate; see passage.h. */
#include <string.h>

#include <zkr/semaphore.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "engine/contenders.h"
#include "engine/count_watch.h"
#include "engine/passage.h"
#include "recipes/ticket.h"

ZKR__OPTIONS_CHECK(zkr_semaphore_options, 7, watch_node);

struct zkr_semaphore {
    zkr_client *c;
    struct zkr__gate gate;
    int64_t max;
    struct zkr__count_watch *count; /* NULL: max is fixed */
    int64_t tickets;                /* that exist */
};

static int enter(const zkr_semaphore *s)
{
    return s ? zkr__client_enter(s->c)
             : zkr__fail(ZKR_EINVAL, NULL, "the semaphore is NULL");
}

/* --- the maximum --- */

/* Raised, it may let in who waits: they look again. */
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
    if (max <= 0 || max > INT32_MAX) {
        return zkr__fail(ZKR_EINVAL, path, "a semaphore of %lld permits: 1 to %d",
                         (long long)max, INT32_MAX);
    }
    int rc = zkr__queue_check_data("semaphore", o->owner, o->data, o->data_len);
    if (rc != ZKR_OK) {
        return rc;
    }
    const char *fault = o->max_from ? zkr__path_fault(o->max_from) : NULL;
    return fault ? zkr__fail(ZKR_EINVAL, o->max_from,
                             "zkr_semaphore_options: max_from %s", fault)
                 : ZKR_OK;
}

static bool make_queue(struct zkr__queue **out,
                       zkr_client *c,
                       struct zkr__queue_spec *spec,
                       const char *path,
                       const char *below)
{
    char *dir = zkr__path_join(path, below);
    spec->dir = dir;
    bool made = dir && zkr__queue_create(out, c, spec) == ZKR_OK;
    zkr__mem_free(dir);
    return made;
}

static bool make_queues(struct zkr__gate *gate,
                        zkr_client *c,
                        const char *path,
                        int64_t max,
                        const zkr_semaphore_options *o)
{
    struct zkr__queue_spec locks = {.meter = path,
                                    .kind = ZKR__NAME_LOCK,
                                    .rule = zkr__rule_first,
                                    .owner = o->owner,
                                    .data = o->data,
                                    .data_len = o->data_len,
                                    .persistent_parent = o->persistent_parent != 0};
    struct zkr__queue_spec leases = locks;
    leases.kind = ZKR__NAME_LEASE;
    leases.rule = zkr__rule_permits;
    leases.rule_arg = o->max_from ? 0 : max;
    leases.tells_arg = true;
    leases.watch_node = o->watch_node != 0;
    leases.notes_hold = true;
    struct zkr__queue_spec lower = leases;
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
    zkr__count_watch_end(s->count);
    free_queues(&s->gate);
}

/* Into the client's count of recipes, and watching. */
static int
begin(zkr_semaphore *s, const char *path, const zkr_semaphore_options *o) ZKR__LOCKED
{
    int rc = zkr__client_enlist(s->c, path);
    if (rc != ZKR_OK || !o->max_from) {
        return rc;
    }
    rc = zkr__count_watch_create(&s->count, s->c, o->max_from, on_count, s);
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
    int rc = zkr__client_enter(c);
    if (rc != ZKR_OK) {
        return rc;
    }
    const char *fault = out ? zkr__path_fault(path) : "cannot be stored: out is NULL";
    if (fault) {
        return zkr__fail(ZKR_EINVAL, path, "the path of a semaphore %s", fault);
    }
    zkr_semaphore_options o;
    rc = zkr__options_take(&o, sizeof(o), options, "zkr_semaphore_options");
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
    if (rc != ZKR_OK && s) {
        end(s);
    }
    zkr__unlock(c);
    if (rc != ZKR_OK) {
        zkr__mem_free(s);
        return rc;
    }
    *out = s;
    return ZKR_OK;
}

int zkr_semaphore_destroy(zkr_semaphore *s)
{
    if (!s) {
        return ZKR_OK;
    }
    int rc = enter(s);
    if (rc != ZKR_OK) {
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
    if (rc == ZKR_OK) {
        zkr__mem_free(s);
    }
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

static int request(zkr_semaphore *s,
                   int n,
                   int64_t timeout_ms,
                   zkr_ticket_fn fn,
                   void *ctx,
                   zkr_ticket **out)
{
    int rc = check_permits(s, n);
    if (rc != ZKR_OK) {
        return rc;
    }
    const struct zkr__place_queues *queues = zkr__passage_make(&s->gate, (uint32_t)n);
    if (!queues) {
        return zkr__fail(ZKR_ENOMEM, s->gate.leases->dir,
                         "cannot make a ticket: out of memory");
    }
    const struct zkr__request_args args = {.queue = s->gate.leases,
                                           .queues = queues,
                                           .tickets = &s->tickets,
                                           .timeout_ms = timeout_ms,
                                           .fn = fn,
                                           .ctx = ctx};
    rc = zkr__ticket_request(out, &args);
    if (rc != ZKR_OK) {
        zkr__lock(s->c);
        zkr__passage_drop(queues);
        zkr__unlock(s->c);
    }
    return rc;
}

int zkr_semaphore_request(zkr_semaphore *s,
                          int n,
                          int64_t timeout_ms,
                          zkr_ticket_fn fn,
                          void *ctx,
                          zkr_ticket **out)
{
    int rc = enter(s);
    return rc == ZKR_OK ? request(s, n, timeout_ms, fn, ctx, out) : rc;
}

static int enter_blocking(const zkr_semaphore *s)
{
    int rc = enter(s);
    return rc == ZKR_OK ? zkr__client_enter_blocking(s->c) : rc;
}

int zkr_semaphore_acquire(zkr_semaphore *s, int n, int64_t timeout_ms, zkr_ticket **out)
{
    zkr_ticket *t = NULL;
    int rc = enter_blocking(s);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (!out) {
        return zkr__fail(ZKR_EINVAL, s->gate.leases->dir,
                         "the ticket cannot be stored: out is NULL");
    }
    rc = request(s, n, timeout_ms, NULL, NULL, &t);
    return rc == ZKR_OK ? zkr__ticket_acquire(out, t) : rc;
}

int zkr_semaphore_holders(zkr_semaphore *s, zkr_contenders **out)
{
    int rc = enter_blocking(s);
    return rc == ZKR_OK ? zkr__contenders_permits(out, s->gate.leases, s->gate.locks)
                        : rc;
}
