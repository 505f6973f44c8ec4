/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease bound against its worst case: a client of a follower that is cut off from its
 * leader but goes on serving reads and pings. Whatever the client has claimed as surely held
 * must end before the leader deletes its node.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "fourlw.h"

enum { SERVERS = 3, SESSION_MS = 2000, PATIENCE_MS = 30000 };

struct cluster {
    zkt_ensemble *e;
    zkt_proxy *links[SERVERS][SERVERS]; /* from, to */
    zkt_proxy *client;                  /* in front of the follower */
    int leader, follower;
};

static int through_proxy(void *ctx, int from, int to, int port)
{
    struct cluster *k = ctx;
    char target[32];
    (void)snprintf(target, sizeof(target), "127.0.0.1:%d", port);
    zkt_proxy_stop(k->links[from][to]); /* of an earlier try */
    k->links[from][to] = zkt_proxy_start_raw(target);
    return zkt_proxy_port(k->links[from][to]);
}

static void start(struct cluster *k)
{
    memset(k, 0, sizeof(*k));
    zkt_server_options o = {
        .link_port = through_proxy, .link_ctx = k, .sync_limit = 20};
    k->e = zkt_ensemble_start(SERVERS, &o);
    k->leader = zkt_ensemble_wait(k->e, PATIENCE_MS);
    k->follower = (k->leader + 1) % SERVERS;
    k->client =
        zkt_proxy_start(zkt_server_host(zkt_ensemble_server(k->e, k->follower)));
}

static void stop(struct cluster *k)
{
    zkt_ensemble_stop(k->e);
    zkt_proxy_stop(k->client);
    for (int i = 0; i < SERVERS * SERVERS; i++) {
        zkt_proxy_stop(k->links[i / SERVERS][i % SERVERS]);
    }
}

static zkt_proxy *link_of(struct cluster *k)
{
    return k->links[k->follower][k->leader];
}

static const char *host_of(struct cluster *k, int index)
{
    return zkt_server_host(zkt_ensemble_server(k->e, index));
}

/* Hold, cut the follower off with @cut, and compare the claim with the end of the node. */
static void expect_claim_to_end_in_time(int64_t idle_ms,
                                        int64_t held_ms,
                                        void (*cut)(struct cluster *k))
{
    struct cluster k;
    start(&k);
    zkr_client *c = zkt_client(zkt_proxy_host(k.client), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    char node[256];
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_release(m));
    zkt_sleep_ms(idle_ms);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    zkt_sleep_ms(held_ms);
    assert_true(zkr_mutex_is_held(m));
    zkt_raw *observer = zkt_raw_open(host_of(&k, k.leader), 10000);
    assert_int_equal(zkt_raw_exists(observer, node, true, NULL), 0);
    cut(&k);
    int64_t claimed = zkt_latest_claim(m);
    assert_int_equal(zkt_raw_exists(observer, node, false, NULL), 0);
    assert_true(zkt_raw_wait_event(observer, PATIENCE_MS));
    int64_t deleted = zkt_now_ms();
    print_message("claimed until %lld ms before the end of the node\n",
                  (long long)(deleted - claimed));
    assert_true(claimed < deleted);
    zkt_raw_close(observer);
    assert_int_equal(zkr_mutex_release(m), ZKR_ESESSION);
    zkt_proxy_heal(link_of(&k));
    zkt_proxy_heal(k.client);
    zkt_destroy(m);
    zkt_close(c);
    stop(&k);
}

static void cut_both_ways(struct cluster *k)
{
    zkt_proxy_blackhole(link_of(k));
}

/* Our delete at the end of the lease would still get to the leader: so the client is cut, too. */
static void cut_from_the_leader(struct cluster *k)
{
    zkt_proxy_blackhole(k->client);
    zkt_proxy_freeze(link_of(k), ZKT_TO_CLIENT);
}

static void cut_to_the_leader(struct cluster *k)
{
    zkt_proxy_freeze(link_of(k), ZKT_TO_SERVER);
}

/* A hold kept up by probes for a while. */
static void a_probed_hold_ends_in_time(void **state)
{
    (void)state;
    expect_claim_to_end_in_time(0, 3 * SESSION_MS, cut_both_ways);
}

/* A hold won at once after an idle time, when there is nothing but its own create to go by. */
static void a_fresh_hold_ends_in_time(void **state)
{
    (void)state;
    expect_claim_to_end_in_time(2 * SESSION_MS, 0, cut_both_ways);
}

/* The same with one direction of the link only. */
static void a_link_that_fails_one_way_is_noticed(void **state)
{
    (void)state;
    expect_claim_to_end_in_time(2 * SESSION_MS, 0, cut_from_the_leader);
    expect_claim_to_end_in_time(2 * SESSION_MS, SESSION_MS, cut_to_the_leader);
}

/* A leader that is frozen: another is elected, and the session goes on with full time. */
static void a_frozen_leader_costs_no_exclusion(void **state)
{
    (void)state;
    struct cluster k;
    start(&k);
    char hosts[128];
    (void)snprintf(hosts, sizeof(hosts), "%s,%s", host_of(&k, k.follower),
                   host_of(&k, (k.leader + 2) % SERVERS));
    zkr_client *c = zkt_client(hosts, SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_server_freeze(zkt_ensemble_server(k.e, k.leader));
    (void)zkt_latest_claim(m); /* runs out: nobody answers writes */
    assert_int_equal(zkr_mutex_release(m), ZKR_ESESSION);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS)); /* of the new leader */
    ZKT_MUST(zkr_mutex_release(m));
    zkt_server_thaw(zkt_ensemble_server(k.e, k.leader));
    zkt_destroy(m);
    zkt_close(c);
    stop(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ZKT_TEST(a_probed_hold_ends_in_time),
        ZKT_TEST(a_fresh_hold_ends_in_time),
        ZKT_TEST(a_link_that_fails_one_way_is_noticed),
        ZKT_TEST(a_frozen_leader_costs_no_exclusion),
    };
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}
