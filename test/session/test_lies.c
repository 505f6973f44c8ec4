/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client does not believe impossible answers. A proxy gives them in a server's place, to the real libzookeeper.
 * None of them crashes the program, keeps a processor busy, or grants a lock. When the proxy passes true answers again,
 * everything works.
 */
#include <zookeeper/zookeeper.h>

#include <zkr/guard.h>

#include "fixture.h"
#include "lies.h"
#include "multi_locks.h"

/*
 * The number FEW of requests or connections that the client may make within WHILE_MS. A loop without a pause makes far
 * more.
 */
enum { WHILE_MS = 500, FEW = 60 };

/* Check a normal hold: it has one node while it lasts, and none afterwards. */
static void acquire_and_release(zkr_mutex *m)
{
    int64_t token = 0;
    char real[200], node[200] = "";
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_fencing_token(m, &token));
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    zkt_lone_node(real, sizeof(real));
    assert_string_equal(node, real);
    zkt_stat stat;
    char data[200];
    assert_int_equal(zkt_get(zkt_servers(), real, data, sizeof(data), &stat), ZKT_OK);
    assert_int_equal(token, stat.czxid);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
}

/* --- sessions --- */

static const int64_t no_timeouts[] = {0, -1, INT32_MIN, 1, INT32_MAX};
enum { NO_TIMEOUTS = sizeof(no_timeouts) / sizeof(no_timeouts[0]) };

/* A session without a timeout, or with an absurd one, does not count as a session: calls end in time, and the client
   makes few connections. */
ZKT_CASE(a_timeout_that_cannot_be_is_no_session)
{
    for (int i = 0; i < NO_TIMEOUTS; i++) {
        struct zkt_lie lie = {.kind = ZKT_LIE_TIMEOUT, .number = no_timeouts[i]};
        zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
        zkt_proxy_lie(proxy, &lie);
        zkr_client *c = NULL;
        ZKT_MUST(zkr_client_open(&c, zkt_proxy_host(proxy), NULL));
        zkr_mutex *m = zkt_mutex(c);
        ZKT_RC(zkr_mutex_acquire(m, WHILE_MS), ZKR_ENOANSWER);
        ZKT_EVENTUALLY(lie.told > 1, PATIENCE_MS);
        assert_true(lie.told < FEW);
        assert_int_equal(zkr_client_session_id(c), 0);
        zkt_proxy_lie(proxy, NULL);
        acquire_and_release(m);
        zkt_destroy(m);
        ZKT_MUST(zkr_client_close(c));
    }
}

/*
 * The impossible timeout comes at a re-connection: the hold is lost, and another session follows. No other client gets
 * the lock for as long as the hold was promised. After the loss is known, the client makes few connections. Before,
 * libzookeeper connects without a pause until a thread of the client runs.
 */
ZKT_CASE(a_timeout_that_cannot_be_ends_the_session)
{
    enum { SHORT_MS = 3000 };
    for (int i = 0; i < NO_TIMEOUTS; i += 2) {
        struct zkt_lie lie = {.kind = ZKT_LIE_TIMEOUT, .number = no_timeouts[i]};
        zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
        zkr_client *c = zkt_client(zkt_proxy_host(proxy), SHORT_MS);
        zkr_mutex *m = zkt_mutex(c);
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        int64_t until = zkt_now_ms() + zkr_mutex_valid_for_ms(m);
        zkt_proxy_lie(proxy, &lie);
        zkt_proxy_drop_connections(proxy);
        ZKT_BECOMES(zkr_mutex_is_held(m), false, SESSION_MS);
        int64_t before = zkt_proxy_counters(proxy).connections;
        zkt_sleep_ms(WHILE_MS);
        assert_true(zkt_proxy_counters(proxy).connections - before < FEW);
        zkt_proxy_lie(proxy, NULL);
        ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
        ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
        assert_true(zkt_now_ms() >= until);
        acquire_and_release(m);
    }
}

/* Owner 0 marks a node without a session. A session 0 would own all these nodes. */
ZKT_CASE(a_session_0_is_none)
{
    struct zkt_lie lie = {.kind = ZKT_LIE_SESSION, .number = 0};
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    zkt_proxy_lie(proxy, &lie);
    zkr_client *c = NULL;
    ZKT_MUST(zkr_client_open(&c, zkt_proxy_host(proxy), NULL));
    ZKT_RC(zkr_client_wait_connected(c, WHILE_MS), ZKR_ETIMEDOUT);
    assert_true(lie.told < FEW);
    zkt_proxy_lie(proxy, NULL);
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    ZKT_MUST(zkr_client_close(c));
}

/* --- what was made --- */

