/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "clean.h"
#include "fourlw.h"
#include "proxy.h"
#include "raw.h"
#include "runner.h"
#include "server.h"
#include "util.h"

/* With $ZKR_SERVERS the shared server is the one named there, and not ours to judge. */
static void shared_server_may_be_given(void **state)
{
    (void)state;
    zkt_server *s = zkt_server_start(NULL);
    char *old = getenv("ZKR_SERVERS");
    char *kept = old != NULL ? strdup(old) : NULL;
    char hosts[64];
    char why[1024];

    (void)snprintf(hosts, sizeof hosts, "%s/base", zkt_server_host(s));
    assert_int_equal(setenv("ZKR_SERVERS", hosts, 1), 0);
    assert_string_equal(zkt_servers(), hosts);
    assert_false(zkt_servers_private());
    assert_int_equal(zkt_create_path(zkt_server_host(s), "/base"), ZKT_OK);

    zkt_baseline();
    zkt_raw *c = zkt_raw_open(hosts, 8000);
    assert_int_equal(
        zkt_raw_create(c, &(zkt_node){.path = "/a", .flags = ZKT_EPHEMERAL}, NULL, 0),
        ZKT_OK);
    assert_true(zkt_exists(zkt_server_host(s), "/base/a"));
    assert_false(zkt_is_clean(hosts, "/", why, sizeof why));
    assert_null(strstr(why, "error"));
    assert_int_equal(zkt_ephemerals_under(hosts, "/a"), 1);
    assert_int_equal(zkt_ephemerals_under(hosts, "/b"), 0);
    assert_int_equal(zkt_raw_close(c), ZKT_OK);
    assert_int_equal(zkt_group_teardown(NULL), 0);

    if (kept != NULL) {
        (void)setenv("ZKR_SERVERS", kept, 1);
    } else {
        (void)unsetenv("ZKR_SERVERS");
    }
    free(kept);
    zkt_server_stop(s);
}

typedef struct links {
    zkt_proxy *proxy[3][3];
} links;

static int link_through_proxy(void *ctx, int from, int to, int port)
{
    links *l = ctx;
    char target[32];

    (void)snprintf(target, sizeof target, "127.0.0.1:%d", port);
    if (l->proxy[from][to] == NULL) {
        l->proxy[from][to] = zkt_proxy_start_raw(target);
    } else {
        zkt_proxy_target(l->proxy[from][to], target);
    }
    return zkt_proxy_port(l->proxy[from][to]);
}

/* A cut link between one follower and the leader puts that follower out of the quorum. */
static void cut_off(const zkt_ensemble *e, const links *l, int leader)
{
    const int follower = (leader + 1) % 3;
    const char *host = zkt_server_host(zkt_ensemble_server(e, follower));

    assert_int_equal(zkt_mode(host), ZKT_MODE_FOLLOWER);
    assert_true(zkt_proxy_counters(l->proxy[follower][leader]).open > 0);
    zkt_proxy_cut(l->proxy[follower][leader]);
    ZKT_BECOMES(zkt_mode(host), ZKT_MODE_NONE, 10000);
    assert_int_equal(zkt_ensemble_leader(e), leader);
    zkt_proxy_heal(l->proxy[follower][leader]);
    ZKT_BECOMES(zkt_mode(host), ZKT_MODE_FOLLOWER, 15000);
}

/* A one-shot returns when a server that lags has applied it, too. */
static void
one_shot_is_seen_everywhere(const zkt_ensemble *e, const links *l, int leader)
{
    const int follower = leader == 1 ? 2 : 1; /* not the first, which is asked */
    zkt_raw *s = zkt_raw_open(zkt_server_host(zkt_ensemble_server(e, follower)), 5000);

    assert_non_null(s);
    zkt_proxy_delay(l->proxy[follower][leader], ZKT_TO_CLIENT, 100);
    assert_int_equal(zkt_create(zkt_ensemble_hosts(e), "/seen", "", 0), 0);
    assert_int_equal(zkt_raw_exists(s, "/seen", false, NULL), 0);
    zkt_proxy_heal(l->proxy[follower][leader]);
    assert_int_equal(zkt_raw_close(s), ZKT_OK);
}

/* Links can be cut, and slow, one by one. */
static void links_of_an_ensemble_are_apart(void **state)
{
    (void)state;
    links l = {0};
    const zkt_server_options o = {.link_port = link_through_proxy, .link_ctx = &l};
    zkt_ensemble *e = zkt_ensemble_start(3, &o);
    const int leader = zkt_ensemble_wait(e, 10000);
    assert_int_equal(zkt_ensemble_size(e), 3);
    assert_int_equal(zkt_ensemble_leader(e), leader);
    one_shot_is_seen_everywhere(e, &l, leader);
    cut_off(e, &l, leader);
    zkt_ensemble_stop(e);
    for (int i = 0; i < 9; i++) {
        zkt_proxy_stop(l.proxy[i / 3][i % 3]);
    }
}

static int before_each(void **state)
{
    (void)state;
    zkt_baseline();
    return 0;
}

static int after_each(void **state)
{
    (void)state;
    zkt_check_clean(NULL);
    return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, before_each, after_each)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(shared_server_may_be_given),
        TEST(links_of_an_ensemble_are_apart),
    };
    return zkt_run(argc, argv, tests, NULL, NULL);
}
