/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers that give a client a new session when it reconnects, and keep the old session until its timeout. Nodes of the
 * old session stay in the queue, and all contenders wait for them.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "fixture.h"

/* Whatever ends with a LONG session takes longer than SOON. */
enum { LONG_MS = 20000, SHORT_MS = 6000, SOON_MS = 8000, PATIENCE_MS = 60000 };

static atomic_int replaced;

static void count_replaced(int level, const char *line, void *ctx)
{
    replaced += level == ZKR_LOG_WARN && strstr(line, "event=session_replaced ");
}

static zkr_client *client_through(zkt_proxy **p, int64_t session_ms)
{
    *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_habits(*p, ZKR_TEST_NEW_SESSIONS);
    atomic_store(&replaced, 0);
    return ZKT_CLIENT_WITH(zkt_proxy_host(*p), .session_timeout_ms = session_ms,
                           .log = count_replaced);
}

static void get_new_session(zkr_client *c, zkt_proxy *p)
{
    int64_t before = zkt_stats(c).sessions;
    zkt_proxy_drop_connections(p);
    ZKT_BECOMES(zkt_stats(c).sessions, before + 1, SOON_MS);
}

/* An owner that releases the lost hold does not wait for its old node. */
ZKT_CASE(a_holder_that_lets_go_is_not_in_its_own_way)
{
    zkt_proxy *p;
    zkr_client *c = client_through(&p, LONG_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    get_new_session(c, p);
    assert_int_equal(zkt_nodes(), 1);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    ZKT_MUST(zkr_mutex_acquire(m, SOON_MS));
    assert_int_equal(zkt_nodes(), 1);
    ZKT_BECOMES(replaced, 1, SOON_MS);
    ZKT_MUST(zkr_mutex_release(m));
}

/* zkr_client_flush() waits for the node of the lost hold as for the node of any released hold. */
ZKT_CASE(a_flush_waits_for_the_node_of_a_lost_hold)
{
    zkt_proxy *p;
    zkr_client *c = client_through(&p, LONG_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_proxy_cut(p);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, SOON_MS);
    zkt_proxy_heal(p);
    ZKT_BECOMES(zkr_mutex_is_held(m), 0, SOON_MS);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    ZKT_MUST(zkr_client_flush(c, SOON_MS));
    assert_int_equal(zkt_nodes(), 0);
}

/* A waiter queues again at the tail, and leaves its old place. */
ZKT_CASE(a_waiter_stands_in_the_queue_once)
{
    zkt_proxy *p;
    struct zkt_actor waiter;
    zkr_client *c = client_through(&p, LONG_MS);
    zkr_mutex *held = zkt_mutex(zkt_client(zkt_servers(), LONG_MS));
    ZKT_MUST(zkr_mutex_acquire(held, PATIENCE_MS));
    zkt_actor_queue(&waiter, c, zkt_mutex(c), NULL);
    get_new_session(c, p);
    ZKT_BECOMES(replaced, 1, SOON_MS);
    ZKT_BECOMES(zkt_nodes(), 2, SOON_MS);
    ZKT_MUST(zkr_mutex_release(held));
    zkt_actor_is_served(&waiter);
}

/*
 * Check that another client is granted after the time that valid_for() promised for the lost hold, and before the old
 * session ends.
 */
static void
expect_to_be_kept_until(zkr_mutex *m, int64_t until, struct zkt_actor *other)
{
    while (zkt_now_ms() < until) {
        int acquired = atomic_load(&other->acquired);
        if (acquired != ZKT_NOT_YET && zkt_now_ms() < until) {
            zkt_fail("another client holds within the time that was promised");
        }
        zkt_sleep_ms(5);
    }
    assert_int_equal(zkr_mutex_is_held(m), 0);
    assert_int_equal(zkt_actor_acquired(other), ZKR_OK);
    ZKT_BECOMES(replaced, 1, SOON_MS);
    ZKT_MUST(zkt_actor_end(other));
}

static void lose(zkr_client *c, zkt_proxy *p, struct zkt_actor *other)
{
    zkr_client *direct = zkt_client(zkt_servers(), SHORT_MS);
    zkt_actor_queue(other, direct, zkt_mutex(direct), NULL);
    get_new_session(c, p);
}

/*
 * At first, the lease of a new session ends close to the session itself. A quarter of the timeout later, the new
 * session has time to delete the node between the two.
 */
enum { EARLY_MS = SHORT_MS / 4 * 3 };

/* The owner does not release, because it may rely on the hold for the promised time. */
ZKT_CASE(a_hold_lasts_as_long_as_it_was_promised)
{
    zkt_proxy *p;
    struct zkt_actor other;
    zkr_client *c = client_through(&p, SHORT_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_EVENTUALLY(zkr_mutex_valid_for_ms(m) < EARLY_MS, PATIENCE_MS);
    int64_t until = zkt_now_ms() + zkr_mutex_valid_for_ms(m);
    lose(c, p, &other);
    expect_to_be_kept_until(m, until, &other);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
}

/* An inner release does not end the hold, because the outer code does not learn of it. */
ZKT_CASE(an_inner_release_does_not_let_go)
{
    zkt_proxy *p;
    struct zkt_actor other;
    zkr_client *c = client_through(&p, SHORT_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_EVENTUALLY(zkr_mutex_valid_for_ms(m) < EARLY_MS, PATIENCE_MS);
    int64_t until = zkt_now_ms() + zkr_mutex_valid_for_ms(m);
    lose(c, p, &other);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    expect_to_be_kept_until(m, until, &other);
}

/* A latch joins again automatically, and the promised time of its leadership still counts. */
ZKT_CASE(a_latch_does_not_let_go_by_itself)
{
    zkt_proxy *p;
    struct zkt_actor other;
    zkr_leader_latch *l = NULL;
    zkr_client *c = client_through(&p, SHORT_MS);
    ZKT_MUST(zkr_leader_latch_create(&l, c, zkt_path(), "candidate", NULL));
    ZKT_MUST(zkr_leader_latch_start(l));
    ZKT_BECOMES(zkr_leader_latch_state(l), ZKR_LATCH_LEADING, PATIENCE_MS);
    zkr_client *direct = zkt_client(zkt_servers(), SHORT_MS);
    zkr_mutex *m = zkt_mutex(direct);
    zkt_actor_queue(&other, direct, m, NULL);
    ZKT_EVENTUALLY(zkr_leader_latch_valid_for_ms(l) < EARLY_MS, PATIENCE_MS);
    int64_t until = zkt_now_ms() + zkr_leader_latch_valid_for_ms(l);
    get_new_session(c, p);
    expect_to_be_kept_until(m, until, &other);
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
    ZKT_MUST(zkr_leader_latch_destroy(l));
}
