/* SPDX-License-Identifier: Apache-2.0 */
/* Tests habits of servers other than ZooKeeper, with a session that is not the library's. */
#include <stdlib.h>

#include "fixture.h"
#include "keep.h"
#include "raw_impl.h"

enum { SESSION_MS = 8000, OP_CREATE2 = 15, OP_CREATE_TTL = 21, UNIMPLEMENTED = -6 };

/* A proxy, and a session through it. */
static zkt_proxy *proxy;
static zkt_raw *session;

static void end_session(void *unused)
{
    zkt_raw_abandon(session);
}

static void begin(int habits)
{
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), ZKT_OK);
    proxy = zkt_proxy_start(zkt_servers());
    zkt_proxy_habits(proxy, habits);
    session = zkt_raw_open(zkt_proxy_host(proxy), SESSION_MS);
    assert_non_null(session);
    zkt_keep(&session, end_session);
}

static void resume(void)
{
    int rc = ZKT_OK;
    zkt_raw *s = zkt_raw_resume(zkt_proxy_host(proxy), zkt_raw_id(session),
                                zkt_raw_passwd(session), &rc);
    assert_non_null(s);
    zkt_raw_abandon(session);
    session = s;
}

static bool made(const char *name)
{
    return zkt_exists(zkt_servers(), zkt_child(name));
}

static int make(const char *name)
{
    return zkt_raw_create(session, &(zkt_node){.path = zkt_child(name)}, NULL, 0);
}

static void put_acl(zkt_packet *p)
{
    zkt_put_int(p, 1);
    zkt_put_int(p, ZKT_ALL);
    zkt_put_text(p, "world");
    zkt_put_text(p, "anyone");
}

/* Appends the fields of a create, createContainer or createTTL. */
static void put_node(zkt_packet *p, int op, const char *path)
{
    zkt_raw_put_path(session, p, path);
    zkt_put_text(p, "");
    put_acl(p);
    zkt_put_int(p, op == ZKT_OP_CREATE_CONTAINER ? ZKT_CONTAINER : 0);
    if (op == OP_CREATE_TTL) {
        zkt_put_long(p, 1000);
    }
}

static zkt_packet create_by(int op, const char *name)
{
    zkt_packet p = zkt_raw_request(session, op, 512);
    put_node(&p, op, zkt_child(name));
    return p;
}

static int call(int op, const char *name)
{
    zkt_packet p = create_by(op, name), reply;
    return zkt_raw_call(session, &p, session->xid, &reply);
}

static int post(int op, const char *name)
{
    zkt_packet p = create_by(op, name);
    return zkt_raw_send(session, &p);
}

static int64_t bytes_to_server(void)
{
    return zkt_proxy_counters(proxy).bytes[ZKT_TO_SERVER];
}

/* Returns the size of a create of a node whose name has one letter. */
static int64_t size_of_create(const char *name)
{
    const int64_t before = bytes_to_server();
    assert_int_equal(call(ZKT_OP_CREATE, name), ZKT_OK);
    return bytes_to_server() - before;
}

/* Expects that the next message refuses request @xid with the code -6. */
static void expect_refusal(int32_t xid, int64_t deadline)
{
    zkt_packet answer;
    assert_int_equal(zkt_raw_receive(session, &answer, deadline), ZKT_OK);
    assert_int_equal(zkt_take_int(&answer), xid);
    assert_int_equal(zkt_take_long(&answer), 0);
    assert_int_equal(zkt_take_int(&answer), UNIMPLEMENTED);
    assert_true(!answer.bad && answer.at == answer.end);
}

/*
 * A create, @op and another create are all at the proxy before it reads them. The first is executed, but its answer is
 * lost, and the server receives none of the others. The session goes on.
 */
