/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the code that the tests share, on a server of this program. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "fourlw.h"

enum { SESSION_MS = 4000 };

/* Opens a session on an existing path. */
static zkt_raw *open_session(void)
{
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), ZKT_OK);
    zkt_raw *s = zkt_raw_open(zkt_servers(), SESSION_MS);
    assert_non_null(s);
    return s;
}

static int make_ephemeral(zkt_raw *s)
{
    const zkt_node node = {.path = zkt_child("e"), .flags = ZKT_EPHEMERAL};
    return zkt_raw_create(s, &node, NULL, 0);
}

/* ---- raw and four-letter words ----------------------------------------------------- */

/* The server's counts of watches, ephemeral nodes and packets are read. */
ZKT_CASE(server_counts_are_read)
{
    const char *hosts = zkt_servers(), *path = zkt_path();
    char text[16];
    assert_true(zkt_4lw(hosts, "ruok", text, sizeof text) == 4);
    assert_string_equal(text, "imok");
    assert_true(zkt_mode(hosts) != ZKT_MODE_NONE);
    assert_int_equal(zkt_mntr(hosts, "zk_no_such_key"), -1);

    zkt_raw *s = open_session();
    const int64_t received = zkt_cons_received(hosts, zkt_raw_id(s));
    const int64_t watches = zkt_watch_count(hosts);
    assert_int_equal(received, 1);
    assert_int_equal(make_ephemeral(s), ZKT_OK);
    assert_int_equal(zkt_raw_exists(s, zkt_child("e"), true, NULL), ZKT_OK);
    assert_int_equal(zkt_cons_received(hosts, zkt_raw_id(s)), received + 2);
    assert_true(zkt_cons_sent(hosts, zkt_raw_id(s)) >= 2);
    assert_int_equal(zkt_watch_count(hosts), watches + 1);
    assert_int_equal(zkt_watches_under(hosts, path), 1);
    assert_int_equal(zkt_watches_under(hosts, zkt_child("e")), 1);
    assert_int_equal(zkt_watches_under(hosts, zkt_child("")), 1);
    assert_int_equal(zkt_watches_under(hosts, "/t/none"), 0);
    assert_int_equal(zkt_ephemerals_under(hosts, path), 1);
    assert_true(zkt_ephemerals(hosts) >= 1);
    assert_true(zkt_connections(hosts) >= 1);

    assert_int_equal(zkt_delete(hosts, zkt_child("e")), ZKT_OK);
    assert_true(zkt_raw_wait_event(s, 5000));
    assert_int_equal(zkt_raw_events(s), 1);
    const int64_t id = zkt_raw_id(s);
    assert_int_equal(zkt_raw_close(s), ZKT_OK);
    ZKT_BECOMES(zkt_cons_received(hosts, id), -1, 5000);
}

/* ---- clean ------------------------------------------------------------------------- */

static void *wait_for_byte(void *arg)
{
    (void)zkt_get_byte(*(int *)arg, 10000);
    return NULL;
}

static bool says(const char *words)
{
    char why[4096];
    return !zkt_is_clean(zkt_servers(), zkt_path(), why, sizeof why) &&
           strstr(why, words) != NULL;
}

static int child_hangs(void *arg)
{
    zkt_sleep_ms(60000);
    return 0;
}

/* A thread, a descriptor and a process left behind are reported, and only while they exist. */
ZKT_CASE(what_a_process_leaves_is_reported)
{
    pthread_t thread;
    int fd[2];

    zkt_pipe(fd);
    assert_true(says("descriptors: "));
    assert_true(says("(pipe:["));
    assert_false(says("threads: "));
    assert_int_equal(pthread_create(&thread, NULL, wait_for_byte, &fd[0]), 0);
    assert_true(says("threads: "));
    zkt_put_byte(fd[1], 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    ZKT_EVENTUALLY(!says("threads: "), 5000);
    zkt_pipe_close(fd);

    pid_t pid = zkt_fork(child_hangs, NULL);
    assert_true(says("child processes: "));
    assert_int_equal(zkt_join(pid, 0), -1);
}

/* A child, a watch and an ephemeral node left behind are reported. */
ZKT_CASE(what_a_session_leaves_is_reported)
{
    zkt_raw *s = open_session();
    zkt_baseline(); /* includes the socket */
    zkt_check_clean(zkt_path());
    assert_int_equal(zkt_create(zkt_servers(), zkt_child("kept"), "", 0), ZKT_OK);
    assert_true(says("1: kept"));
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), ZKT_OK);
    zkt_check_clean(zkt_path());
    assert_int_equal(zkt_raw_exists(s, zkt_child("e"), true, NULL), ZKT_NONODE);
    assert_true(says("watches: 1"));
    assert_int_equal(make_ephemeral(s), ZKT_OK);
    assert_true(says("ephemeral nodes: 1"));
    assert_int_equal(zkt_raw_close(s), ZKT_OK);
}

