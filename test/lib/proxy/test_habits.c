/* SPDX-License-Identifier: Apache-2.0 */
/* Habits of servers that are not ZooKeeper, by a session that is not the library's. */
#include "fixture.h"
#include "keep.h"
#include "raw_impl.h"

enum { SESSION_MS = 8000, OP_CREATE2 = 15, OP_CREATE_TTL = 21, UNIMPLEMENTED = -6 };

/* A proxy, and a session through it. */
static zkt_proxy *proxy;
static zkt_raw *session;

static void end_session(void *unused)
{
    (void)unused;
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

/* A create, createContainer or createTTL of a node that everybody may use. */
static zkt_packet create_by(int op, const char *name)
{
    const char *path = zkt_child(name);
    zkt_packet p = zkt_raw_request(session, op, 512);
    zkt_raw_put_path(session, &p, path);
    zkt_put_text(&p, "");
    zkt_put_int(&p, 1);
    zkt_put_int(&p, ZKT_ALL);
    zkt_put_text(&p, "world");
    zkt_put_text(&p, "anyone");
    zkt_put_int(&p, op == ZKT_OP_CREATE_CONTAINER ? ZKT_CONTAINER : 0);
    if (op == OP_CREATE_TTL) {
        zkt_put_long(&p, 1000);
    }
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

/* How many bytes a create of a name of one letter has. */
static int64_t size_of_create(const char *name)
{
    const int64_t before = bytes_to_server();
    assert_int_equal(call(ZKT_OP_CREATE, name), ZKT_OK);
    return bytes_to_server() - before;
}

/* The next message is -6 for @xid. */
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
 * A create, @op and another create all are at the proxy before it reads: the first is executed, its answer is lost, and
 * of the others the server hears nothing. The session goes on.
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
    assert_true(zkt_now_ms() < deadline); /* closed, not silent */
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

/* Without habits all is known, and so it is again without them. */
ZKT_CASE(habits_end_when_they_are_set_anew)
{
    begin(0);
    works(OP_CREATE2);
    works(ZKT_OP_CREATE_CONTAINER);
    zkt_proxy_habits(proxy, ZKR_TEST_NO_CREATE2);
    ends_at(OP_CREATE2, false);
    zkt_proxy_heal(proxy); /* of faults */
    ends_at(OP_CREATE2, false);
    zkt_proxy_habits(proxy, 0);
    works(OP_CREATE2);
}

/* Neither create2 nor containers; or no containers alone. */
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

/* The same with an answer, ahead of one that is due. */
ZKT_CASE(what_is_not_known_is_refused_out_of_turn)
{
    begin(ZKR_TEST_NO_CREATE2 | ZKR_TEST_REFUSES);
    ends_at(OP_CREATE2, true);
    ends_at(ZKT_OP_CREATE_CONTAINER, true);
    zkt_proxy_habits(proxy, ZKR_TEST_NO_CONTAINERS | ZKR_TEST_REFUSES);
    ends_at(OP_CREATE_TTL, true);
    works(OP_CREATE2);
}

/* What comes back gets a new session, and the old one is there all the same, also for who asks the server itself. */
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
