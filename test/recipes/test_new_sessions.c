/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers that give a client a new session when it connects again, and keep the old session until its timeout: nodes of
 * the old session stay in the queue, and everybody waits for them.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "fixture.h"

/* What ends with a LONG session takes longer than SOON. */
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

/* An owner that lets go of the lost hold does not wait behind it. */
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

/* zkr_client_flush() waits for the node of the lost hold as for any other that was released. */
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

/* A waiter takes its place at the tail, and only that. */
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

/* Another client holds after the time for which valid_for() promised the lost hold, and before the old session ends. */
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
 * The bound of a session that has just begun is close to its end. A quarter of the timeout later there is time between
 * the two for the new session to delete the node.
 */
enum { EARLY_MS = SHORT_MS / 4 * 3 };

/* The owner does not let go: it may act for as long as it was told. */
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

/* A release by code that acquired again tells the code outside of it nothing. */
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

/* A latch joins again by itself; what its leader was promised stands. */
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
