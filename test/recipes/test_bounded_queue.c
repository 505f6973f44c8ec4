/* SPDX-License-Identifier: Apache-2.0 */
/* options.max_waiters: an acquire fails if this many contenders already wait. */
#include <string.h>

#include "actor.h"
#include "fixture.h"
#include "proxy.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 20000, MOST = 2 };

static zkr_mutex *bounded(zkr_client *c)
{
    return ZKT_MUTEX_WITH(c, .max_waiters = MOST);
}

/* The holder does not count as a waiter. A waiter that leaves makes room for the next newcomer. */
ZKT_CASE(one_more_than_the_bound_is_refused_at_once)
{
    struct zkt_actor holder, waiters[MOST], late;
    zkr_client *c[2] = {zkt_client(zkt_servers(), SESSION_MS),
                        zkt_client(zkt_servers(), SESSION_MS)};
    zkr_mutex *m[2] = {bounded(c[0]), bounded(c[1])};
    zkt_actor_queue(&holder, c[0], m[0], NULL);
    for (int i = 0; i < MOST; i++) {
        zkt_actor_queue(&waiters[i], c[i % 2], m[i % 2], NULL);
    }
    for (int i = 0; i < 2; i++) {
        ZKT_RC(zkr_mutex_acquire(zkt_settled(m[i]), PATIENCE_MS), ZKR_EBUSY);
        assert_non_null(
            strstr(zkr_last_error()->message, "max_waiters 2 is reached at "));
        ZKT_RC(zkr_mutex_acquire(m[i], 0), ZKR_ETIMEDOUT); /* a try never waits */
    }
    ZKT_MUST(zkt_actor_end(&holder));
    ZKT_MUST(zkt_actor_acquired(&waiters[0]));
    zkt_actor_queue(&late, c[1], zkt_settled(m[1]), NULL);
    ZKT_RC(zkr_mutex_acquire(zkt_settled(m[0]), PATIENCE_MS), ZKR_EBUSY);
    for (int i = 0; i < MOST; i++) {
        zkt_actor_is_served(&waiters[i]);
    }
    zkt_actor_is_served(&late);
}

/* A waiter whose session ends queues again behind later waiters, even if the queue is full. */
ZKT_CASE(who_waited_before_is_not_refused)
{
    enum { SHORT_MS = 1000 };
    struct zkt_actor holder, waits, comes_back, late;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS),
               *d = zkt_client(zkt_proxy_host(p), SHORT_MS);
    zkr_mutex *m = bounded(c), *n = bounded(d);
    zkt_actor_queue(&holder, c, m, NULL);
    zkt_actor_queue(&comes_back, d, n, NULL);
    zkt_actor_queue(&waits, c, m, NULL);
    zkt_proxy_blackhole(p);
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    zkt_actor_queue(&late, c, m, NULL);
    zkt_proxy_heal(p);
    ZKT_BECOMES(zkt_nodes(), 4, PATIENCE_MS);
    ZKT_MUST(zkt_actor_end(&holder));
    zkt_actor_is_served(&waits);
    zkt_actor_is_served(&late);
    zkt_actor_is_served(&comes_back);
}

/* A ticket reports the same error, and leaves no node. */
ZKT_CASE(a_ticket_fails_with_the_same)
{
    struct zkt_actor holder, waiters[MOST];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = bounded(c);
    zkr_ticket *t;
    zkt_actor_queue(&holder, c, m, NULL);
    for (int i = 0; i < MOST; i++) {
        zkt_actor_queue(&waiters[i], c, m, NULL);
    }
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, NULL, NULL, &t));
    ZKT_RC(zkr_ticket_wait(t, ZKR_FOREVER), ZKR_EBUSY);
    assert_int_equal(zkr_ticket_error(t), ZKR_EBUSY);
    ZKT_MUST(zkr_ticket_destroy(t));
    ZKT_MUST(zkt_actor_end(&holder));
    for (int i = 0; i < MOST; i++) {
        zkt_actor_is_served(&waiters[i]);
    }
}
