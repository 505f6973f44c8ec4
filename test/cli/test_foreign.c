/* SPDX-License-Identifier: Apache-2.0 */
/* zkr where other programs keep their nodes: it lists the locks and nothing else, and touches nothing that is no lock. */
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

static void assert_untouched(int i)
{
    zkt_stat st;
    char data[16];
    if (zkt_get(zkt_servers(), path_of(i), data, sizeof(data), &st) != ZKT_OK ||
        st.version != 0) {
        zkt_fail("%s", path_of(i));
    }
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
    const zkt_node node = {.path = zkt_child("leader"), .flags = ZKT_EPHEMERAL};
    zkt_raw *s = zkt_raw_open(zkt_servers(), 30000);
    assert_non_null(s);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    assert_int_equal(zkt_raw_create(s, &node, NULL, 0), 0);
    assert_non_null(strstr(CLI_SAYS("status", node.path), "held by session 0x"));
    assert_int_equal(CLI("status", "-q", node.path), 0);
    assert_int_equal(CLI("wait", "-w", "0", node.path), 1);
    assert_int_equal(CLI("lock", "-n", node.path, "true"), 65);
    CLI_START(&c, "wait", node.path);
    (void)zkt_raw_close(s);
    assert_int_equal(cli_wait(&c), 0);
    assert_int_equal(CLI("status", "-q", node.path), 1);
}
