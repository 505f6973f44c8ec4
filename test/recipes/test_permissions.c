/* SPDX-License-Identifier: Apache-2.0 */
/* Permissions are taken away during a hold or a wait, and given back: those of held nodes, and of their parents. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include <zkr/guard.h>

#include "fourlw.h"
#include "rwlocks.h"

enum { SESSION_MS = 4000, PATIENCE_MS = 30000 };
enum { BLIND = ZKT_ALL & ~ZKT_READ };

static void forbid_reading(zkr_mutex *m, char *node, size_t size)
{
    ZKT_MUST(zkr_mutex_node(m, node, size));
    assert_int_equal(zkt_set_acl(zkt_servers(), node, BLIND), ZKT_OK);
}

/*
 * A hold whose node cannot be read is not lost, and neither are other holds. The client does not send requests
 * all the time.
 */
ZKT_CASE(an_unreadable_node_takes_no_hold)
{
    char node[256], other[300];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *a = zkt_mutex(c);
    (void)snprintf(other, sizeof(other), "%s-other", zkt_path());
    zkr_mutex *b = zkt_mutex_at(c, other, NULL);
    ZKT_MUST(zkr_mutex_acquire(a, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(b, PATIENCE_MS));
    zkt_sleep_ms(SESSION_MS / 4);
    forbid_reading(a, node, sizeof(node));
    int64_t before = zkt_stats(c).probes;
    for (int i = 0; i < 20; i++) {
        zkt_sleep_ms(SESSION_MS / 10);
        assert_true(zkr_mutex_valid_for_ms(b) > 0);
        assert_true(zkr_mutex_valid_for_ms(a) > 0);
    }
    ZKT_IN_RANGE(zkt_stats(c).probes - before, 4, 100); /* in two session timeouts */
    ZKT_MUST(zkr_mutex_release(b));
    ZKT_MUST(zkr_mutex_release(a));
}

/*
 * Probes prove the session even if no other node can be checked, and the deletion of the node is noticed without
 * reading it.
 */
ZKT_CASE(an_unreadable_node_that_is_deleted_is_missed)
{
    char node[256];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_sleep_ms(SESSION_MS / 4);
    forbid_reading(m, node, sizeof(node));
    zkt_sleep_ms(2 * SESSION_MS);
    assert_true(zkr_mutex_valid_for_ms(m) > 0);
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
    ZKT_EVENTUALLY(!zkr_mutex_is_held(m), PATIENCE_MS);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
}

/* Newer servers do not report whether such a node exists (ZOOKEEPER-2590). */
static bool may_ask(const char *node)
{
    zkt_stat st;
    zkt_raw *raw = zkt_raw_open(zkt_servers(), PATIENCE_MS);
    assert_non_null(raw);
    int rc = zkt_raw_exists(raw, node, false, &st);
    (void)zkt_raw_close(raw);
    return rc == ZKT_OK;
}

/*
 * After a reconnect, the client learns that somebody else owns the node, although it cannot read the node. With newer
 * servers, it learns only of the deletion.
 */
ZKT_CASE(an_unreadable_node_of_another_is_known)
{
    char node[256];
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    zkt_proxy_cut(p);
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
    assert_int_equal(zkt_create(zkt_servers(), node, "", 0), ZKT_OK);
    assert_int_equal(zkt_set_acl(zkt_servers(), node, BLIND), ZKT_OK);
    bool asks = may_ask(node);
    zkt_proxy_heal(p);
    if (!asks) {
        assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
    }
    ZKT_EVENTUALLY(!zkr_mutex_is_held(m), PATIENCE_MS);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    assert_true(!asks || zkt_delete(zkt_servers(), node) == ZKT_OK);
}

/*
 * Newer servers do not send the deletion of a node to clients that cannot read it (CVE-2024-23944), and remove their
 * watches. The waiter behind the node is granted in the end.
 */
ZKT_CASE(an_unreadable_node_ahead_blocks_nobody_for_ever)
{
    enum { SHORT_MS = 1000 };
    char node[256];
    zkr_client *c = zkt_client(zkt_servers(), SHORT_MS);
    zkr_client *d = zkt_client(zkt_servers(), SHORT_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkr_ticket *t = zkt_ticket(zkt_mutex(d));
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    ZKT_BECOMES(zkt_watchers_but(zkt_servers(), node, zkr_client_session_id(c)), 1,
                PATIENCE_MS);
    assert_int_equal(zkt_set_acl(zkt_servers(), node, BLIND), ZKT_OK);
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
}

/* A node that cannot be read is not downgraded. It is still held, and it is deleted by the release. */
ZKT_CASE(an_unreadable_writer_stays_one)
{
    char node[256];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = sides_of(c);
    ZKT_MUST(zkr_mutex_acquire(s.w, PATIENCE_MS));
    forbid_reading(s.w, node, sizeof(node));
    ZKT_MUST(zkr_mutex_acquire(s.r, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_release(s.w));
    zkt_sleep_ms(SESSION_MS / 4);
    assert_true(zkr_mutex_is_held(s.r));
    ZKT_MUST(zkr_mutex_release(s.r));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
}

/* A guarded write is refused, and the hold remains. */
ZKT_CASE(an_unreadable_node_guards_no_write)
{
    char node[256];
    zoo_op_t op;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    forbid_reading(m, node, sizeof(node));
    zoo_check_op_init(&op, "/", -1);
    ZKT_RC(zkr_mutex_multi(m, 1, &op, NULL, PATIENCE_MS), ZKR_EAUTH);
    assert_true(zkr_mutex_is_held(m));
    ZKT_MUST(zkr_mutex_release(m));
}

/* The owner cannot write its nodes: the time of the grant is missing, and everything else works. */
ZKT_CASE(notes_that_are_refused_cost_nothing)
{
    enum { MANY = 300 };
    struct ACL acl[] = {{ZKT_ALL & ~ZKT_WRITE, ZOO_ANYONE_ID_UNSAFE}};
    const struct ACL_vector unwritable = {1, acl};
    zkr_client *c = ZKT_CLIENT_WITH(zkt_servers(), .session_timeout_ms = SESSION_MS,
                                    .acl = &unwritable);
    zkr_mutex *m[MANY];
    for (int i = 0; i < MANY; i++) {
        char path[300];
        (void)snprintf(path, sizeof(path), "%s-%d", zkt_path(), i);
        m[i] = zkt_mutex_at(c, path, NULL);
        ZKT_MUST(zkr_mutex_acquire(m[i], PATIENCE_MS));
    }
    int64_t before = zkt_stats(c).probes;
    for (int i = 0; i < 20; i++) {
        zkt_sleep_ms(SESSION_MS / 10);
        ZKT_EVENTUALLY(zkr_mutex_valid_for_ms(m[i % MANY]) > 0, PATIENCE_MS);
    }
    assert_int_equal(zkr_contenders_get(zkt_contenders(m[0]), 0)->held_since_ms, 0);
    ZKT_IN_RANGE(zkt_stats(c).probes - before, 4, 100);
    for (int i = 0; i < MANY; i++) {
        ZKT_MUST(zkr_mutex_release(m[i]));
    }
}

/* The paths are too long for one probe. */
ZKT_CASE(probes_of_long_paths_fit)
{
    enum { MANY = 100, LONG = 9000 };
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_ticket *t[MANY];
    static char path[LONG + 300];
    int len = snprintf(path, sizeof(path), "%s-", zkt_path());
    (void)memset(path + len, 'x', LONG);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(path + len + LONG - 10, 11, "%010d", i);
        t[i] = zkt_ticket(zkt_mutex_at(c, path, NULL));
        ZKT_MUST(zkr_ticket_wait(t[i], PATIENCE_MS));
    }
    int64_t reconnects = zkt_reconnects(c);
    for (int i = 0; i < 20; i++) {
        zkt_sleep_ms(SESSION_MS / 10);
        assert_true(zkr_ticket_valid_for_ms(t[i]) > 0);
    }
    assert_int_equal(zkt_reconnects(c), reconnects);
}

/* A delete that was refused is repeated until it is allowed. Until then, the node is not reported as deleted. */
ZKT_CASE(a_refused_delete_is_repeated)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkr_ticket *t = zkt_ticket(zkt_mutex(d));
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL & ~ZKT_DELETE),
                     ZKT_OK);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_RC(zkr_client_flush(c, 1000), ZKR_ETIMEDOUT);
    assert_int_equal(zkr_last_error()->zk_rc, ZNOAUTH);
    assert_int_equal(zkt_stats(c).pending_deletes, 1);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_WAITING);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL), ZKT_OK);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_stats(c).pending_deletes, 0);
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
}

/* A release with wait_on_release does not wait for a refused delete. The log and flush report the refusal. */
ZKT_CASE(a_release_does_not_wait_for_permission)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = ZKT_MUTEX_WITH(c, .wait_on_release = 1);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL & ~ZKT_DELETE),
                     ZKT_OK);
    ZKT_MUST(zkr_mutex_release(m));
    assert_int_equal(zkt_stats(c).pending_deletes, 1);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL), ZKT_OK);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
}
