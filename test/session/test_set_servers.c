/* SPDX-License-Identifier: Apache-2.0 */
/* A client that is given other servers. Two proxies stand for two servers of one ensemble. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "actor.h"
#include "fixture.h"
#include "server.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 10000 };

static zkt_proxy *first, *second;

static zkr_client *begin_at(const char *servers, int64_t session_ms)
{
    first = zkt_proxy_start(servers);
    second = zkt_proxy_start(servers);
    return zkt_client(zkt_proxy_host(first), session_ms);
}

static zkr_client *begin(void)
{
    return begin_at(zkt_servers(), SESSION_MS);
}

static bool is_at(zkr_client *c, zkt_proxy *p)
{
    return zkr_client_state(c) == ZKR_STATE_CONNECTED &&
           zkt_proxy_counters(p).open == 1;
}

/* A client leaves a server that is not in the new list. It keeps its session and its holds. */
ZKT_CASE(a_move_keeps_what_is_held)
{
    zkr_client *c = begin();
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    int64_t id = zkr_client_session_id(c);
    ZKT_MUST(zkr_client_set_servers(c, zkt_proxy_host(second)));
    ZKT_EVENTUALLY(is_at(c, second), PATIENCE_MS);
    ZKT_BECOMES(zkt_proxy_counters(first).open, 0, PATIENCE_MS);
    assert_int_equal(zkr_client_session_id(c), id);
    assert_int_equal(zkt_reconnects(c), 1);
    assert_true(zkr_mutex_is_held(m));
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
}

/* Read through @first, with a late answer. The read is not repeated when the connection is lost. */
static void *read_root(void *c)
{
    zkr_node node;
    int rc = zkr_client_get(c, "/", NULL, 0, &node, sizeof(node));
    return (void *)(intptr_t)rc;
}

/*
 * The client leaves a server when requests in flight are answered, or after a second. In the second case, libzookeeper
 * takes the next answer for that of a request to the old server, and connects once more. On a slow machine, that loses
 * the session.
 */
ZKT_CASE(requests_in_flight_are_waited_for)
{
    /* A silent connection breaks by itself after two thirds of LONG_MS. */
    enum { LONG_MS = 60000 };
    zkt_server_options o = ZKR_TEST_SERVER_OPTIONS_INIT;
    o.max_session_ms = LONG_MS;
    const char *servers = zkt_server_host(zkt_server_start(&o));
    static const struct {
        int64_t late_ms;
        int code;
    } rows[] = {{300, ZKR_OK}, {LONG_MS, ZKR_ECONNLOSS}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pthread_t thread;
        void *rc;
        zkr_client *c = begin_at(servers, LONG_MS);
        int64_t id = zkr_client_session_id(c);
        assert_null(read_root(c));
        zkt_proxy_delay(first, ZKT_TO_CLIENT, rows[i].late_ms);
        int64_t before = zkt_proxy_counters(first).requests;
        assert_int_equal(pthread_create(&thread, NULL, read_root, c), 0);
        ZKT_EVENTUALLY(zkt_proxy_counters(first).requests > before, PATIENCE_MS);
        ZKT_MUST(zkr_client_set_servers(c, zkt_proxy_host(second)));
        ZKT_EVENTUALLY(is_at(c, second), PATIENCE_MS);
        assert_int_equal(pthread_join(thread, &rc), 0);
        ZKT_RC((int)(intptr_t)rc, rows[i].code);
        if (rows[i].code == ZKR_OK) {
            assert_null(read_root(c));
            assert_int_equal(zkr_client_session_id(c), id);
            assert_int_equal(zkt_reconnects(c), 1);
        }
    }
}

/* The client does not leave a server that is in the new list. It uses the list when that connection breaks. */
ZKT_CASE(a_server_that_stays_is_not_left)
{
    char both[200];
    zkr_client *c = begin();
    int64_t id = zkr_client_session_id(c);
    (void)snprintf(both, sizeof(both), "%s,%s", zkt_proxy_host(second),
                   zkt_proxy_host(first));
    ZKT_MUST(zkr_client_set_servers(c, both));
    /* Nothing happens, so no condition could end this wait earlier. */
    zkt_sleep_ms(300);
    assert_int_equal(zkt_reconnects(c), 0);
    assert_int_equal(zkt_proxy_counters(second).connections, 0);
    zkt_proxy_cut(first);
    ZKT_EVENTUALLY(is_at(c, second), PATIENCE_MS);
    assert_int_equal(zkr_client_session_id(c), id);
}

/* Without a connection, the client tries the new list at once. */
ZKT_CASE(a_session_is_saved_by_a_new_list)
{
    zkr_client *c = begin();
    int64_t id = zkr_client_session_id(c);
    zkt_proxy_cut(first);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    ZKT_MUST(zkr_client_set_servers(c, zkt_proxy_host(second)));
    ZKT_EVENTUALLY(is_at(c, second), PATIENCE_MS);
    assert_int_equal(zkr_client_session_id(c), id);
}

/* --- two servers --- */

