/* SPDX-License-Identifier: Apache-2.0 */
/* The lease: session timeouts that change with the server, options, nudges. */
#include <pthread.h>
#include <stdatomic.h>

#include "fixture.h"

enum { TICK_MS = 500, PATIENCE_MS = 30000 };

/* --- another limit --- */

/* A holder behind a proxy that moves it to a server with another limit. */
struct move {
    int before_ms, after_ms;
    const char *host; /* the first server: the leader */
    zkt_server *to;
    zkt_proxy *proxy;
    zkr_client *c;
    zkr_mutex *m;
    zkt_raw *observer; /* waits for the end of the node */
    int64_t probes;
};

static void begin(struct move *v)
{
    const zkt_server_options o = {.tick_ms = TICK_MS,
                                  .max_session_ms = 2 * PATIENCE_MS};
    zkt_ensemble *e = zkt_ensemble_start(3, &o);
    int leader = zkt_ensemble_wait(e, PATIENCE_MS);
    v->host = zkt_server_host(zkt_ensemble_server(e, leader));
    v->to = zkt_ensemble_server(e, (leader + 1) % 3);
    zkt_server_kill(v->to);
    zkt_server_limits(v->to, v->after_ms, v->after_ms);
    zkt_server_restart(v->to, false);
    v->proxy = zkt_proxy_start(v->host);
    v->c = zkt_client(zkt_proxy_host(v->proxy), v->before_ms);
    v->m = zkt_mutex_at(v->c, "/shorter", NULL);
    ZKT_MUST(zkr_mutex_acquire(v->m, PATIENCE_MS));
    assert_int_equal(zkr_client_session_timeout_ms(v->c), v->before_ms);
}

/*
 * Hold until @enough. Servers of a busy machine may stand still for longer than a short session lasts. In this case,
 * acquire again.
 */
static void hold_until(struct move *v, bool (*enough)(struct move *v))
{
    const int64_t end = zkt_now_ms() + PATIENCE_MS;
    while (!enough(v)) {
        assert_true(zkt_now_ms() < end);
        if (!zkr_mutex_is_held(v->m)) {
            ZKT_RC(zkr_mutex_release(v->m), ZKR_ESESSION);
            ZKT_MUST(zkr_mutex_acquire(v->m, PATIENCE_MS));
        }
        zkt_sleep_ms(2);
    }
}

static bool is_told(struct move *v)
{
    int64_t valid = zkr_mutex_valid_for_ms(v->m);
    return zkr_client_session_timeout_ms(v->c) == v->after_ms && valid > 0 &&
           valid <= v->after_ms;
}

static void move_it(struct move *v)
{
    zkt_proxy_target(v->proxy, zkt_server_host(v->to));
    zkt_proxy_drop_connections(v->proxy);
    hold_until(v, is_told);
}

/* Returns whether the leader surely uses the new timeout. The first requests may still belong to the old connection. */
static bool is_probed(struct move *v)
{
    return zkt_stats(v->c).probes > v->probes + 3;
}

/* Let an observer at the leader watch the node. Returns whether the node exists and the lock is held. */
static bool is_watched(struct move *v)
{
    char node[256];
    if (zkr_mutex_node(v->m, node, sizeof(node)) != ZKR_OK) {
        return false;
    }
    v->observer = v->observer ? v->observer : zkt_raw_open(v->host, 2 * PATIENCE_MS);
    return zkt_raw_exists(v->observer, node, true, NULL) == 0 &&
           zkr_mutex_is_held(v->m);
}

/*
 * With a smaller limit, the session and the lease get shorter. If the holder is cut off, its lease ends before its node
 * is deleted. For a larger limit, see test_lease_growth.c.
 */
ZKT_CASE(a_shorter_session_timeout_is_told_and_counts)
{
    struct move v = {.before_ms = 16000, .after_ms = 4000};
    begin(&v);
    move_it(&v);
    v.probes = zkt_stats(v.c).probes;
    hold_until(&v, is_probed);
    hold_until(&v, is_watched);
    zkt_proxy_blackhole(v.proxy);
    int64_t claimed = zkt_latest_claim(v.m);
    assert_true(zkt_raw_wait_event(v.observer, PATIENCE_MS));
    assert_true(claimed < zkt_now_ms());
    zkt_raw_close(v.observer);
    ZKT_RC(zkr_mutex_release(v.m), ZKR_ESESSION);
    zkt_proxy_heal(v.proxy);
}

