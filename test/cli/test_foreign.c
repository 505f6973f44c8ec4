/* SPDX-License-Identifier: Apache-2.0 */
/* zkr where other programs keep their nodes: it lists the locks and nothing else, and touches nothing that is no lock. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "keep.h"

#define GUID "01234567-89ab-4def-8123-456789abcdef"
#define HEX "0123456789ab4def8123456789abcdef"

enum { SPARED = 65, NOBODY = 1 };

/* @revoke: the status of zkr revoke. */
static const struct {
    const char *dir, *name;
    int flags;
    bool listed;
    int revoke;
} nodes[] = {
    /* items of queues and logs: kazoo, TaskFlow, Kafka, Solr */
    {"queue", "entry-100-0000000000", 0, false, SPARED},
    {"board", "job0000000000", 0, false, SPARED},
    {"changes", "config_change_0000000000", 0, false, SPARED},
    {"overseer", "qn-0000000000", 0, false, SPARED},
    /* containers: no session owns them */
    {"shards", "shard-0000000000", ZKT_CONTAINER, false, SPARED},
    {"held", "_c_" GUID "-lock-0000000000", ZKT_CONTAINER, true, SPARED},
    /* numbers that no server gave out: HBase, an hour of Hive, an id */
    {"rs", "host,16020,1732795200123", ZKT_EPHEMERAL, false, NOBODY},
    {"table", "dt=2025112812", 0, false, NOBODY},
    {"members", "member-" HEX "1234567890", ZKT_EPHEMERAL, false, NOBODY},
    /* a lock below such a name */
    {"orders/4915112345678", "_c_" GUID "-lock-0000000000", ZKT_EPHEMERAL, true, 0},
    /* locks and elections whose holders cannot be asked: kazoo, one that is persistent on purpose, go-leaderelection */
    {"kazoo", HEX "__lock__0000000000", ZKT_EPHEMERAL, true, SPARED},
    {"lockpick", HEX "__lock__0000000000", 0, true, SPARED},
    {"go", "le_0000000000", ZKT_EPHEMERAL, true, SPARED},
    {"hive", "LOCK-SHARED-0000000000", ZKT_EPHEMERAL, true, SPARED},
};
enum { COUNT = sizeof(nodes) / sizeof(nodes[0]) };

static void end_session(void *session)
{
    (void)zkt_raw_close(session);
}

static const char *path_of(int i)
{
    char below[256];
    (void)snprintf(below, sizeof(below), "%s/%s", nodes[i].dir, nodes[i].name);
    return zkt_child(below);
}

/* Returns their session, which wants a ping every few seconds. */
static zkt_raw *make_nodes(void)
{
    zkt_raw *s = zkt_raw_open(zkt_servers(), 30000);
    assert_non_null(s);
    zkt_keep(s, end_session);
    for (int i = 0; i < COUNT; i++) {
        const zkt_node node = {.path = path_of(i),
                               .data = "theirs",
                               .data_len = 6,
                               .flags = nodes[i].flags};
        assert_int_equal(zkt_create_path(zkt_servers(), zkt_child(nodes[i].dir)), 0);
        assert_int_equal(zkt_raw_create(s, &node, NULL, 0), 0);
    }
    return s;
}

static void assert_node_untouched(const char *path)
{
    zkt_stat st;
    char data[16];
    if (zkt_get(zkt_servers(), path, data, sizeof(data), &st) != ZKT_OK ||
        st.version != 0 || st.mzxid != st.czxid) {
        zkt_fail("%s", path);
    }
}

static void assert_untouched(int i)
{
    assert_node_untouched(path_of(i));
}

