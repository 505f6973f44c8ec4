/* SPDX-License-Identifier: Apache-2.0 */
#include "actor.h"

#include <string.h>

#include "expect.h"

/* A 32-bit address space has no room for a thousand stacks of the usual size. */
enum { PATIENCE_MS = 30000, STACK_BYTES = 1 << 20 };

static void *act(void *arg)
{
    struct zkt_actor *a = arg;
    int rc = zkr_mutex_acquire(a->m, a->timeout_ms);
    if (rc == ZKR_OK) {
        a->granted_as = a->turn ? atomic_fetch_add(a->turn, 1) + 1 : 0;
        (void)zkr_mutex_fencing_token(a->m, &a->token);
        (void)zkr_mutex_node(a->m, a->node, sizeof(a->node));
    }
    atomic_store(&a->acquired, rc);
    if (rc == ZKR_OK) {
        while (!atomic_load(&a->let_go)) {
            zkt_sleep_ms(1);
        }
        rc = zkr_mutex_release(a->m);
    }
    atomic_store(&a->released, rc);
    return NULL;
}

void zkt_actor_start(struct zkt_actor *a,
                     zkr_mutex *m,
                     int64_t timeout_ms,
                     atomic_int *turn)
{
    memset(a, 0, sizeof(*a));
    a->m = m;
    a->timeout_ms = timeout_ms;
    a->turn = turn;
    atomic_store(&a->acquired, ZKT_NOT_YET);
    atomic_store(&a->released, ZKT_NOT_YET);
    pthread_attr_t small;
    (void)pthread_attr_init(&small);
    (void)pthread_attr_setstacksize(&small, STACK_BYTES);
    if (pthread_create(&a->thread, &small, act, a) != 0) {
        zkt_fail("cannot start a thread");
    }
    (void)pthread_attr_destroy(&small);
}

int64_t zkt_waiting(zkr_client *c)
{
    zkr_stats stats;
    (void)zkr_client_stats(c, &stats, sizeof(stats));
    return stats.waiting;
}

int64_t zkt_reconnects(zkr_client *c)
{
    zkr_stats stats;
    (void)zkr_client_stats(c, &stats, sizeof(stats));
    return stats.reconnects;
}

/*
 * Returns the number of the session's nodes in the queue, as the server reports them. Nodes of other sessions may
 * appear there later.
 */
static int64_t contenders(zkr_client *c, zkr_mutex *m)
{
    zkr_contenders *list = NULL;
    int64_t count = 0;
    if (zkr_mutex_contenders(m, &list) != ZKR_OK) {
        return -1;
    }
    for (size_t i = 0; i < zkr_contenders_count(list); i++) {
        count += zkr_contenders_get(list, i)->session_id == zkr_client_session_id(c);
    }
    zkr_contenders_free(list);
    return count;
}

void zkt_actor_queue(struct zkt_actor *a, zkr_client *c, zkr_mutex *m, atomic_int *turn)
{
    int64_t before = zkt_waiting(c);
    int64_t nodes = contenders(c, m);
    zkt_actor_start(a, m, ZKR_FOREVER, turn);
    ZKT_EVENTUALLY(zkt_waiting(c) == before + 1 ||
                       atomic_load(&a->acquired) != ZKT_NOT_YET,
                   PATIENCE_MS);
    ZKT_BECOMES(contenders(c, m), nodes + 1, PATIENCE_MS);
}

int zkt_actor_acquired(struct zkt_actor *a)
{
    ZKT_EVENTUALLY(atomic_load(&a->acquired) != ZKT_NOT_YET, PATIENCE_MS);
    return atomic_load(&a->acquired);
}

int zkt_actor_end(struct zkt_actor *a)
{
    atomic_store(&a->let_go, true);
    ZKT_EVENTUALLY(atomic_load(&a->released) != ZKT_NOT_YET, PATIENCE_MS);
    pthread_join(a->thread, NULL);
    return atomic_load(&a->released);
}

void zkt_actor_is_served(struct zkt_actor *a)
{
    ZKT_MUST(zkt_actor_acquired(a));
    ZKT_MUST(zkt_actor_end(a));
}

void zkt_actor_is_refused(struct zkt_actor *a, int code)
{
    ZKT_RC(zkt_actor_acquired(a), code);
    (void)zkt_actor_end(a);
}
