/* SPDX-License-Identifier: Apache-2.0 */
/* The lease on one server: limits that change at a restart, pauses, options, nudges. */
#include <pthread.h>
#include <stdatomic.h>

#include "fixture.h"

enum { TICK_MS = 500, LONG_MS = 8000, SHORT_MS = 2000, PATIENCE_MS = 30000 };

/* A holder behind a proxy. */
struct hold {
    zkt_proxy *proxy;
    zkr_client *c;
    zkr_mutex *m;
};

static struct hold take_hold(const char *host, int64_t session_ms)
{
    struct hold h = {.proxy = zkt_proxy_start(host)};
    h.c = zkt_client(zkt_proxy_host(h.proxy), session_ms);
    h.m = zkt_mutex(h.c);
    ZKT_MUST(zkr_mutex_acquire(h.m, PATIENCE_MS));
    return h;
}

static void end_hold(struct hold *h)
{
    zkt_proxy_heal(h->proxy);
    zkt_destroy(h->m);
    zkt_close(h->c);
    zkt_proxy_stop(h->proxy);
}

/* Cut the holder off: what it claims must end before its node does. */
static void expect_claim_to_end_in_time(struct hold *h, const char *host)
{
    char node[256];
    ZKT_MUST(zkr_mutex_node(h->m, node, sizeof(node)));
    zkt_raw *observer = zkt_raw_open(host, 2 * PATIENCE_MS);
    assert_int_equal(zkt_raw_exists(observer, node, true, NULL), 0);
    zkt_proxy_blackhole(h->proxy);
    int64_t claimed = zkt_latest_claim(h->m);
    assert_true(zkt_raw_wait_event(observer, PATIENCE_MS));
    assert_true(claimed < zkt_now_ms());
    zkt_raw_close(observer);
    assert_int_equal(zkr_mutex_release(h->m), ZKR_ESESSION);
}

static int64_t probes_of(zkr_client *c)
{
    zkr_stats stats;
    ZKT_MUST(zkr_client_stats(c, &stats, sizeof(stats)));
    return stats.probes;
}

/* Hold at the leader, and come to a follower that has started again with another limit. */
static void expect_timeout_to_change(int before_ms, int after_ms)
{
    const zkt_server_options o = {.tick_ms = TICK_MS,
                                  .max_session_ms = 2 * PATIENCE_MS};
    zkt_ensemble *e = zkt_ensemble_start(3, &o);
    int leader = zkt_ensemble_wait(e, PATIENCE_MS);
    zkt_server *follower = zkt_ensemble_server(e, (leader + 1) % 3);
    const char *host = zkt_server_host(zkt_ensemble_server(e, leader));
    zkt_server_kill(follower);
    zkt_server_limits(follower, after_ms, after_ms);
    zkt_server_restart(follower, false);
    struct hold h = take_hold(host, before_ms);
    assert_int_equal(zkr_client_session_timeout_ms(h.c), before_ms);
    zkt_proxy_target(h.proxy, zkt_server_host(follower));
    zkt_proxy_drop_connections(h.proxy);
    ZKT_EVENTUALLY(zkr_client_session_timeout_ms(h.c) == after_ms, PATIENCE_MS);
    int64_t valid = zkr_mutex_valid_for_ms(h.m);
    assert_true(valid > 0 && valid <= after_ms);
    if (after_ms > before_ms) { /* probes alone give three quarters at the most */
        int64_t moved = zkt_now_ms();
        ZKT_EVENTUALLY(zkt_now_ms() > moved + before_ms &&
                           zkr_mutex_valid_for_ms(h.m) > before_ms * 3 / 4,
                       PATIENCE_MS);
    }
    /* Until the leader surely counts with it: a request of the old connection may be late. */
    int64_t probes = probes_of(h.c);
    ZKT_EVENTUALLY(probes_of(h.c) > probes + 3, PATIENCE_MS);
    expect_claim_to_end_in_time(&h, host);
    end_hold(&h);
    zkt_ensemble_stop(e);
}

/* A server with a smaller limit shortens the session, and the lease of the hold with it. */
static void a_shorter_session_timeout_is_told_and_counts(void **state)
{
    (void)state;
    expect_timeout_to_change(2 * LONG_MS, LONG_MS / 2);
}

/* A larger limit lengthens both. */
static void a_longer_session_timeout_is_told_and_counts(void **state)
{
    (void)state;
    expect_timeout_to_change(LONG_MS * 3 / 4, LONG_MS);
}

/*
 * The servers stand still for a good part of the session timeout: the hold is none the worse for it.
 * 0.45 is promised, and shown by unit.lease; a busy machine needs some of that.
 */
enum { PAUSED_MS = 10000 };

static void pause_all(zkt_server *const *servers, int count, zkr_mutex *held)
{
    for (int i = 0; i < count; i++) {
        zkt_server_freeze(servers[i]);
    }
    zkt_sleep_ms(PAUSED_MS * 40 / 100);
    for (int i = 0; i < count; i++) {
        zkt_server_thaw(servers[i]);
    }
    assert_true(zkr_mutex_is_held(held));
    ZKT_EVENTUALLY(zkr_mutex_valid_for_ms(held) > PAUSED_MS / 2, PATIENCE_MS);
    assert_true(zkr_mutex_is_held(held));
}

/* Whenever that begins. */
static void a_pause_of_the_server_loses_nothing(void **state)
{
    (void)state;
    enum { PAUSES = 3 };
    zkt_server *server = zkt_server_start(NULL);
    struct hold h = take_hold(zkt_server_host(server), PAUSED_MS);
    for (int i = 0; i < PAUSES; i++) {
        /* What the opening of the session proved is over; at different phases of the probing. */
        zkt_sleep_ms(PAUSED_MS / 2 + i * PAUSED_MS / 40);
        pause_all(&server, 1, h.m);
    }
    ZKT_MUST(zkr_mutex_release(h.m));
    end_hold(&h);
    zkt_server_stop(server);
}