/* --- options --- */

/* Without the stopgap, a hold after an idle time is proved by three writes before it begins. */
ZKT_CASE(without_the_stopgap_a_hold_is_proven_first)
{
    /* The opening of a session would be proof enough. The timeout is long enough to keep the session on a busy machine.
       */
    enum { SHORT_MS = 6000 };
    zkr_client *c[2];
    for (int strict = 0; strict <= 1; strict++) {
        zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
        o.session_timeout_ms = SHORT_MS;
        o.lease_no_stopgap = strict;
        c[strict] = zkt_client_with(zkt_servers(), &o);
    }
    for (int strict = 0; strict <= 1; strict++) {
        zkr_mutex *m = zkt_mutex(c[strict]);
        /* The remaining milliseconds are rounded down. */
        zkt_sleep_ms(zkr_client_valid_for_ms(c[strict]) + 1);
        int64_t begun = zkt_now_ms();
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        int64_t took = zkt_now_ms() - begun;
        assert_true(zkr_mutex_is_held(m));
        assert_true(!strict || took >= SHORT_MS / 4);
        ZKT_MUST(zkr_mutex_release(m));
    }
}

/* A client that knows the tick of the servers has a longer lease, and requests at least two ticks. */
ZKT_CASE(a_known_tick_makes_the_lease_longer)
{
    enum { S_MS = 4000 };
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = S_MS;
    o.server_tick_ms = TICK_MS;
    zkr_mutex *m = zkt_mutex(zkt_client_with(zkt_servers(), &o));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    int64_t opened = zkt_now_ms();
    /* By then, the proof from the opening of the session has ended. */
    ZKT_EVENTUALLY(zkt_now_ms() > opened + S_MS / 2 &&
                       zkr_mutex_valid_for_ms(m) > S_MS * 4 / 5,
                   PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(m));
}

/* --- slow answers --- */

/*
 * Answers take almost an eighth of the session timeout. A hold that begins late in a session, when the bound would end
 * before the next proof, is proved first. Then the client keeps the hold.
 */
ZKT_CASE(a_hold_with_slow_answers_begins_when_it_can_be_kept)
{
    enum { S_MS = 8000, DELAY_MS = S_MS * 11 / 100, LEFT_MS = 3000 };
    const zkt_server_options o = {.tick_ms = TICK_MS};
    zkt_proxy *proxy = zkt_proxy_start(zkt_server_host(zkt_server_start(&o)));
    zkt_proxy_delay(proxy, ZKT_TO_CLIENT, DELAY_MS);
    zkr_client *c = zkt_client(zkt_proxy_host(proxy), S_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_EVENTUALLY(zkr_client_valid_for_ms(c) <= LEFT_MS, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_sleep_ms(3 * S_MS / 2);
    assert_true(zkr_mutex_is_held(m));
    ZKT_MUST(zkr_mutex_release(m));
    zkt_proxy_heal(proxy);
}

/* --- options, again --- */

ZKT_CASE(a_wider_margin_makes_the_lease_shorter)
{
    enum { S_MS = 8000 };
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = S_MS;
    o.lease_margin_ppm = 500000;
    assert_true(zkr_client_valid_for_ms(zkt_client_with(zkt_servers(), &o)) <=
                S_MS / 2);
}

/* --- nudges --- */

static void count_exists(void *ctx, int n, int op)
{
    enum { OP_EXISTS = 3 };
    atomic_fetch_add((atomic_int *)ctx, op == OP_EXISTS);
}

static void *acquire(void *m)
{
    zkt_in_and_out(m);
    return NULL;
}

/*
 * Servers can forget a write until something else arrives (ZOOKEEPER-4537): a request that waits for
 * some usual round trips is followed by a read, long before the tenth of a session.
 */
ZKT_CASE(a_request_that_waits_is_nudged_soon)
{
    enum { S_MS = 60000 };
    const zkt_server_options o = {.max_session_ms = S_MS};
    zkt_server *server = zkt_server_start(&o);
    zkt_proxy *proxy = zkt_proxy_start(zkt_server_host(server));
    zkr_client *c = zkt_client(zkt_proxy_host(proxy), S_MS);
    zkr_mutex *m = zkt_mutex(c);
    acquire(m); /* the client measures a usual round trip */
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
    /* Each nudge waits twice as long as the one before. */
    assert_true(atomic_load(&nudges) < 10);
}