ZKT_CASE(the_locks_are_listed_and_nothing_else)
{
    zkt_raw *s = make_nodes();
    const char *text = CLI_SAYS("ls", "-r", zkt_path());
    for (int i = 0; i < COUNT; i++) {
        char line[256];
        (void)snprintf(line, sizeof(line), "\n%s ", zkt_child(nodes[i].dir));
        if (!!strstr(text, line) != nodes[i].listed) {
            zkt_fail("%s: %s", line, text);
        }
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(zkt_raw_ping(s), ZKT_OK);
        const bool is_free = CLI("status", "-q", zkt_child(nodes[i].dir)) == 1;
        const int waited = CLI("wait", "-w", "0", zkt_child(nodes[i].dir));
        if (waited != (is_free ? 0 : 1)) {
            zkt_fail("wait %s: %d", path_of(i), waited);
        }
        assert_untouched(i);
    }
}

ZKT_CASE(only_a_holder_that_can_be_asked_is_written_to)
{
    zkt_raw *s = make_nodes();
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(zkt_raw_ping(s), ZKT_OK);
        const int status = CLI("revoke", zkt_child(nodes[i].dir));
        if (status != nodes[i].revoke) {
            zkt_fail("%s: %d", path_of(i), status);
        }
        if (status != 0) {
            assert_untouched(i);
        }
    }
}

/* Contenders are shown in the line of their queue, and have no lines of their own. */
ZKT_CASE(members_are_listed_on_demand)
{
    static const char *const shown[] = {
        "/rs/host,16020,1732795200123\",\"kind\":\"node\"",
        "/members/member-" HEX "1234567890\",\"kind\":\"node\""};
    (void)make_nodes();
    const char *text = CLI_SAYS("ls", "-a", "-r", "--json", zkt_path());
    for (int i = 0; i < 2; i++) {
        assert_non_null(strstr(text, shown[i]));
    }
    assert_non_null(strstr(text, "/kazoo\""));
    assert_null(strstr(text, "/kazoo/"));
    assert_null(strstr(text, "/go/"));
}

/* By force ephemeral nodes are deleted, and nothing else: not even after a wait. */
ZKT_CASE(force_deletes_what_a_session_owns)
{
    zkt_raw *s = make_nodes();
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(zkt_raw_ping(s), ZKT_OK);
        const bool deletes = nodes[i].flags == ZKT_EPHEMERAL && nodes[i].listed;
        const char *wait = deletes ? "0" : "3600";
        const int status =
            CLI("revoke", "-w", wait, "--force", zkt_child(nodes[i].dir));
        if ((status == 0) != deletes) {
            zkt_fail("%s: %d", path_of(i), status);
        }
        if (!deletes) {
            assert_untouched(i);
        }
    }
}

/* An item that no session will end is named: a lock would wait for it. */
ZKT_CASE(an_item_is_named_that_a_lock_waits_for)
{
    struct cli c;
    (void)make_nodes();
    assert_int_equal(CLI_RUN(&c, "status", zkt_child("queue")), 0);
    assert_non_null(strstr(cli_err(&c), "entry-100-0000000000 is not ephemeral"));
    assert_int_equal(CLI("status", "-q", zkt_child("queue")), 0);
    assert_int_equal(CLI("lock", "-n", zkt_child("queue"), "true"), 1);
}

/* What a lock asked for now would pass is free for every verb. */
ZKT_CASE(a_number_that_was_not_given_out_holds_nothing)
{
    static const char *const dirs[] = {"rs", "table", "members"};
    zkt_raw *s = make_nodes();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(zkt_raw_ping(s), ZKT_OK);
        const char *path = zkt_child(dirs[i]);
        assert_int_equal(CLI("status", "-q", path), 1);
        assert_int_equal(CLI("wait", "-w", "0", path), 0);
        assert_int_equal(CLI("lock", "-n", path, "true"), 0);
    }
}

