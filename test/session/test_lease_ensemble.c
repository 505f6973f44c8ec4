/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease bound in its worst case: the client's follower is cut off from its leader, but continues to serve reads and
 * pings. Each time until which the client was sure to hold must end before the leader deletes the node.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

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
    zkt_proxy_stop(k->links[from][to]); /* from an earlier attempt */
    k->links[from][to] = zkt_proxy_start_raw(target);
    return zkt_proxy_port(k->links[from][to]);
}

static void start(struct cluster *k)
{
    memset(k, 0, sizeof(*k));
    zkt_server_options o = {.link_port = through_proxy,
                            .link_ctx = k,
                            .sync_limit = 20,
                            .max_session_ms = 2 * PATIENCE_MS};
    k->e = zkt_ensemble_start(SERVERS, &o);
    k->leader = zkt_ensemble_wait(k->e, PATIENCE_MS);
    k->follower = (k->leader + 1) % SERVERS;
    k->client =
        zkt_proxy_start(zkt_server_host(zkt_ensemble_server(k->e, k->follower)));
}

static zkt_proxy *link_of(struct cluster *k)
{
    return k->links[k->follower][k->leader];
}

static const char *host_of(struct cluster *k, int index)
{
    return zkt_server_host(zkt_ensemble_server(k->e, index));
}

/* A holder behind the follower, with its own path. An observer at the leader watches its node. */
struct hold {
    const char *path;
    int64_t idle_ms, held_ms; /* before the hold, and before the cut */
    zkr_client *c;
    zkr_mutex *m;
    zkt_raw *observer;
    int64_t claimed;
    char node[256];
};

enum { MOST = 2 };

static void prepare(struct cluster *k, struct hold *h)
{
    h->c = zkt_client(zkt_proxy_host(k->client), SESSION_MS);
    h->m = zkt_mutex_at(h->c, h->path, NULL);
    zkt_in_and_out(h->m);
}

static bool is_held(struct hold *h)
{
    return zkr_mutex_is_held(h->m) &&
           zkt_raw_exists(h->observer, h->node, true, NULL) == 0;
}

static void take(struct cluster *k, struct hold *h)
{
    ZKT_MUST(zkr_mutex_acquire(h->m, PATIENCE_MS));
    if (zkr_mutex_node(h->m, h->node, sizeof(h->node)) == ZKR_OK) {
        h->observer = zkt_raw_open(host_of(k, k->leader), 2 * PATIENCE_MS);
        (void)zkt_raw_exists(h->observer, h->node, true, NULL);
    }
}

/* Repeat this if the servers of a busy machine stood still for too long. */
static void take_all(struct cluster *k, struct hold *h, int count)
{
    int held;
    do {
        held = 0;
        for (int i = 0; i < count; i++) {
            zkt_sleep_ms(h[i].idle_ms);
            take(k, &h[i]);
            zkt_sleep_ms(h[i].held_ms);
        }
        for (int i = 0; i < count; i++) {
            held += is_held(&h[i]);
        }
        for (int i = 0; i < count && held < count; i++) {
            (void)zkr_mutex_release(h[i].m);
            if (h[i].observer) {
                zkt_raw_close(h[i].observer);
                h[i].observer = NULL;
            }
        }
    } while (held < count);
}

static bool claims(struct hold *h)
{
    int64_t left = zkr_mutex_valid_for_ms(h->m);
    int64_t until = zkt_now_ms() + left;
    h->claimed = left > 0 && until > h->claimed ? until : h->claimed;
    return left > 0;
}

/* Servers can delay the end of a session until another write arrives (ZOOKEEPER-4537). */
static bool await_end_of_node(struct hold *h)
{
    enum { LONG_MS = PATIENCE_MS / 3 };
    const zkt_node nudge = {.path = "/nudge"};
    if (zkt_raw_wait_event(h->observer, LONG_MS)) {
        return true;
    }
    print_message("no event: a write follows\n");
    (void)zkt_raw_create(h->observer, &nudge, NULL, 0);
    return zkt_raw_events(h->observer) > 0 ||
           zkt_raw_wait_event(h->observer, PATIENCE_MS - LONG_MS);
}

