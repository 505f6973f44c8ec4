/* SPDX-License-Identifier: Apache-2.0 */
/* zkr on servers that lack operations, or are too busy. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "lies.h"
#include "raw_impl.h"

/* By each habit, on a path that has to be made. */
ZKT_CASE(a_lock_works)
{
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    for (int i = 0; i < ZKT_LACKING; i++) {
        char path[256];
        (void)snprintf(path, sizeof(path), "%s/%d/lock", zkt_path(), i);
        zkt_proxy_habits(proxy, zkt_lacking[i]);
        assert_int_equal(
            CLI("-z", zkt_proxy_host(proxy), "lock", "-w", "60", path, "true"), 0);
    }
}

/* Each verb and kind of lock, as on ZooKeeper 3.4. */
ZKT_CASE(each_kind_of_lock_works)
{
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    const char *z = zkt_proxy_host(proxy);
    char at[8][256];
    for (int n = 0; n < 8; n++) {
        (void)snprintf(at[n], sizeof(at[n]), "%s/%d/lock", zkt_path(), n);
    }
    zkt_proxy_habits(proxy, ZKR_TEST_NO_CREATE2 | ZKR_TEST_REFUSES);
    assert_int_equal(CLI("-z", z, "lock", "-n", at[0], "true"), 0);
    assert_int_equal(CLI("-z", z, "lock", "-s", at[1], "true"), 0);
    assert_int_equal(CLI("-z", z, "lock", "--rw", at[2], "true"), 0);
    assert_int_equal(CLI("-z", z, "lock", "--permits", "2/3", at[3], "true"), 0);
    assert_int_equal(CLI("-z", z, "lock", "--also", at[4], at[5], "--", "true"), 0);
    assert_int_equal(CLI("-z", z, "lock", "--any", at[6], at[0], "--", "true"), 0);
    assert_int_equal(CLI("-z", z, "once", "--every=1h", at[7], "true"), 0);
    assert_int_equal(CLI("-z", z, "wait", at[0]), 0);
    assert_int_equal(CLI("-z", z, "status", "-q", at[0]), 1);
}

/* By its answer, and by the one line of each verb. */
ZKT_CASE(servers_that_can_make_no_node_are_named)
{
    static const char *const verbs[][2] = {
        {"lock", "-w60"}, {"once", "--every=1h"}, {"elect", "-v"}};
    static struct zkt_lie lie = {.kind = ZKT_LIE_UNKNOWN};
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), ZKT_OK);
    zkt_proxy_lie(proxy, &lie);
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        struct cli c;
        assert_int_equal(CLI_RUN(&c, "-z", zkt_proxy_host(proxy), verbs[i][0],
                                 verbs[i][1], zkt_path(), "true"),
                         75);
        assert_non_null(strstr(cli_err(&c), "the servers lack an operation"));
        assert_non_null(strstr(cli_err(&c), "; use ZooKeeper 3.8 or later"));
    }
}

enum { OP_CHILDREN2 = 12, OP_MULTI = 14 };

/* zetcd: no create2, and the transaction that takes its place fails without a reason. */
ZKT_CASE(servers_that_give_no_reason_are_named)
{
    static const char *const verbs[][2] = {
        {"lock", "-w60"}, {"lock", "-n"}, {"once", "--every=1h"}, {"elect", "-v"}};
    static struct zkt_lie lie = {
        .kind = ZKT_LIE_REFUSED, .number = -100, .op = OP_MULTI};
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), ZKT_OK);
    zkt_proxy_habits(proxy, ZKR_TEST_NO_CREATE2);
    zkt_proxy_lie(proxy, &lie);
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        struct cli c;
        assert_int_equal(CLI_RUN(&c, "-z", zkt_proxy_host(proxy), verbs[i][0],
                                 verbs[i][1], zkt_path(), "true"),
                         75);
        assert_non_null(strstr(cli_err(&c), "unlike ZooKeeper, do not say why "
                                            "(ZooKeeper code -100); use ZooKeeper"));
    }
}

/* The first two requests of a kind are throttled. */
ZKT_CASE(busy_servers_are_asked_again)
{
    static const struct {
        const char *verb;
        int op, status;
    } rows[] = {{"status -q", OP_CHILDREN2, 0},
                {"status -q", ZKT_OP_GET, 0},
                {"ls", OP_CHILDREN2, 0},
                {"wait -w 3", OP_CHILDREN2, 1},
                {"elect --yield -w 3", OP_CHILDREN2, 1},
                {"revoke", ZKT_OP_SET, 0},
                {"revoke -w 0 --force", ZKT_OP_DELETE, 0}};
    static struct zkt_lie lie = {.kind = ZKT_LIE_REFUSED, .number = -127, .times = 2};
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    struct cli held;
    CLI_START(&held, "lock", "--on-revoke=ignore", zkt_path(), "sh", "-c",
              "echo held; exec sleep 60");
    ZKT_EVENTUALLY(strstr(cli_out(&held), "held\n"), CLI_PATIENCE_MS);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char line[100];
        (void)snprintf(line, sizeof(line), "\"$0\" -z $1 %s $2", rows[i].verb);
        lie.op = rows[i].op;
        lie.told = 0;
        zkt_proxy_lie(proxy, &lie);
        assert_int_equal(CLI_SH(line, zkt_proxy_host(proxy), zkt_path()),
                         rows[i].status);
        /* That delete was carried out. */
        assert_int_equal(lie.told, rows[i].op == ZKT_OP_DELETE ? 1 : 2);
    }
    assert_int_equal(cli_wait(&held), 79);
}

ZKT_CASE(servers_that_stay_busy_are_named)
{
    static struct zkt_lie lie = {
        .kind = ZKT_LIE_REFUSED, .number = -127, .op = OP_CHILDREN2};
    zkt_proxy *proxy = zkt_proxy_start(zkt_servers());
    struct cli c;
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), ZKT_OK);
    zkt_proxy_lie(proxy, &lie);
    assert_int_equal(CLI_RUN(&c, "-z", zkt_proxy_host(proxy), "--connect-timeout=2",
                             "status", zkt_path()),
                     75);
    assert_non_null(strstr(cli_err(&c), "(ZooKeeper code -127)"));
    assert_true(lie.told > 2 && lie.told < 20);
}
