/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers that lack operations: a real server behind a proxy that refuses these operations, or closes the connection.
 */
#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "door.h"
#include "hold.h"
#include "lies.h"
#include "threads.h"

enum { SESSION_MS = 8000, PATIENCE_MS = 60000 };

static zkt_proxy *proxy_with(int which)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_habits(p, which);
    return p;
}

/* Parents are created, the token is that of the node, and the next contender is granted. */
ZKT_HOLD_CASE(a_hold_is_granted_without_new_operations, ZKT_NONE)
{
    for (int i = 0; i < ZKT_LACKING; i++) {
        zkt_proxy *p = proxy_with(zkt_lacking[i]);
        zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
        struct zkt_hold *first = zkt_hold(c), *second = zkt_hold(c);
        char node[256] = "", text[256];
        int64_t token = 0;
        zkt_stat st;
        ZKT_MUST(zkt_hold_acquire(first, PATIENCE_MS));
        assert_true(zkt_hold_valid_for_ms(first) > 0);
        ZKT_MUST(zkt_hold_token(first, &token));
        if (!zkt_is(ZKT_LEADERS | ZKT_BIT(ZKT_DOWNGRADED)) &&
            zkt_hold_node(first, node, sizeof(node)) == ZKR_OK) {
            assert_int_equal(zkt_get(zkt_servers(), node, text, sizeof(text), &st),
                             ZKT_OK);
            assert_true(st.ephemeral_owner == zkr_client_session_id(c));
            assert_true(token == st.czxid);
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

/*
 * Open a client that takes the server for ClickHouse Keeper, which clients recognize by a node. The node is below the
 * path of this case.
 */
static zkr_client *keeper_client(int lacks)
{
    zkt_proxy *p = proxy_with(lacks | ZKR_TEST_NEW_SESSIONS);
    char host[512];
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_child("keeper/api_version")),
                     ZKT_OK);
    (void)snprintf(host, sizeof(host), "%s%s", zkt_proxy_host(p), zkt_path());
    return zkt_client(host, SESSION_MS);
}

/* The creation of missing paths loses no holds, even if each connection is a new session. */
ZKT_CASE(missing_paths_take_no_holds)
{
    zkr_client *c = keeper_client(ZKR_TEST_NO_CONTAINERS);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_child("there")), ZKT_OK);
    zkr_mutex *there = zkt_mutex_at(c, "/there", NULL);
    ZKT_MUST(zkr_mutex_acquire(there, PATIENCE_MS));
    zkr_mutex *missing[] = {zkt_mutex_at(c, "/not/here", NULL),
                            zkt_mutex_at(c, "/nor/here", NULL)};
    zkr_ticket *t[2];
    for (int i = 0; i < 2; i++) {
        t[i] = zkt_ticket(missing[i]);
    }
    for (int i = 0; i < 2; i++) {
        ZKT_MUST(zkr_ticket_wait(t[i], PATIENCE_MS));
    }
    assert_true(zkr_mutex_is_held(there));
    assert_int_equal(zkt_stats(c).expirations, 0);
    for (int i = 0; i < 2; i++) {
        zkt_end_ticket(t[i]);
    }
    ZKT_MUST(zkr_mutex_release(there));
}

/* Holds that were acquired without create2 are not lost by a try of create2. */
ZKT_CASE(create2_is_not_tried_beside_a_hold)
{
    zkr_client *c = keeper_client(ZKR_TEST_NO_CREATE2);
    const char *paths[] = {"/a", "/b"};
    zkr_multi_lock *both;
    zkr_ticket *t;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(zkt_create_path(zkt_servers(), zkt_child(paths[i] + 1)),
                         ZKT_OK);
    }
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_child("c")), ZKT_OK);
    zkr_mutex *m = zkt_mutex_at(c, "/c", NULL);
    ZKT_MUST(zkr_multi_lock_create(&both, c, paths, 2, NULL));
    ZKT_MUST(zkr_multi_lock_acquire(both, PATIENCE_MS, &t));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    assert_int_equal(zkt_stats(c).expirations, 0);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_end_ticket(t);
    ZKT_MUST(zkr_multi_lock_destroy(both));
}

/* --- a create gets no answer, and nothing shows whether it made a node: the acquire fails, and flush says so --- */

/* The create does not reach the server. */
static void lose_create(zkt_proxy *p, zkr_client *c, int code)
{
    zkr_mutex *m = zkt_mutex(c);
    zkt_door_focus(c);
    zkt_proxy_freeze(p, ZKT_TO_SERVER);
    zkr_ticket *t = zkt_ticket(m);
    ZKT_BECOMES(zkt_door_count(ZKR__OP_CREATE), 1, PATIENCE_MS);
    zkt_proxy_drop_connections(p);
    zkt_proxy_thaw(p, ZKT_TO_SERVER);
    ZKT_RC(zkr_ticket_wait(t, PATIENCE_MS), code);
    ZKT_RC(zkr_client_flush(c, 1000), ZKR_ETIMEDOUT);
    assert_int_equal(zkr_last_error()->zk_rc, ZNOAUTH);
}

ZKT_CASE(a_lost_create_fails_where_the_path_may_not_be_listed)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), ZKT_OK);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL & ~ZKT_READ),
                     ZKT_OK);
    lose_create(p, c, ZKR_EAUTH);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL), ZKT_OK);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
}

ZKT_CASE(a_lost_create_fails_where_transactions_are_unknown)
{
    static struct zkt_lie lie = {.kind = ZKT_LIE_UNKNOWN};
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkt_proxy_lie(p, &lie);
    lose_create(p, c, ZKR_EZK(ZUNIMPLEMENTED));
    zkt_proxy_lie(p, NULL);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
}
