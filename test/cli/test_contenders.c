/* SPDX-License-Identifier: Apache-2.0 */
/* zkr status beside nodes of others: what it shows, and what it asks the servers. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* --- nodes made by hand --- */

static void put(zkt_raw *s, const char *name, const char *data)
{
    const struct zkt_node node = {.path = zkt_child(name),
                                  .data = data,
                                  .data_len = strlen(data),
                                  .flags = ZKT_EPHEMERAL};
    assert_int_equal(zkt_raw_create(s, &node, NULL, 0), 0);
}

/* A session of somebody else; its nodes go with it. */
static zkt_raw *stranger(void)
{
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    zkt_raw *s = zkt_raw_open(zkt_servers(), 10000);
    assert_non_null(s);
    return s;
}

/* Names of go-zookeeper, kazoo and Curator, in the order of their numbers. */
ZKT_CASE(clients_of_all_languages_are_shown_in_order)
{
    static const char *const order[] = {
        "\"position\":1,\"holder\":true,"
        "\"node\":\"_c_00112233445566778899aabbccddeeff-lock-0000000003\","
        "\"owner\":\"\"",
        "\"position\":2,\"holder\":false,"
        "\"node\":\"00112233445566778899aabbccddeeff__lock__0000000005\","
        "\"owner\":\"kazoo\"",
        "\"position\":3,\"holder\":false,"
        "\"node\":\"_c_00112233-4455-6677-8899-aabbccddeeff-lock-0000000007\","
        "\"owner\":\"10.0.0.1\""};
    zkt_raw *s = stranger();
    put(s, "_c_00112233-4455-6677-8899-aabbccddeeff-lock-0000000007", "10.0.0.1");
    put(s, "00112233445566778899aabbccddeeff__lock__0000000005", "kazoo");
    put(s, "_c_00112233445566778899aabbccddeeff-lock-0000000003", "");
    put(s, "no number", "x");
    struct cli c;
    char session[40];
    assert_int_equal(CLI_RUN(&c, "status", "--json", zkt_path()), 0);
    const char *at = cli_out(&c);
    (void)snprintf(session, sizeof(session), "\"session\":\"0x%llx\"",
                   (unsigned long long)zkt_raw_id(s));
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        at = strstr(at, order[i]);
        assert_non_null(at);
        assert_non_null(strstr(at, session));
    }
    assert_null(strstr(cli_out(&c), "no number"));
    assert_int_equal(CLI_RUN(&c, "status", zkt_path()), 0);
    assert_non_null(strstr(cli_out(&c), "\n2    kazoo"));
    assert_int_equal(zkt_raw_close(s), 0);
}

/* --- what is asked --- */

enum { NODES = 200, OP_EXISTS = 3, OP_GET = 4, OP_CHILDREN = 8, OP_CHILDREN2 = 12 };
enum { OP_CLOSE = -11 };

struct asked {
    zkt_proxy *proxy;
    const char *gone; /* to be deleted between list and get, or NULL */
    atomic_int lists, gets, others, rc;
};

/* From the first get on no answer passes. If that takes long the client nudges, by exists(). */
static void on_request(void *ctx, int n, int op)
{
    struct asked *a = ctx;
    (void)n;
    if (op == OP_GET && atomic_fetch_add(&a->gets, 1) == 0) {
        zkt_proxy_freeze(a->proxy, ZKT_TO_CLIENT);
        atomic_store(&a->rc, a->gone ? zkt_delete(zkt_servers(), a->gone) : 0);
    } else if (op == OP_CHILDREN || op == OP_CHILDREN2) {
        atomic_fetch_add(&a->lists, 1);
    } else if (op != OP_GET && op != OP_EXISTS && op != OP_CLOSE) {
        atomic_fetch_add(&a->others, 1);
    }
}

/*
 * A queue read through a proxy. The list is one round trip, all the rest together another. Two lists more show that
 * no semaphore is below.
 */
static void read_queue(struct asked *a, int nodes, const char *last)
{
    struct cli c;
    a->proxy = zkt_proxy_start(zkt_servers());
    zkt_proxy_on_request(a->proxy, on_request, a);
    CLI_START_AS(&c, "sh", "-c", "\"$0\" -z \"$1\" status --json $2 | grep -c \"$3\"",
                 cli_zkr(), zkt_proxy_host(a->proxy), zkt_path(), last);
    ZKT_BECOMES(atomic_load(&a->gets), nodes, CLI_PATIENCE_MS);
    zkt_proxy_thaw(a->proxy, ZKT_TO_CLIENT);
    assert_int_equal(cli_wait(&c), 0);
    assert_int_equal(atomic_load(&a->rc), 0);
    assert_int_equal(atomic_load(&a->gets), nodes);
    assert_int_equal(atomic_load(&a->lists), 4); /* that of the gate twice */
    assert_int_equal(atomic_load(&a->others), 0);
    zkt_proxy_stop(a->proxy);
}

ZKT_CASE(all_contenders_are_read_in_two_round_trips)
{
    char name[32], last[64];
    zkt_raw *s = stranger();
    for (int i = 0; i < NODES; i++) {
        (void)snprintf(name, sizeof(name), "n-lock-%010d", i);
        put(s, name, "x");
    }
    (void)snprintf(last, sizeof(last), "\"position\":%d,", NODES);
    struct asked a = {.gone = NULL};
    read_queue(&a, NODES, last);
    assert_int_equal(CLI("status", zkt_path()), 0);
    assert_int_equal(zkt_raw_close(s), 0);
}

/* One that ends between the list and the look at it is left out, and the rest move up. */
ZKT_CASE(nodes_that_vanish_meanwhile_are_left_out)
{
    zkt_raw *s = stranger();
    put(s, "a-lock-0000000001", "x");
    put(s, "b-lock-0000000002", "y");
    put(s, "c-lock-0000000003", "z");
    struct asked a = {.gone = zkt_child("b-lock-0000000002")};
    read_queue(&a, 3,
               "\"position\":1,.*\"a-lock-0000000001\".*\"position\":2,[^{]*"
               "\"c-lock-0000000003\"");
    assert_int_equal(zkt_raw_close(s), 0);
}