#define LONG "lock-lock-lock-lock-lock-lock-lock-lock-lock-lock-"
// clang-format off
static const struct {
    enum zkt_lie_kind kind;
    const char *text, *name; /* @name: a name below the path of the test case */
    int64_t number;
} lies[] = {
    /* The path of our node is the requested one with its number, and nothing else. */
    {.kind = ZKT_LIE_PATH, .text = "_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000001"},
    {.kind = ZKT_LIE_PATH, .text = ""},
    {.kind = ZKT_LIE_PATH, .text = "/"},
    {.kind = ZKT_LIE_PATH, .text = "0000000001"},
    {.kind = ZKT_LIE_PATH, .text = "/0000000001"},
    {.kind = ZKT_LIE_PATH, .text = "/x/0000000001"},
    {.kind = ZKT_LIE_PATH, .text = "/_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000001"},
    {.kind = ZKT_LIE_PATH, .text = "/x\n/_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000001"},
    /* The directory is right, but the name is wrong. If another client's node has that name, it is left alone. */
    {.kind = ZKT_LIE_PATH, .name = "_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000001"},
    {.kind = ZKT_LIE_PATH, .name = "0000000001"},
    {.kind = ZKT_LIE_PATH, .name = "\n0000000001"},
    {.kind = ZKT_LIE_PATH, .name = ""},
    /* Ten digits, or a minus sign and ten digits, follow the requested path, and nothing else. */
    {.kind = ZKT_LIE_DIGITS, .text = "000000001"},
    {.kind = ZKT_LIE_DIGITS, .text = "00000000001"},
    {.kind = ZKT_LIE_DIGITS, .text = "--0000000001"},
    {.kind = ZKT_LIE_DIGITS, .text = LONG LONG LONG "0000000001"},
    /* The node belongs to our session, and its transaction has a number. */
    {.kind = ZKT_LIE_CZXID, .number = 0},
    {.kind = ZKT_LIE_CZXID, .number = -1},
    {.kind = ZKT_LIE_CZXID, .number = INT64_MIN},
    {.kind = ZKT_LIE_OWNER, .number = 0},
    {.kind = ZKT_LIE_OWNER, .number = 4711},
    /* A code that ZooKeeper does not define says nothing. 1000 would become ZKR_OK. */
    {.kind = ZKT_LIE_CODE, .number = 1},
    {.kind = ZKT_LIE_CODE, .number = 1000},
    {.kind = ZKT_LIE_CODE, .number = 1007},
    {.kind = ZKT_LIE_CODE, .number = INT32_MAX},
    {.kind = ZKT_LIE_CODE, .number = INT32_MIN},
};
// clang-format on

/* The proxy lies once or each time. The client finds its node by the GUID, and touches no other node. */
ZKT_CASE(what_is_said_of_a_create_is_not_believed)
{
    for (size_t i = 0; i < 2 * sizeof(lies) / sizeof(lies[0]); i++) {
        const char *name = lies[i / 2].name;
        struct zkt_lie lie = {.kind = lies[i / 2].kind,
                              .text = name ? zkt_child(name) : lies[i / 2].text,
                              .number = lies[i / 2].number,
                              .times = (int)(i % 2)};
        zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
        zkr_client *c = zkt_client(zkt_proxy_host(proxy), SESSION_MS);
        zkr_mutex *m = zkt_mutex(c);
        print_message("%s %lld\n", lie.text ? lie.text : "", (long long)lie.number);
        zkt_proxy_lie(proxy, &lie);
        acquire_and_release(m);
        acquire_and_release(m);
        assert_true(lie.told > 0);
        zkt_proxy_lie(proxy, NULL);
        acquire_and_release(m);
    }
}

/* A transaction with too few results may not have been executed. The client searches for the nodes it may have created.
   */
ZKT_CASE(a_transaction_without_its_results_grants_nothing)
{
    for (int times = 0; times <= 1; times++) {
        struct zkt_lie lie = {.kind = ZKT_LIE_FEW, .times = times};
        zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
        zkr_client *c = zkt_client(zkt_proxy_host(proxy), SESSION_MS);
        zkr_multi_lock *l = MULTI_LOCK(c, 0, 1, 2);
        zkt_proxy_lie(proxy, &lie);
        zkr_ticket *t = NULL;
        ZKT_MUST(zkr_multi_lock_acquire(l, PATIENCE_MS, &t));
        assert_true(lie.told > 0 && lie.told < FEW);
        int64_t token = 0;
        ZKT_MUST(zkr_ticket_fencing_token(t, &token));
        assert_true(token > 0);
        zkt_proxy_lie(proxy, NULL);
        end(t);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        for (int i = 0; i < 3; i++) {
            ZKT_BECOMES(nodes_at(i), 0, PATIENCE_MS);
        }
    }
}