/* Kafka's /controller, a leader of Patroni: the path is the lock. */
ZKT_CASE(an_ephemeral_path_is_held)
{
    struct cli c;
    const zkt_node node = {.path = zkt_child("leader"),
                           .data = "host1",
                           .data_len = 5,
                           .flags = ZKT_EPHEMERAL};
    zkt_raw *s = zkt_raw_open(zkt_servers(), 30000);
    assert_non_null(s);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    assert_int_equal(zkt_raw_create(s, &node, NULL, 0), 0);
    assert_non_null(strstr(CLI_SAYS("status", node.path), "\n1    host1  0x"));
    assert_non_null(strstr(CLI_SAYS("status", "--json", node.path),
                           "\"kind\":\"node\",\"owner\":\"host1\""));
    assert_non_null(
        strstr(CLI_SAYS("ls", "-a", zkt_path()), "/leader  node         host1"));
    assert_null(strstr(CLI_SAYS("ls", zkt_path()), "host1"));
    assert_int_equal(CLI("status", "-q", node.path), 0);
    assert_int_equal(CLI("wait", "-w", "0", node.path), 1);
    assert_int_equal(CLI("lock", "-n", node.path, "true"), 65);
    CLI_START(&c, "wait", node.path);
    (void)zkt_raw_close(s);
    assert_int_equal(cli_wait(&c), 0);
    assert_int_equal(CLI("status", "-q", node.path), 1);
}

/* --- a lock beside other makers' nodes --- */

static const struct {
    const char *name, *maker;
    int status;       /* of lock -n: 65 = refused */
    const char *says; /* on stderr; NULL = nothing of the maker */
} makers[] = {
    {HEX "__lock__0000000000", "kazoo", 1, "kazoo uses this path and might not wait"},
    {HEX "__rlock__0000000000", "kazoo", 1, "kazoo uses this path and might not wait"},
    {HEX "__wlock__0000000000", "kazoo", 1, "kazoo uses this path and might not wait"},
    {"lock-" HEX "-0000000000", "aiozk", 1, NULL},
    {"candidate-" HEX "-0000000000", "aiozk", 1, NULL},
    {"latch-9-0000000000", "zookeeper-async", 1, NULL},
    {GUID "_0000000000", "zookeeper-async", 1,
     "zookeeper-async uses this path and might not wait"},
    {"0000000000", "Vitess", 1, "Vitess uses this path and might not wait"},
    {"00000000000", "Camel", 1, "Camel uses this path and might not wait"},
    {"LOCK-SHARED-0000000000", "Hive", 1, "Hive uses this path and might not wait"},
    {"LOCK-EXCLUSIVE-0000000000", "Hive", 1, "Hive uses this path and might not wait"},
    {"urL0000000000", "BookKeeper", 1, "BookKeeper uses this path and might not wait"},
    {"member_a_0000000000", "DistributedLog", 1,
     "DistributedLog uses this path and might not wait"},
    {"zlock#" GUID "#0000000000", "Accumulo", 1,
     "Accumulo uses this path and might not wait"},
    {"a|0000000000", "Ignite", 1, "Ignite uses this path and might not wait"},
    {"le_0000000000", "go-leaderelection", 65, "is used by go-leaderelection"},
    {"R_0000000000", "Solr", 65, "is used by Solr"},
    {"W_0000000000", "Solr", 65, "is used by Solr"},
    {"72057611217797120-host-n_0000000000", "Solr", 65, "is used by Solr"},
    {"V_0000000000", "BookKeeper", 65, "is used by BookKeeper"},
};
enum { MAKERS = sizeof(makers) / sizeof(makers[0]) };

static const char *maker_path(int i, const char *node)
{
    char below[256];
    (void)snprintf(below, sizeof(below), "maker%d%s%s", i, *node ? "/" : "", node);
    return zkt_child(below);
}

static int children_of(const char *path)
{
    zkt_stat st;
    char data[16];
    assert_int_equal(zkt_get(zkt_servers(), path, data, sizeof(data), &st), ZKT_OK);
    return st.num_children;
}