static const char *list_both(void)
{
    static char both[200];
    (void)snprintf(both, sizeof(both), "%s,%s", zkt_proxy_host(first),
                   zkt_proxy_host(second));
    return both;
}

/* From a list with an even number of addresses, libzookeeper alone would try only half after its first round. */
ZKT_CASE(a_hold_outlives_each_loss_of_one_of_two_servers)
{
    enum { LOSSES = 6 };
    zkt_close(begin());
    zkr_client *c = zkt_client(list_both(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    int64_t id = zkr_client_session_id(c);
    for (int i = 0; i < LOSSES; i++) {
        zkt_proxy *at = is_at(c, first) ? first : second;
        zkt_proxy *other = at == first ? second : first;
        zkt_proxy_cut(at);
        ZKT_EVENTUALLY(is_at(c, other), PATIENCE_MS);
        zkt_proxy_heal(at);
    }
    assert_int_equal(zkr_client_session_id(c), id);
    assert_true(zkr_mutex_is_held(m));
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
}

/* There are many clients, because each begins its list at a random place. With this session timeout, none gives up its
   handle meanwhile. */
ZKT_CASE(the_one_of_two_servers_that_comes_back_is_found)
{
    enum { CLIENTS = 8, LONG_MS = 60000 };
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    zkr_client *c[CLIENTS];
    zkt_close(begin());
    zkt_proxy_cut(first);
    zkt_proxy_cut(second);
    o.session_timeout_ms = LONG_MS;
    for (int i = 0; i < CLIENTS; i++) {
        ZKT_MUST(zkr_client_open(&c[i], list_both(), &o));
    }
    /* Long enough for all clients to try both; otherwise they prove less. */
    zkt_sleep_ms(300);
    zkt_proxy_heal(second);
    for (int i = 0; i < CLIENTS; i++) {
        ZKT_MUST(zkr_client_wait_connected(c[i], PATIENCE_MS));
        zkt_close(c[i]);
    }
}

/* Before the first connection, a client also takes a new list at once, even if names of the old list cannot be
   resolved. */
ZKT_CASE(a_client_that_never_connected_takes_the_new_list)
{
    static const char *const wrong[] = {"127.0.0.1:1", "no-such-host.invalid:2181"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        zkr_client *c = NULL;
        ZKT_MUST(zkr_client_open(&c, wrong[i], NULL));
        ZKT_RC(zkr_client_wait_connected(c, 200), ZKR_ETIMEDOUT);
        ZKT_MUST(zkr_client_set_servers(c, zkt_servers()));
        ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
        zkt_close(c);
    }
}

ZKT_CASE(a_bad_list_changes_nothing)
{
    static const char *const bad[] = {"", "/", "x:y:z", "127.0.0.1:2181/chroot",
                                      "127.0.0.1:2181,"};
    zkr_client *c = begin();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ZKT_RC(zkr_client_set_servers(c, bad[i]), ZKR_EINVAL);
    }
    ZKT_RC(zkr_client_set_servers(c, NULL), ZKR_EINVAL);
    zkt_proxy_drop_connections(first);
    ZKT_BECOMES(zkt_reconnects(c), 1, PATIENCE_MS);
    assert_int_equal(zkt_proxy_counters(second).connections, 0);
    /* This list has no chroot, either. */
    ZKT_MUST(zkr_client_set_servers(c, zkt_proxy_host(first)));
}

struct worker {
    zkr_client *c;
    atomic_bool stop;
    atomic_int rounds, faults;
};

static void *lock_on(void *arg)
{
    struct worker *w = arg;
    zkr_mutex *m = zkt_mutex(w->c);
    while (!atomic_load(&w->stop)) {
        int rc = zkr_mutex_acquire(m, PATIENCE_MS);
        atomic_fetch_add(&w->faults, rc != ZKR_OK);
        if (rc == ZKR_OK) {
            atomic_fetch_add(&w->faults, zkr_mutex_release(m) != ZKR_OK);
        }
        atomic_fetch_add(&w->rounds, 1);
    }
    zkt_destroy(m);
    return NULL;
}

/* The client moves back and forth under load. Locking continues in the same session. */
ZKT_CASE(moves_under_load_lose_nothing)
{
    enum { MOVES = 10 };
    struct worker w = {.c = begin()};
    pthread_t thread;
    int64_t id = zkr_client_session_id(w.c);
    assert_int_equal(pthread_create(&thread, NULL, lock_on, &w), 0);
    for (int i = 0; i < MOVES; i++) {
        zkt_proxy *to = i % 2 == 0 ? second : first;
        int rounds = atomic_load(&w.rounds);
        ZKT_MUST(zkr_client_set_servers(w.c, zkt_proxy_host(to)));
        ZKT_EVENTUALLY(is_at(w.c, to), PATIENCE_MS);
        ZKT_EVENTUALLY(atomic_load(&w.rounds) > rounds + 1, PATIENCE_MS);
    }
    atomic_store(&w.stop, true);
    (void)pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&w.faults), 0);
    assert_int_equal(zkr_client_session_id(w.c), id);
}