/* A guarded write without its results has an unknown outcome. */
ZKT_CASE(a_write_without_its_results_is_unknown)
{
    struct zkt_lie lie = {.kind = ZKT_LIE_FEW};
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    zkr_mutex *m = zkt_mutex(zkt_client(zkt_proxy_host(proxy), SESSION_MS));
    zoo_op_t op;
    zoo_op_result_t result = {.err = ZOK};
    zoo_set_op_init(&op, zkt_path(), "x", 1, -1, NULL);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_proxy_lie(proxy, &lie);
    ZKT_RC(zkr_mutex_multi(m, 1, &op, &result, PATIENCE_MS), ZKR_ECONNLOSS);
    assert_int_not_equal(result.err, ZOK);
    zkt_proxy_lie(proxy, NULL);
    ZKT_MUST(zkr_mutex_multi(m, 1, &op, &result, PATIENCE_MS));
    assert_int_equal(result.err, ZOK);
    ZKT_MUST(zkr_mutex_release(m));
}

/* --- who is there --- */

/* An impossible name cannot be part of a path. */
ZKT_CASE(a_list_of_what_cannot_be_is_no_list)
{
    static const char *const names[] = {
        "",
        "/",
        "..",
        "a/0000000001",
        "/0000000001",
        "\n0000000001",
        ("x\x1f"
         "0000000001"),
    };
    /* The proxy does not lie about a missing directory. */
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct zkt_lie lie = {.kind = ZKT_LIE_NAMES, .text = names[i]};
        zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
        zkr_client *c = zkt_client(zkt_proxy_host(proxy), SESSION_MS);
        zkr_mutex *m = zkt_mutex(c);
        zkt_proxy_lie(proxy, &lie);
        int64_t before = zkt_stats(c).requests;
        ZKT_RC(zkr_mutex_acquire(m, WHILE_MS), ZKR_ENOANSWER);
        assert_true(zkt_stats(c).requests - before < FEW);
        zkr_contenders *list = NULL;
        ZKT_RC(zkr_mutex_contenders(m, &list), ZKR_ECONNLOSS);
        zkt_proxy_lie(proxy, NULL);
        acquire_and_release(m);
    }
}

/* Of two nodes ahead, the nearest is in the list, but a read does not find it: the client lists again, with pauses. */
ZKT_CASE(one_who_is_listed_and_denied_keeps_nobody_busy)
{
    zkr_mutex *held = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    ZKT_MUST(zkr_mutex_acquire(held, PATIENCE_MS));
    zkr_ticket *second = queue(held, NULL);
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(proxy), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    struct zkt_lie lie = {.kind = ZKT_LIE_NO_STRANGER,
                          .number = zkr_client_session_id(c)};
    zkt_proxy_lie(proxy, &lie);
    zkr_ticket *t = request(m, PATIENCE_MS, NULL);
    ZKT_EVENTUALLY(lie.told > 0, PATIENCE_MS);
    int64_t before = zkt_stats(c).requests;
    zkt_sleep_ms(WHILE_MS);
    assert_true(zkt_stats(c).requests - before < FEW);
    zkt_proxy_lie(proxy, NULL);
    ZKT_MUST(zkr_mutex_release(held));
    ZKT_MUST(zkr_ticket_wait(second, PATIENCE_MS));
    end(second);
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    end(t);
}

/* Our node exists, but no list contains it: the client asks for it again, with pauses, and creates no second node. */
ZKT_CASE(one_who_is_there_and_not_listed_makes_no_other_node)
{
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(proxy), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    struct zkt_lie lie = {.kind = ZKT_LIE_NO_NAMES};
    zkt_proxy_lie(proxy, &lie);
    zkr_ticket *t = request(m, PATIENCE_MS, NULL);
    ZKT_EVENTUALLY(lie.told > 3, PATIENCE_MS);
    int64_t before = zkt_stats(c).requests;
    zkt_sleep_ms(WHILE_MS);
    assert_true(zkt_stats(c).requests - before < FEW);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_WAITING);
    assert_int_equal(zkt_nodes(), 1);
    zkt_proxy_lie(proxy, NULL);
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    end(t);
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
}

/*
 * The proxy counts changes of children as Keeper does. By that count, no node was created between our last node and our
 * next one. But another client has created one and holds, so we wait.
 */
ZKT_CASE(a_count_with_changes_in_it_hides_nobody)
{
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    zkt_proxy_habits(proxy, ZKR_TEST_COUNTS_CHANGES);
    zkr_mutex *m = zkt_mutex(zkt_client(zkt_proxy_host(proxy), SESSION_MS));
    zkr_mutex *other = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    acquire_and_release(m);
    const char *node = zkt_child("config");
    assert_int_equal(zkt_create(zkt_servers(), node, "", 0), ZKT_OK);
    /* Two changes count as one created node. */
    for (int changes = 0; changes < 2; changes++) {
        assert_int_equal(zkt_set(zkt_proxy_host(proxy), node, "x"), ZKT_OK);
    }
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS)); /* this also reads the count */
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_BECOMES(zkt_nodes(), 1, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_acquire(other, PATIENCE_MS));
    ZKT_RC(zkr_mutex_acquire(m, WHILE_MS), ZKR_ETIMEDOUT);
    assert_true(zkr_mutex_is_held(other));
    ZKT_MUST(zkr_mutex_release(other));
    zkt_in_and_out(m);
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
}