/* Of the follower that the client is connected to, of all servers. */
static void a_pause_of_an_ensemble_loses_nothing(void **state)
{
    (void)state;
    const zkt_server_options o = {.sync_limit = 20};
    zkt_ensemble *e = zkt_ensemble_start(3, &o);
    int leader = zkt_ensemble_wait(e, PATIENCE_MS);
    zkt_server *servers[3];
    for (int i = 0; i < 3; i++) { /* the leader comes last */
        servers[i] = zkt_ensemble_server(e, (leader + 1 + i) % 3);
    }
    struct hold h = take_hold(zkt_server_host(servers[0]), PAUSED_MS);
    zkt_sleep_ms(PAUSED_MS / 2);
    pause_all(servers, 1, h.m);
    pause_all(servers, 3, h.m);
    ZKT_MUST(zkr_mutex_release(h.m));
    end_hold(&h);
    zkt_ensemble_stop(e);
}

static zkr_client *open_with(const zkr_client_options *o)
{
    return zkt_client_with(zkt_servers(), o);
}

/* Without the stopgap a hold after an idle time is proven by three writes before it is told. */
static void without_the_stopgap_a_hold_is_proven_first(void **state)
{
    (void)state;
    for (int strict = 0; strict <= 1; strict++) {
        zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
        o.session_timeout_ms = SHORT_MS;
        o.lease_no_stopgap = strict;
        zkr_client *c = open_with(&o);
        zkr_mutex *m = zkt_mutex(c);
        ZKT_EVENTUALLY(zkr_client_valid_for_ms(c) == 0, PATIENCE_MS);
        int64_t begun = zkt_now_ms();
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        int64_t took = zkt_now_ms() - begun;
        assert_true(zkr_mutex_is_held(m));
        assert_true(!strict || took >= SHORT_MS / 4);
        ZKT_MUST(zkr_mutex_release(m));
        zkt_destroy(m);
        zkt_close(c);
    }
}

/* Who knows the tick of the servers has more of the lease, and asks for two ticks at least. */
static void a_known_tick_makes_the_lease_longer(void **state)
{
    (void)state;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = LONG_MS;
    o.server_tick_ms = TICK_MS;
    zkr_client *c = open_with(&o);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    int64_t opened = zkt_now_ms();
    /* What the opening of the session proved is over by then. */
    ZKT_EVENTUALLY(zkt_now_ms() > opened + LONG_MS / 2 &&
                       zkr_mutex_valid_for_ms(m) > LONG_MS * 4 / 5,
                   PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_destroy(m);
    zkt_close(c);

    o.session_timeout_ms = 2 * TICK_MS - 1;
    assert_int_equal(zkr_client_open(&c, zkt_servers(), &o), ZKR_EINVAL);
    o.session_timeout_ms = LONG_MS;
    o.lease_margin_ppm = 500001;
    assert_int_equal(zkr_client_open(&c, zkt_servers(), &o), ZKR_EINVAL);
}

/* A wider margin for clocks makes it shorter. */
static void a_wider_margin_makes_the_lease_shorter(void **state)
{
    (void)state;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = LONG_MS;
    o.lease_margin_ppm = 500000;
    zkr_client *c = open_with(&o);
    assert_true(zkr_client_valid_for_ms(c) <= LONG_MS / 2);
    zkt_close(c);
}

/* --- nudges --- */

enum { OP_EXISTS = 3 };

static void count_exists(void *ctx, int n, int op)
{
    (void)n;
    if (op == OP_EXISTS) {
        atomic_fetch_add((atomic_int *)ctx, 1);
    }
}

static void *acquire(void *m)
{
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_release(m));
    return NULL;
}

/*
 * Servers can forget a write until something else arrives (ZOOKEEPER-4537): a request that waits for
 * some usual round trips is followed by a read, long before the tenth of a session.
 */
static void a_request_that_waits_is_nudged_soon(void **state)
{
    (void)state;
    enum { S_MS = 20000 };
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(proxy), S_MS);
    zkr_mutex *m = zkt_mutex(c);
    acquire(m); /* what is usual */
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    atomic_int nudges = 0;
    zkt_proxy_on_request(proxy, count_exists, &nudges);
    zkt_proxy_freeze(proxy, ZKT_TO_CLIENT);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, acquire, m), 0);
    ZKT_EVENTUALLY(atomic_load(&nudges) > 0, S_MS / 20);
    zkt_proxy_thaw(proxy, ZKT_TO_CLIENT);
    assert_int_equal(pthread_join(thread, NULL), 0);
    zkt_proxy_on_request(proxy, NULL, NULL);
    /* Each is twice as patient as the one before. */
    assert_true(atomic_load(&nudges) < 10);
    zkt_destroy(m);
    zkt_close(c);
    zkt_proxy_stop(proxy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ZKT_TEST(a_shorter_session_timeout_is_told_and_counts),
        ZKT_TEST(a_longer_session_timeout_is_told_and_counts),
        ZKT_TEST(a_pause_of_the_server_loses_nothing),
        ZKT_TEST(a_pause_of_an_ensemble_loses_nothing),
        ZKT_TEST(without_the_stopgap_a_hold_is_proven_first),
        ZKT_TEST(a_known_tick_makes_the_lease_longer),
        ZKT_TEST(a_wider_margin_makes_the_lease_shorter),
        ZKT_TEST(a_request_that_waits_is_nudged_soon),
    };
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}
