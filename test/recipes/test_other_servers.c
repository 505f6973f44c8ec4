/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that lack operations: a real one behind a proxy that closes the connection at them, or refuses them. */
#include <stdio.h>
#include <string.h>

#include "hold.h"
#include "threads.h"

enum { SESSION_MS = 8000, PATIENCE_MS = 20000 };

static const int habits[] = {
    ZKR_TEST_NO_CREATE2,
    ZKR_TEST_NO_CREATE2 | ZKR_TEST_REFUSES,
    ZKR_TEST_NO_CONTAINERS,
    ZKR_TEST_NO_CONTAINERS | ZKR_TEST_REFUSES,
    ZKR_TEST_NO_CREATE2 | ZKR_TEST_NEW_SESSIONS,
    ZKR_TEST_NO_CONTAINERS | ZKR_TEST_NEW_SESSIONS,
};
enum { HABITS = sizeof(habits) / sizeof(habits[0]) };

static zkt_proxy *proxy_with(int which)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_habits(p, which);
    return p;
}

/* Parents are made, the token is that of the node, and the next in line is granted. */
ZKT_HOLD_CASE(a_hold_is_granted_without_new_operations, ZKT_NONE)
{
    for (int i = 0; i < HABITS; i++) {
        zkt_proxy *p = proxy_with(habits[i]);
        zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
        struct zkt_hold *first = zkt_hold(c), *second = zkt_hold(c);
        char node[256] = "", text[256];
        int64_t token = 0;
        zkt_stat st;
        ZKT_MUST(zkt_hold_acquire(first, PATIENCE_MS));
        assert_true(zkt_hold_valid_for_ms(first) > 0);
        ZKT_MUST(zkt_hold_token(first, &token));
        if (!zkt_is(ZKT_LEADERS) &&
            zkt_hold_node(first, node, sizeof(node)) == ZKR_OK) {
            assert_int_equal(zkt_get(zkt_servers(), node, text, sizeof(text), &st),
                             ZKT_OK);
            assert_true(st.ephemeral_owner == zkr_client_session_id(c));
            assert_true(token == st.czxid || zkt_is(ZKT_BIT(ZKT_DOWNGRADED)));
        }
        if (!zkt_is(ZKT_READERS)) {
            zkt_hold_queue(second);
            assert_true(zkt_hold_waits(second));
        }
        ZKT_MUST(zkt_hold_release(first));
        if (!zkt_is(ZKT_READERS)) {
            ZKT_MUST(zkt_hold_wait(second));
            ZKT_MUST(zkt_hold_release(second));
        }
        zkt_hold_end(first);
        zkt_hold_end(second);
        zkt_hold_delete_parents();
        zkt_close(c);
    }
}

/* A path that must be made takes no holds with it, even where each connection is a new session. */
ZKT_CASE(a_missing_path_takes_no_holds)
{
    zkt_proxy *p = proxy_with(ZKR_TEST_NO_CONTAINERS | ZKR_TEST_NEW_SESSIONS);
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    assert_int_equal(zkt_create_path(zkt_servers(), "/keeper/api_version"), ZKT_OK);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), ZKT_OK);
    zkr_mutex *there = zkt_mutex(c);
    zkr_mutex *missing = zkt_mutex_at(c, zkt_child("not/there"), NULL);
    ZKT_MUST(zkr_mutex_acquire(there, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(missing, PATIENCE_MS));
    assert_true(zkr_mutex_is_held(there));
    assert_int_equal(zkt_stats(c).expirations, 0);
    ZKT_MUST(zkr_mutex_release(missing));
    ZKT_MUST(zkr_mutex_release(there));
    assert_int_equal(zkt_delete(zkt_servers(), "/keeper/api_version"), ZKT_OK);
}

/* What was got without create2 is not lost by trying that. */
ZKT_CASE(create2_is_not_tried_beside_a_hold)
{
    zkt_proxy *p = proxy_with(ZKR_TEST_NO_CREATE2 | ZKR_TEST_NEW_SESSIONS);
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    const char *paths[] = {zkt_child("a"), zkt_child("b"), zkt_child("c")};
    zkr_multi_lock *both;
    zkr_ticket *t;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(zkt_create_path(zkt_servers(), paths[i]), ZKT_OK);
    }
    zkr_mutex *m = zkt_mutex_at(c, paths[2], NULL);
    ZKT_MUST(zkr_multi_lock_create(&both, c, paths, 2, NULL));
    ZKT_MUST(zkr_multi_lock_acquire(both, PATIENCE_MS, &t));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    assert_int_equal(zkt_stats(c).expirations, 0);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_end_ticket(t);
    ZKT_MUST(zkr_multi_lock_destroy(both));
}