static void ends_at(int op, bool refused)
{
    zkt_packet answer;
    const int64_t size = size_of_create("a");
    const int64_t passed = bytes_to_server();
    zkt_proxy_freeze(proxy, ZKT_TO_SERVER);
    assert_int_equal(post(ZKT_OP_CREATE, "b"), ZKT_OK);
    assert_int_equal(post(op, "c"), ZKT_OK);
    const int32_t xid = session->xid;
    assert_int_equal(post(ZKT_OP_CREATE, "d"), ZKT_OK);
    const int64_t deadline = zkt_now_ms() + 5000;
    zkt_proxy_thaw(proxy, ZKT_TO_SERVER);
    if (refused) {
        expect_refusal(xid, deadline);
    }
    assert_int_equal(zkt_raw_receive(session, &answer, deadline), ZKT_LOST);
    /* The connection is closed, and not only silent. */
    assert_true(zkt_now_ms() < deadline);
    assert_int_equal(bytes_to_server() - passed, size);
    ZKT_EVENTUALLY(made("b"), 5000);
    resume();
    assert_int_equal(make("e"), ZKT_OK);
    assert_false(made("c") || made("d"));
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), ZKT_OK);
    ZKT_BECOMES(zkt_proxy_counters(proxy).open, 1, 5000);
}

static void works(int op)
{
    assert_int_equal(call(op, "f"), ZKT_OK);
    assert_int_equal(zkt_delete(zkt_servers(), zkt_child("f")), ZKT_OK);
}

/* Without habits, all operations are known, even after habits were set and removed. */
ZKT_CASE(habits_end_when_they_are_set_anew)
{
    begin(0);
    works(OP_CREATE2);
    works(ZKT_OP_CREATE_CONTAINER);
    zkt_proxy_habits(proxy, ZKR_TEST_NO_CREATE2);
    ends_at(OP_CREATE2, false);
    zkt_proxy_heal(proxy); /* healing ends faults, but not habits */
    ends_at(OP_CREATE2, false);
    zkt_proxy_habits(proxy, 0);
    works(OP_CREATE2);
}

/* The habit of with_server affects connections to zkt_servers(), but not the requests that tests make directly. */
ZKT_CASE(a_habit_between_takes_effect)
{
    const bool between = getenv("ZKR_TEST_DIRECT") != NULL; /* lib.habits@no_create2 */
    begin(0);
    assert_int_equal(call(OP_CREATE2, "a"), between ? ZKT_LOST : ZKT_OK);
    assert_int_equal(zkt_create(zkt_servers(), zkt_child("b"), "", ZKT_CONTAINER),
                     ZKT_OK);
}

/* The server lacks both create2 and containers, or only containers. */
ZKT_CASE(what_is_not_known_ends_the_connection)
{
    begin(ZKR_TEST_NO_CREATE2);
    ends_at(OP_CREATE2, false);
    ends_at(ZKT_OP_CREATE_CONTAINER, false);
    ends_at(OP_CREATE_TTL, false);
    zkt_proxy_habits(proxy, ZKR_TEST_NO_CONTAINERS);
    ends_at(ZKT_OP_CREATE_CONTAINER, false);
    ends_at(OP_CREATE_TTL, false);
    works(OP_CREATE2);
}

/* The connection ends with an answer, which is sent ahead of an answer that is due. */
ZKT_CASE(what_is_not_known_is_refused_out_of_turn)
{
    begin(ZKR_TEST_NO_CREATE2 | ZKR_TEST_REFUSES);
    ends_at(OP_CREATE2, true);
    ends_at(ZKT_OP_CREATE_CONTAINER, true);
    zkt_proxy_habits(proxy, ZKR_TEST_NO_CONTAINERS | ZKR_TEST_REFUSES);
    ends_at(OP_CREATE_TTL, true);
    works(OP_CREATE2);
}

/*
 * A client that reconnects gets a new session, but its old session still exists, and can be used through the server
 * itself.
 */
ZKT_CASE(a_connection_gets_a_new_session)
{
    int rc = ZKT_OK;
    begin(ZKR_TEST_NEW_SESSIONS);
    const zkt_node node = {.path = zkt_child("old"), .flags = ZKT_EPHEMERAL};
    assert_int_equal(zkt_raw_create(session, &node, NULL, 0), ZKT_OK);
    char passwd[16];
    const int64_t id = zkt_raw_id(session);
    memcpy(passwd, zkt_raw_passwd(session), sizeof passwd);
    zkt_proxy_drop_connections(proxy);
    assert_int_equal(make("a"), ZKT_LOST);
    resume();
    assert_int_equal(make("a"), ZKT_OK);
    assert_true(zkt_raw_id(session) != id && zkt_raw_id(session) != 0);
    zkt_stat st = {0};
    assert_int_equal(zkt_raw_exists(session, node.path, false, &st), ZKT_OK);
    assert_int_equal(st.ephemeral_owner, id);
    zkt_raw *old = zkt_raw_resume(zkt_servers(), id, passwd, &rc);
    assert_non_null(old);
    assert_int_equal(zkt_raw_id(old), id);
    assert_int_equal(zkt_raw_close(old), ZKT_OK);
    assert_false(made("old"));
    zkt_proxy_habits(proxy, 0);
    const int64_t kept = zkt_raw_id(session);
    zkt_proxy_drop_connections(proxy);
    resume();
    assert_int_equal(zkt_raw_id(session), kept);
}

