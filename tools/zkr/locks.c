/* SPDX-License-Identifier: Apache-2.0 */
#include "locks.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "grant.h"
#include "news.h"

/* --- the objects --- */

static int create_mutexes(struct locks *l, zkr_client *c)
{
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    zkr_rwlock_options both = ZKR_RWLOCK_OPTIONS_INIT;
    struct queue *first = l->queues;
    bool ignored = l->o->on_revoke && strcmp(l->o->on_revoke, "ignore") == 0;
    o.watch_node = both.watch_node = 1;
    o.tell_queued = both.tell_queued = l->h->env->globals.log_level > 0;
    o.max_waiters = l->o->max_queue;
    /* Servers may delete a container, and the record with it. */
    o.persistent_parent = l->o->every_ms > 0;
    o.on_revoke = both.on_revoke = ignored ? NULL : news_on_revoke;
    o.on_revoke_ctx = both.on_revoke_ctx = &l->h->news;
    if (l->o->shared || l->o->rw) {
        int rc = zkr_rwlock_create(&l->rwlock, c, l->h->path, &both);
        first->mutex =
            l->o->shared ? zkr_rwlock_reader(l->rwlock) : zkr_rwlock_writer(l->rwlock);
        return rc;
    }
    int rc = ZKR_OK;
    for (size_t i = 0; i < l->o->path_count && rc == ZKR_OK; i++) {
        rc = zkr_mutex_create(&l->queues[i].mutex, c, l->o->paths[i], &o);
    }
    return rc;
}

int locks_create(struct locks *l)
{
    zkr_client *c = l->h->env->client;
    const struct lock_options *o = l->o;
    zkr_semaphore_options permits = ZKR_SEMAPHORE_OPTIONS_INIT;
    zkr_multi_lock_options several = ZKR_MULTI_LOCK_OPTIONS_INIT;
    permits.watch_node = several.watch_node = 1;
    several.tell_queued = l->h->env->globals.log_level > 0;
    l->queues = calloc(o->path_count, sizeof(*l->queues));
    if (!l->queues) {
        return cli_fail_memory();
    }
    int rc =
        o->permits_max > 0 ? zkr_semaphore_create(&l->semaphore, c, l->h->path,
                                                  o->permits_max, &permits)
        : o->path_count > 1 && !o->any
            ? zkr_multi_lock_create(&l->multi, c, o->paths, o->path_count, &several)
            : create_mutexes(l, c);
    return cli_check(rc);
}

/* --- the queues --- */

int locks_join(struct locks *l, int64_t timeout_ms)
{
    struct held *h = l->h;
    zkr_ticket **ticket = &h->grant.ticket;
    int rc = l->semaphore
                 ? zkr_semaphore_request(l->semaphore, (int)l->o->permits, timeout_ms,
                                         news_on_ticket, &h->news, ticket)
             : l->multi ? zkr_multi_lock_request(l->multi, timeout_ms, news_on_ticket,
                                                 &h->news, ticket)
                        : zkr_mutex_request(l->queues->mutex, timeout_ms,
                                            news_on_ticket, &h->news, ticket);
    return cli_check(rc);
}

int locks_join_one(struct locks *l, size_t i, int64_t timeout_ms)
{
    struct queue *q = &l->queues[i];
    int rc = zkr_mutex_request(q->mutex, timeout_ms, news_on_ticket, &l->h->news,
                               &q->ticket);
    return cli_check(rc);
}

void locks_choose(struct locks *l, size_t i)
{
    zkr_ticket *chosen = l->queues[i].ticket;
    l->queues[i].ticket = NULL;
    locks_leave(l);
    l->h->path = l->o->paths[i];
    l->h->grant.ticket = chosen;
}

void locks_leave(struct locks *l)
{
    size_t count = l->queues ? l->o->path_count : 0;
    grant_leave(&l->h->grant);
    for (size_t i = 0; i < count; i++) {
        (void)zkr_ticket_release(l->queues[i].ticket);
    }
    for (size_t i = 0; i < count; i++) {
        (void)zkr_ticket_destroy(
            l->queues[i].ticket); /* this waits for a running callback */
        l->queues[i].ticket = NULL;
    }
}

void locks_destroy(struct locks *l)
{
    locks_leave(l);
    for (size_t i = 0; l->queues && i < l->o->path_count && !l->rwlock; i++) {
        (void)zkr_mutex_destroy(l->queues[i].mutex);
    }
    (void)zkr_multi_lock_destroy(l->multi);
    (void)zkr_semaphore_destroy(l->semaphore);
    (void)zkr_rwlock_destroy(l->rwlock);
    free(l->queues);
}
