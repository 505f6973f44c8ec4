/* SPDX-License-Identifier: Apache-2.0 */
/* Permissions that are taken away in the middle, and given back: of nodes that are held, and of their parents. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include <zkr/guard.h>

#include "actor.h"
#include "fixture.h"
#include "fourlw.h"

enum { SESSION_MS = 4000, PATIENCE_MS = 30000 };
enum { BLIND = ZKT_ALL & ~ZKT_READ };

static int64_t probes(zkr_client *c)
{
    zkr_stats stats;
    ZKT_MUST(zkr_client_stats(c, &stats, sizeof(stats)));
    return stats.probes;
}

static int64_t pending(zkr_client *c)
{
    zkr_stats stats;
    ZKT_MUST(zkr_client_stats(c, &stats, sizeof(stats)));
    return stats.pending_deletes;
}

static void forbid_reading(zkr_mutex *m, char *node, size_t size)
{
    ZKT_MUST(zkr_mutex_node(m, node, size));
    assert_int_equal(zkt_set_acl(zkt_servers(), node, BLIND), ZKT_OK);
}

/* A hold whose node may not be read neither takes others with it, nor is it lost, nor does the client ask all the time. */
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
    int64_t before = probes(c);
    for (int i = 0; i < 20; i++) {
        zkt_sleep_ms(SESSION_MS / 10);
        assert_true(zkr_mutex_valid_for_ms(b) > 0);
        assert_true(zkr_mutex_valid_for_ms(a) > 0);
    }
    assert_in_range(probes(c) - before, 4, 100); /* in two session time-outs */
    ZKT_MUST(zkr_mutex_release(b));
    ZKT_MUST(zkr_mutex_release(a));
}

/* With no other node to check the session is proven all the same; and that the node is gone shows without reading. */
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

/* Newer servers do not tell whether it exists (ZOOKEEPER-2590). */
static bool may_ask(const char *node)
{
    zkt_stat st;
    zkt_raw *raw = zkt_raw_open(zkt_servers(), PATIENCE_MS);
    assert_non_null(raw);
    int rc = zkt_raw_exists(raw, node, false, &st);
    (void)zkt_raw_close(raw);
    return rc == ZKT_OK;
}

/* Behind a cut, the owner is told to whoever may not read the node, too; by newer servers, its end. */
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
 * Newer servers do not tell of its end those who may not read it (CVE-2024-23944), and take their watches away. Who waits
 * behind it holds in the end.
 */
ZKT_CASE(an_unreadable_node_ahead_blocks_nobody_for_ever)
{
    enum { SHORT_MS = 1000 };
    char node[256];
    zkr_client *c = zkt_client(zkt_servers(), SHORT_MS);
    zkr_client *d = zkt_client(zkt_servers(), SHORT_MS);
    zkr_mutex *m = zkt_mutex(c), *behind = zkt_mutex(d);
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_request(behind, ZKR_FOREVER, NULL, NULL, &t));
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    ZKT_BECOMES(zkt_watchers_but(zkt_servers(), node, zkr_client_session_id(c)), 1,
                PATIENCE_MS);
    assert_int_equal(zkt_set_acl(zkt_servers(), node, BLIND), ZKT_OK);
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
}

/* A downgrade of a node that may not be read is refused: it is held as before, and gone after the release. */
ZKT_CASE(an_unreadable_writer_stays_one)
{
    char node[256];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_rwlock *l = NULL;
    ZKT_MUST(zkr_rwlock_create(&l, c, zkt_path(), NULL));
    zkr_mutex *write = zkr_rwlock_writer(l), *read = zkr_rwlock_reader(l);
    ZKT_MUST(zkr_mutex_acquire(write, PATIENCE_MS));
    forbid_reading(write, node, sizeof(node));
    ZKT_MUST(zkr_mutex_acquire(read, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_release(write));
    zkt_sleep_ms(SESSION_MS / 4);
    assert_true(zkr_mutex_is_held(read));
    ZKT_MUST(zkr_mutex_release(read));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
    ZKT_MUST(zkr_rwlock_destroy(l));
}

/* A write under the guard is refused, and the hold stays. */
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

/* Nodes that their owner may not write: no note, and nothing else. */
ZKT_CASE(notes_that_are_refused_cost_nothing)
{
    enum { MANY = 300 };
    struct ACL acl[] = {{ZKT_ALL & ~ZKT_WRITE, ZOO_ANYONE_ID_UNSAFE}};
    const struct ACL_vector unwritable = {1, acl};
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.acl = &unwritable;
    zkr_client *c = zkt_client_with(zkt_servers(), &o);
    zkr_mutex *m[MANY];
    for (int i = 0; i < MANY; i++) {
        char path[300];
        (void)snprintf(path, sizeof(path), "%s-%d", zkt_path(), i);
        m[i] = zkt_mutex_at(c, path, NULL);
        ZKT_MUST(zkr_mutex_acquire(m[i], PATIENCE_MS));
    }
    int64_t before = probes(c);
    for (int i = 0; i < 20; i++) {
        zkt_sleep_ms(SESSION_MS / 10);
        assert_true(zkr_mutex_valid_for_ms(m[i % MANY]) > 0);
    }
    assert_in_range(probes(c) - before, 4, 100);
    for (int i = 0; i < MANY; i++) {
        ZKT_MUST(zkr_mutex_release(m[i]));
    }
}

/* So many long paths do not fit into one request. */
ZKT_CASE(probes_of_long_paths_fit)
{
    enum { MANY = 128, LONG = 9000 };
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_ticket *t[MANY];
    static char path[LONG + 300];
    int len = snprintf(path, sizeof(path), "%s-", zkt_path());
    (void)memset(path + len, 'x', LONG);
    zkr_mutex *each[MANY];
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(path + len + LONG - 10, 11, "%010d", i);
        each[i] = zkt_mutex_at(c, path, NULL);
        ZKT_MUST(zkr_mutex_request(each[i], ZKR_FOREVER, NULL, NULL, &t[i]));
        ZKT_MUST(zkr_ticket_wait(t[i], PATIENCE_MS));
    }
    int64_t reconnects = zkt_reconnects(c);
    for (int i = 0; i < 20; i++) {
        zkt_sleep_ms(SESSION_MS / 10);
        assert_true(zkr_ticket_valid_for_ms(t[i]) > 0);
    }
    assert_int_equal(zkt_reconnects(c), reconnects);
    for (int i = 0; i < MANY; i++) {
        ZKT_MUST(zkr_ticket_release(t[i]));
        ZKT_MUST(zkr_ticket_destroy(t[i]));
    }
}

/* What could not be deleted is deleted when that is allowed again, and is not said to be gone before. */
ZKT_CASE(a_refused_delete_is_repeated)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c), *behind = zkt_mutex(d);
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_request(behind, ZKR_FOREVER, NULL, NULL, &t));
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL & ~ZKT_DELETE),
                     ZKT_OK);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_RC(zkr_client_flush(c, 1000), ZKR_ETIMEDOUT);
    assert_int_equal(zkr_last_error()->zk_rc, ZNOAUTH);
    assert_int_equal(pending(c), 1);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_WAITING);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL), ZKT_OK);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(pending(c), 0);
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
}

/* Who waits for the delete is told that it is refused: by the log and by flush, not by waiting for ever. */
ZKT_CASE(a_release_does_not_wait_for_permission)
{
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.wait_on_release = 1;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex_with(c, &o);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL & ~ZKT_DELETE),
                     ZKT_OK);
    ZKT_MUST(zkr_mutex_release(m));
    assert_int_equal(pending(c), 1);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL), ZKT_OK);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
}
