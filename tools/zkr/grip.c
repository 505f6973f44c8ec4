/* SPDX-License-Identifier: Apache-2.0 */
#include "grip.h"

/* --- what is told --- */

/* On a thread of the library, as is the next. */
static void on_ticket(zkr_ticket *t, int state, void *ctx)
{
    struct grip *g = ctx;
    zkr_lost lost = {.reason = ZKR_LOST_LEASE};
    if (state == ZKR_TICKET_LOST) {
        (void)zkr_ticket_lost(t, &lost, sizeof(lost));
        loss_tell(g->loss, &lost);
    }
}

static void on_revoke(zkr_mutex *m, void *ctx)
{
    struct grip *g = ctx;
    (void)m;
    wish_tell(g->wish);
}

/* --- one for each kind --- */

static int begin_mutex(struct grip *g, zkr_client *c, const char *path)
{
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.watch_node = 1;
    o.on_revoke = g->wish ? on_revoke : NULL;
    o.on_revoke_ctx = g;
    return zkr_mutex_create(&g->mutex, c, path, &o);
}

static int begin_rwlock(struct grip *g, zkr_client *c, const char *path)
{
    zkr_rwlock_options o = ZKR_RWLOCK_OPTIONS_INIT;
    o.watch_node = 1;
    o.on_revoke = g->wish ? on_revoke : NULL;
    o.on_revoke_ctx = g;
    int rc = zkr_rwlock_create(&g->rwlock, c, path, &o);
    g->mutex = g->kind == LOCK_READ ? zkr_rwlock_reader(g->rwlock)
                                    : zkr_rwlock_writer(g->rwlock);
    return rc;
}

static int begin_semaphore(struct grip *g, zkr_client *c, const struct lock_options *o)
{
    zkr_semaphore_options options = ZKR_SEMAPHORE_OPTIONS_INIT;
    options.watch_node = 1;
    g->permits = (int)o->permits;
    return zkr_semaphore_create(&g->semaphore, c, o->path, o->permits_max, &options);
}

static int begin_multi(struct grip *g, zkr_client *c, const struct lock_options *o)
{
    zkr_multi_lock_options options = ZKR_MULTI_LOCK_OPTIONS_INIT;
    options.watch_node = 1;
    return zkr_multi_lock_create(&g->multi, c, o->paths, o->path_count, &options);
}

int grip_begin(struct grip *g, zkr_client *c, const struct lock_options *o)
{
    g->kind = o->kind;
    switch (o->kind) {
    case LOCK_READ:
    case LOCK_WRITE:
        return begin_rwlock(g, c, o->path);
    case LOCK_PERMITS:
        return begin_semaphore(g, c, o);
    case LOCK_SEVERAL:
        return begin_multi(g, c, o);
    case LOCK_PLAIN:
        break;
    }
    return begin_mutex(g, c, o->path);
}

/* --- all alike --- */

int grip_ask(struct grip *g, int64_t timeout_ms)
{
    if (g->semaphore) {
        return zkr_semaphore_request(g->semaphore, g->permits, timeout_ms, on_ticket, g,
                                     &g->ticket);
    }
    if (g->multi) {
        return zkr_multi_lock_request(g->multi, timeout_ms, on_ticket, g, &g->ticket);
    }
    return zkr_mutex_request(g->mutex, timeout_ms, on_ticket, g, &g->ticket);
}

int grip_wait(struct grip *g)
{
    return zkr_ticket_wait(g->ticket, ZKR_FOREVER);
}

void grip_cancel(void *grip)
{
    (void)zkr_ticket_release(((struct grip *)grip)->ticket);
}

int64_t grip_valid_for_ms(void *grip)
{
    const struct grip *g = grip;
    return g->ticket ? zkr_ticket_valid_for_ms(g->ticket) : 0;
}

void grip_give_back(struct grip *g)
{
    if (g->ticket) {
        (void)zkr_ticket_release(g->ticket);
        (void)zkr_ticket_destroy(g->ticket); /* waits for a call that runs */
        g->ticket = NULL;
    }
}

void grip_end(struct grip *g)
{
    grip_give_back(g);
    (void)zkr_multi_lock_destroy(g->multi);
    (void)zkr_semaphore_destroy(g->semaphore);
    (void)zkr_rwlock_destroy(g->rwlock);
    (void)zkr_mutex_destroy(g->rwlock ? NULL : g->mutex);
}
