/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What answers in a server's place is not believed: the real libzookeeper, and answers that cannot be. None crashes the
 * program, none keeps a processor busy, none is a grant; and with the truth all is well again.
 */
#include <zookeeper/zookeeper.h>

#include <zkr/guard.h>

#include "fixture.h"
#include "lies.h"
#include "multi_locks.h"

/* A while, and how many requests or connections it may take: far less than a loop without a pause makes. */
enum { WHILE_MS = 500, FEW = 60 };

/* All is as it should be: one node while it is held, none afterwards. */
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

/* A session without a time-out, or with one that is absurd, is none: calls end in time, and few connections are made. */
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
 * The same at a re-connection: the hold is lost, and another session follows. But nobody else gets the lock for as long as
 * the hold was promised. Once it is known to be lost, few connections are made; how many were made before is libzookeeper's
 * to say, which connects without a pause until our thread runs.
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

/* Nobody's nodes have owner 0, and would be ours. */
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
    const char *text, *name; /* or a name below the path of the case */
    int64_t number;
} lies[] = {
    /* Only what was asked for, with its number, is the path of our node. */
    {.kind = ZKT_LIE_PATH, .text = "_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000001"},
    {.kind = ZKT_LIE_PATH, .text = ""},
    {.kind = ZKT_LIE_PATH, .text = "/"},
    {.kind = ZKT_LIE_PATH, .text = "0000000001"},
    {.kind = ZKT_LIE_PATH, .text = "/0000000001"},
    {.kind = ZKT_LIE_PATH, .text = "/x/0000000001"},
    {.kind = ZKT_LIE_PATH, .text = "/_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000001"},
    {.kind = ZKT_LIE_PATH, .text = "/x\n/_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000001"},
    /* Its directory is the right one, its name is not; and a stranger's node of that name is left alone. */
    {.kind = ZKT_LIE_PATH, .name = "_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000001"},
    {.kind = ZKT_LIE_PATH, .name = "0000000001"},
    {.kind = ZKT_LIE_PATH, .name = "\n0000000001"},
    {.kind = ZKT_LIE_PATH, .name = ""},
    /* Ten digits, or a minus sign and ten, follow what was asked for, and nothing else. */
    {.kind = ZKT_LIE_DIGITS, .text = "000000001"},
    {.kind = ZKT_LIE_DIGITS, .text = "00000000001"},
    {.kind = ZKT_LIE_DIGITS, .text = "--0000000001"},
    {.kind = ZKT_LIE_DIGITS, .text = LONG LONG LONG "0000000001"},
    /* By none but our session, in a transaction that has a number. */
    {.kind = ZKT_LIE_CZXID, .number = 0},
    {.kind = ZKT_LIE_CZXID, .number = -1},
    {.kind = ZKT_LIE_CZXID, .number = INT64_MIN},
    {.kind = ZKT_LIE_OWNER, .number = 0},
    {.kind = ZKT_LIE_OWNER, .number = 4711},
    /* A code that is none says nothing: 1000 would be ZKR_OK. */
    {.kind = ZKT_LIE_CODE, .number = 1},
    {.kind = ZKT_LIE_CODE, .number = 1000},
    {.kind = ZKT_LIE_CODE, .number = 1007},
    {.kind = ZKT_LIE_CODE, .number = INT32_MAX},
    {.kind = ZKT_LIE_CODE, .number = INT32_MIN},
};
// clang-format on

/* Told once, or each time: our node is found by its GUID, and no other is touched. */
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

/* A transaction with too few results is not done, as far as anybody knows: what it made is looked for. */
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

/* A guarded write without its results is one of which nothing is known. */
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

/* A name that cannot be is no part of a path. */
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
    /* Of what is not there no server lies. */
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

/* The nearest ahead, of two, is listed and not there when it is read: asked for again with pauses. */
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

/* Our node is there and in no list: it is asked for with pauses, and stays the only one. */
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
 * A server that counts changes of children as Keeper does: by its count, nobody came between our last node and our next.
 * Who came holds, and we wait.
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
    for (int changes = 0; changes < 2; changes++) { /* a number each two */
        assert_int_equal(zkt_set(zkt_proxy_host(proxy), node, "x"), ZKT_OK);
    }
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS)); /* and reads the count */
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_BECOMES(zkt_nodes(), 1, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_acquire(other, PATIENCE_MS));
    ZKT_RC(zkr_mutex_acquire(m, WHILE_MS), ZKR_ETIMEDOUT);
    assert_true(zkr_mutex_is_held(other));
    ZKT_MUST(zkr_mutex_release(other));
    zkt_in_and_out(m);
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
}