/* Without a leader, no client gets a session, and none loses one. */
ZKT_CASE(a_server_without_a_leader_gives_session_0)
{
    begin(0);
    assert_int_equal(make("a"), ZKT_OK);
    const int64_t id = zkt_raw_id(session);
    zkt_proxy_habits(proxy, ZKR_TEST_NO_LEADER);
    assert_int_equal(make("b"), ZKT_OK);
    zkt_proxy_drop_connections(proxy);
    const int64_t passed = bytes_to_server();
    for (int i = 0; i < 3; i++) {
        zkt_raw *none = zkt_raw_open(zkt_proxy_host(proxy), SESSION_MS);
        assert_non_null(none);
        assert_int_equal(zkt_raw_id(none), 0);
        assert_int_equal(zkt_raw_ping(none), ZKT_LOST);
        zkt_raw_abandon(none);
    }
    assert_int_equal(bytes_to_server(), passed);
    ZKT_BECOMES(zkt_proxy_counters(proxy).open, 0, 5000);
    zkt_proxy_habits(proxy, 0);
    resume();
    assert_int_equal(zkt_raw_id(session), id);
    assert_int_equal(make("c"), ZKT_OK);
}

/* ---- changes of children ------------------------------------------------------------ */

enum {
    OP_GET_ACL = 6,
    OP_CHILDREN2 = 12,
    OP_CHECK = 13,
    OP_MULTI = 14,
};
enum { STAT_SIZE = 68, HEADER_SIZE = 9 };

/* Appends the fields after the path in a request about an existing node. */
static void put_rest(zkt_packet *p, int op)
{
    if (op == ZKT_OP_SET) {
        zkt_put_text(p, "data");
        zkt_put_int(p, -1);
    } else if (op == ZKT_OP_SET_ACL) {
        put_acl(p);
        zkt_put_int(p, -1);
    } else if (op != OP_GET_ACL) {
        zkt_put_bool(p, false);
    }
}

static int32_t last_cversion(const zkt_packet *reply)
{
    zkt_stat st = {0};
    assert_true(reply->end - reply->at >= STAT_SIZE);
    zkt_packet p = {.at = reply->end - STAT_SIZE, .end = reply->end};
    zkt_take_stat(&p, &st);
    return st.cversion;
}

/* Returns the cversion in the answer to @op. */
static int32_t cversion_by(int op, const char *path)
{
    zkt_packet p = zkt_raw_request(session, op, 512), reply;
    zkt_raw_put_path(session, &p, path);
    put_rest(&p, op);
    assert_int_equal(zkt_raw_call(session, &p, session->xid, &reply), ZKT_OK);
    return last_cversion(&reply);
}

/* Checks that all answers with a cversion have @want. */
static void cversion_is(const char *path, int32_t want)
{
    const int ops[] = {ZKT_OP_EXISTS,  ZKT_OP_GET, ZKT_OP_SET,
                       ZKT_OP_SET_ACL, OP_GET_ACL, OP_CHILDREN2};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        assert_int_equal(cversion_by(ops[i], path), want);
    }
}

static int set(const char *name)
{
    return zkt_raw_set(session, zkt_child(name), "x", 1);
}

/* Setting the data of a child raises the counter of its parent only, and only with the habit. */
ZKT_CASE(changes_of_children_count)
{
    begin(0);
    assert_int_equal(make("a"), ZKT_OK);
    assert_int_equal(make("a/b"), ZKT_OK);
    assert_int_equal(set("a/b"), ZKT_OK);
    cversion_is(zkt_child("a"), 1);
    zkt_proxy_habits(proxy, ZKR_TEST_COUNTS_CHANGES);
    cversion_is(zkt_child("a"), 1);
    for (int n = 1; n <= 3; n++) {
        assert_int_equal(set("a/b"), ZKT_OK);
        cversion_is(zkt_child("a"), 1 + n);
    }
    assert_int_equal(set("a/none"), ZKT_NONODE);
    cversion_is(zkt_child("a"), 4);
    cversion_is(zkt_child("a/b"), 0);
    cversion_is(zkt_child("a"), 5); /* b was set to get its Stat */
    assert_int_equal(make("a/c"), ZKT_OK);
    cversion_is(zkt_child("a"), 6);
    zkt_proxy_habits(proxy, 0);
    cversion_is(zkt_child("a"), 2);
}