static void expect_node_to_end_later(struct hold *h)
{
    assert_true(h->claimed > 0);
    assert_true(await_end_of_node(h));
    int64_t deleted = zkt_now_ms();
    print_message("claimed until %lld ms before the end of the node\n",
                  (long long)(deleted - h->claimed));
    assert_true(h->claimed < deleted);
    zkt_raw_close(h->observer);
    ZKT_RC(zkr_mutex_release(h->m), ZKR_ESESSION);
}

/*
 * Hold, cut the follower off with @cut, and compare the claimed times with the ends of the nodes. The holder that is
 * idle first comes last, so that it holds no longer than planned.
 */
static void
expect_claims_to_end_in_time(struct hold *h, int count, void (*cut)(struct cluster *k))
{
    struct cluster k;
    start(&k);
    for (int i = 0; i < count; i++) {
        prepare(&k, &h[i]);
    }
    take_all(&k, h, count);
    cut(&k);
    bool some = true;
    while (some) {
        some = false;
        for (int i = 0; i < count; i++) {
            some = claims(&h[i]) || some;
        }
        zkt_sleep_ms(1);
    }
    for (int i = 0; i < count; i++) {
        assert_int_equal(zkt_raw_exists(h[i].observer, h[i].node, false, NULL), 0);
    }
    for (int i = 0; i < count; i++) {
        expect_node_to_end_later(&h[i]);
    }
    zkt_proxy_heal(link_of(&k));
    zkt_proxy_heal(k.client);
}

static void cut_both_ways(struct cluster *k)
{
    zkt_proxy_blackhole(link_of(k));
}

/* At the end of the lease, the client's delete would still reach the leader. So the client is cut off, too. */
static void cut_from_the_leader(struct cluster *k)
{
    zkt_proxy_blackhole(k->client);
    zkt_proxy_freeze(link_of(k), ZKT_TO_CLIENT);
}

static void cut_to_the_leader(struct cluster *k)
{
    zkt_proxy_freeze(link_of(k), ZKT_TO_SERVER);
}

/*
 * One hold is kept up by probes for a while. Another hold begins after an idle time, when only its own create proves
 * anything.
 */
ZKT_CASE(probed_and_fresh_holds_end_in_time)
{
    struct hold h[MOST] = {{.path = "/probed", .held_ms = SESSION_MS},
                           {.path = "/fresh", .idle_ms = 2 * SESSION_MS}};
    expect_claims_to_end_in_time(h, MOST, cut_both_ways);
}

/* Only one direction of the link is cut. */
ZKT_CASE(a_link_that_fails_from_the_leader_is_noticed)
{
    struct hold h = {.path = "/fresh", .idle_ms = 2 * SESSION_MS};
    expect_claims_to_end_in_time(&h, 1, cut_from_the_leader);
}

ZKT_CASE(a_link_that_fails_to_the_leader_is_noticed)
{
    struct hold h = {.path = "/held", .idle_ms = 2 * SESSION_MS, .held_ms = SESSION_MS};
    expect_claims_to_end_in_time(&h, 1, cut_to_the_leader);
}

/* The leader is frozen. The servers elect another one, where the session gets its full timeout again. */
ZKT_CASE(a_frozen_leader_costs_no_exclusion)
{
    struct cluster k;
    start(&k);
    char hosts[128];
    (void)snprintf(hosts, sizeof(hosts), "%s,%s", host_of(&k, k.follower),
                   host_of(&k, (k.leader + 2) % SERVERS));
    zkr_mutex *m = zkt_mutex(zkt_client(hosts, SESSION_MS));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_server_freeze(zkt_ensemble_server(k.e, k.leader));
    (void)zkt_latest_claim(m); /* the lease ends, because writes get no answer */
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS)); /* at the new leader */
    ZKT_MUST(zkr_mutex_release(m));
    assert_int_not_equal(zkt_ensemble_leader(k.e), k.leader);
    zkt_server_thaw(zkt_ensemble_server(k.e, k.leader));
}