/* A node of ours that others would fail at goes at once, whichever verb made it. */
ZKT_CASE(a_lock_names_who_does_not_wait_for_it)
{
    zkt_raw *s = zkt_raw_open(zkt_servers(), 30000);
    assert_non_null(s);
    zkt_keep(s, end_session);
    for (int i = 0; i < MAKERS; i++) {
        struct cli c;
        const zkt_node node = {.path = maker_path(i, makers[i].name),
                               .flags = ZKT_EPHEMERAL};
        assert_int_equal(zkt_create_path(zkt_servers(), maker_path(i, "")), 0);
        assert_int_equal(zkt_raw_create(s, &node, NULL, 0), 0);
        print_message("%s\n", node.path);
        assert_int_equal(CLI_RUN(&c, "lock", "-n", maker_path(i, ""), "true"),
                         makers[i].status);
        if (makers[i].says) {
            assert_non_null(strstr(cli_err(&c), makers[i].says));
        } else {
            assert_null(strstr(cli_err(&c), makers[i].maker));
        }
        if (makers[i].status == 65) {
            assert_int_equal(CLI("lock", "-w", "60", maker_path(i, ""), "true"), 65);
            assert_int_equal(CLI("lock", "-s", maker_path(i, ""), "true"), 65);
            assert_int_equal(CLI("elect", maker_path(i, ""), "true"), 65);
        }
        assert_int_equal(children_of(maker_path(i, "")), 1);
        assert_int_equal(zkt_raw_ping(s), ZKT_OK);
        char kind[128];
        (void)snprintf(kind, sizeof(kind), "  %s  ", makers[i].maker);
        assert_non_null(strstr(CLI_SAYS("ls", maker_path(i, "")), kind));
        (void)snprintf(kind, sizeof(kind), "\"maker\":\"%s\"", makers[i].maker);
        assert_non_null(strstr(CLI_SAYS("ls", "--json", maker_path(i, "")), kind));
        assert_int_equal(CLI("status", "-q", maker_path(i, "")), 0);
        assert_int_equal(CLI("wait", "-w", "0", maker_path(i, "")), 1);
        assert_int_equal(CLI("revoke", maker_path(i, "")), SPARED);
        assert_node_untouched(node.path);
    }
}

/* The nodes of a semaphore, such as Curator's InterProcessSemaphoreMutex, do not exclude a lock on its path. */
ZKT_CASE(a_lock_names_the_semaphore_at_its_path)
{
    struct cli c;
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_child("locks")), 0);
    assert_int_equal(
        zkt_create_path(zkt_servers(), zkt_child("leases/_c_0-lease-0000000000")), 0);
    assert_int_equal(CLI_RUN(&c, "lock", zkt_path(), "true"), 0);
    cli_assert_one_line(&c);
    assert_non_null(strstr(cli_err(&c), "a semaphore also uses this path"));
}

/* Two that share, or two in an order that is not known: nobody is said to wait. */
ZKT_CASE(an_unknown_order_is_not_told)
{
    static const char *const names[] = {"LOCK-SHARED-0000000000",
                                        "LOCK-SHARED-0000000001"};
    zkt_raw *s = zkt_raw_open(zkt_servers(), 30000);
    assert_non_null(s);
    zkt_keep(s, end_session);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    for (int i = 0; i < 2; i++) {
        const zkt_node node = {.path = zkt_child(names[i]), .flags = ZKT_EPHEMERAL};
        assert_int_equal(zkt_raw_create(s, &node, NULL, 0), 0);
    }
    const char *text = CLI_SAYS("ls", zkt_path());
    assert_non_null(strstr(text, "LOCK-SHARED-0000000000, first of 2"));
    const char *json = CLI_SAYS("ls", "--json", zkt_path());
    assert_non_null(strstr(json, "\"waiting\":null,\"waiting_since\":null"));
    assert_non_null(strstr(json, "\"holders\":null"));
    assert_non_null(
        strstr(CLI_SAYS("status", "--json", zkt_path()), "\"waiting\":null"));
}

/* It is said at once, not when somebody wonders why. */
ZKT_CASE(a_wait_for_what_no_session_ends_is_said)
{
    static const char *const verbs[] = {"lock", "wait"};
    (void)make_nodes();
    for (int i = 0; i < 2; i++) {
        struct cli c;
        CLI_START(&c, verbs[i], zkt_child("queue"));
        ZKT_EVENTUALLY(strstr(cli_err(&c), "not ephemeral: no session will end it"),
                       CLI_PATIENCE_MS);
        cli_stop(&c, SIGTERM);
    }
}