static int child_leaks(void *arg)
{
    int fd[2];
    (void)close(2);
    zkt_baseline();
    zkt_pipe(fd);
    zkt_check_clean(arg); /* NULL: the servers are not checked */
    return 0;
}

/* The check itself fails the test after its deadline. */
ZKT_CASE(check_fails_a_test_that_leaks)
{
    assert_int_equal(zkt_join(zkt_fork(child_leaks, NULL), 15000), 128 + SIGABRT);
}

/* ---- ensembles --------------------------------------------------------------------- */

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

    ZKT_BECOMES(zkt_mode(host), ZKT_MODE_FOLLOWER, 15000);
    assert_true(zkt_proxy_counters(l->proxy[follower][leader]).open > 0);
    zkt_proxy_cut(l->proxy[follower][leader]);
    ZKT_BECOMES(zkt_mode(host), ZKT_MODE_NONE, 10000);
    assert_int_equal(zkt_ensemble_leader(e), leader);
    zkt_proxy_heal(l->proxy[follower][leader]);
    ZKT_BECOMES(zkt_mode(host), ZKT_MODE_FOLLOWER, 15000);
}

/* A one-shot returns only when a server that lags has applied it, too. */
static void
one_shot_is_seen_everywhere(const zkt_ensemble *e, const links *l, int leader)
{
    /* Not the first server, which the one-shot uses. */
    const int follower = leader == 1 ? 2 : 1;
    zkt_raw *s = zkt_raw_open(zkt_server_host(zkt_ensemble_server(e, follower)), 5000);

    assert_non_null(s);
    zkt_proxy_delay(l->proxy[follower][leader], ZKT_TO_CLIENT, 100);
    assert_int_equal(zkt_create(zkt_ensemble_hosts(e), "/seen", "", 0), 0);
    assert_int_equal(zkt_raw_exists(s, "/seen", false, NULL), 0);
    zkt_proxy_heal(l->proxy[follower][leader]);
    assert_int_equal(zkt_raw_close(s), ZKT_OK);
}

/* At a server that lags, a deleted node and a fired watch are not counted. */
static void
what_is_over_is_not_counted(const zkt_ensemble *e, const links *l, int leader)
{
    enum { LAG_MS = 200 };
    const int follower = leader == 1 ? 2 : 1;
    const zkt_node node = {.path = "/over", .flags = ZKT_EPHEMERAL};
    zkt_raw *s = zkt_raw_open(zkt_server_host(zkt_ensemble_server(e, leader)), 5000);
    zkt_raw *lags =
        zkt_raw_open(zkt_server_host(zkt_ensemble_server(e, follower)), 5000);

    assert_non_null(s);
    assert_non_null(lags);
    assert_int_equal(zkt_raw_create(s, &node, NULL, 0), ZKT_OK);
    assert_int_equal(zkt_ephemerals_under(zkt_ensemble_hosts(e), "/over"), 1);
    assert_int_equal(zkt_raw_exists(lags, "/over", true, NULL), ZKT_OK);
    assert_int_equal(zkt_watches_under(zkt_ensemble_hosts(e), "/over"), 1);
    zkt_proxy_delay(l->proxy[follower][leader], ZKT_TO_CLIENT, LAG_MS);
    assert_int_equal(zkt_raw_delete(s, "/over"), ZKT_OK);
    assert_int_equal(zkt_ephemerals_under(zkt_ensemble_hosts(e), "/over"), 0);
    assert_int_equal(zkt_raw_create(s, &node, NULL, 0), ZKT_OK);
    assert_int_equal(zkt_raw_delete(s, "/over"), ZKT_OK);
    assert_int_equal(zkt_ephemerals(zkt_ensemble_hosts(e)), 0);
    assert_int_equal(zkt_watches_under(zkt_ensemble_hosts(e), "/over"), 0);
    zkt_proxy_heal(l->proxy[follower][leader]);
    assert_int_equal(zkt_raw_close(s), ZKT_OK);
    assert_int_equal(zkt_raw_close(lags), ZKT_OK);
}

/* The links of an ensemble can be cut or slowed down individually. */
ZKT_CASE(links_of_an_ensemble_are_apart)
{
    links l = {0};
    const zkt_server_options o = {.link_port = link_through_proxy, .link_ctx = &l};
    zkt_ensemble *e = zkt_ensemble_start(3, &o);
    const int leader = zkt_ensemble_wait(e, 10000);
    assert_int_equal(zkt_ensemble_size(e), 3);
    assert_int_equal(zkt_ensemble_leader(e), leader);
    one_shot_is_seen_everywhere(e, &l, leader);
    what_is_over_is_not_counted(e, &l, leader);
    /* On a busy machine, the earlier lag may have been too much for the ensemble. */
    cut_off(e, &l, zkt_ensemble_wait(e, 15000));
}