static int32_t cversion_at_server(const char *path)
{
    zkt_stat st = {0};
    zkt_raw *s = zkt_raw_open(zkt_servers(), SESSION_MS);
    assert_non_null(s);
    assert_int_equal(zkt_raw_exists(s, path, false, &st), ZKT_OK);
    assert_int_equal(zkt_raw_close(s), ZKT_OK);
    return st.cversion;
}

/* The root counts, too, and a node that is created again starts from the beginning. */
ZKT_CASE(changes_are_those_of_one_node)
{
    begin(ZKR_TEST_COUNTS_CHANGES);
    assert_int_equal(make("a"), ZKT_OK);
    assert_int_equal(make("a/b"), ZKT_OK);
    assert_int_equal(set("a/b"), ZKT_OK);
    cversion_is(zkt_child("a"), 2);
    assert_int_equal(zkt_delete_children(zkt_servers(), zkt_path()), ZKT_OK);
    assert_int_equal(call(OP_CREATE2, "a"), ZKT_OK);
    cversion_is(zkt_child("a"), 0);
    for (int n = 1; n <= 2; n++) {
        assert_int_equal(zkt_raw_set(session, "/t", "", 0), ZKT_OK);
        /* Other programs may create nodes there meanwhile. */
        ZKT_EVENTUALLY(cversion_by(ZKT_OP_EXISTS, "/") - cversion_at_server("/") == n,
                       5000);
    }
}

static void put_op(zkt_packet *p, int op, bool done)
{
    zkt_put_int(p, op);
    zkt_put_bool(p, done);
    zkt_put_int(p, -1);
}

static void put_set(zkt_packet *p, const char *name)
{
    put_op(p, ZKT_OP_SET, false);
    zkt_raw_put_path(session, p, zkt_child(name));
    put_rest(p, ZKT_OP_SET);
}

static void put_create(zkt_packet *p, int op, const char *name)
{
    put_op(p, op, false);
    put_node(p, op, zkt_child(name));
}

/* Appends the fields of a delete or a check of any version. */
static void put_of_any(zkt_packet *p, int op, const char *name)
{
    put_op(p, op, false);
    zkt_raw_put_path(session, p, zkt_child(name));
    zkt_put_int(p, -1);
}

static int transact(zkt_packet *p, zkt_packet *reply)
{
    put_op(p, -1, true);
    return zkt_raw_call(session, p, session->xid, reply);
}

/* Changes in transactions count, too, if they succeed. */
ZKT_CASE(changes_of_transactions_count)
{
    zkt_packet reply;
    begin(ZKR_TEST_COUNTS_CHANGES);
    assert_int_equal(make("a"), ZKT_OK);
    assert_int_equal(make("a/b"), ZKT_OK);
    zkt_packet p = zkt_raw_request(session, OP_MULTI, 4096);
    put_set(&p, "a/b");
    put_create(&p, ZKT_OP_CREATE, "a/c");
    put_create(&p, OP_CREATE2, "a/d");
    put_create(&p, ZKT_OP_CREATE_CONTAINER, "a/e");
    put_of_any(&p, OP_CHECK, "a/b");
    put_of_any(&p, ZKT_OP_DELETE, "a/c");
    put_set(&p, "a/d");
    put_set(&p, "a");
    assert_int_equal(transact(&p, &reply), ZKT_OK);
    reply.end -= HEADER_SIZE;
    assert_int_equal(last_cversion(&reply), 7); /* five changes and two more */
    cversion_is(zkt_child("a"), 7);
    p = zkt_raw_request(session, OP_MULTI, 4096);
    put_set(&p, "a/b");
    put_of_any(&p, OP_CHECK, "a/none");
    assert_int_equal(transact(&p, &reply), ZKT_OK);
    cversion_is(zkt_child("a"), 7);
}
