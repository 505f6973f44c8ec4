/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded writes by a thread that holds a mutex, and by a ticket. */
#include <stdio.h>
#include <string.h>

#include "hold.h"
#include "tickets.h"

/* Allows for a busy machine. An answer would not come at all. */
enum { LATE_MS = 3000 };

/* --- what is written --- */

static char resource[256];

static void make_resource(void)
{
    (void)snprintf(resource, sizeof(resource), "%s/resource", zkt_path());
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    assert_int_equal(zkt_create(zkt_servers(), resource, "old", 0), 0);
}

static bool is_written(const char *text)
{
    char data[64] = "";
    return zkt_get(zkt_servers(), resource, data, sizeof(data), NULL) == 0 &&
           strcmp(data, text) == 0;
}

static int
write_text(struct zkt_hold *h, const char *text, int64_t timeout_ms, bool release)
{
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_set_op_init(&op, resource, text, (int)strlen(text), -1, NULL);
    return zkt_hold_multi(h, 1, &op, &result, timeout_ms, release);
}

static void write_it(struct zkt_hold *h, const char *text)
{
    ZKT_MUST(write_text(h, text, PATIENCE_MS, false));
}

/* Returns the number of contenders: all children but the resource. */
static int contenders(void)
{
    return zkt_nodes() - 1;
}

struct stage {
    zkt_proxy *p;
    zkr_client *c;      /* connected through the proxy */
    struct zkt_hold *h; /* the holder, a contender of c */
};

static struct stage begin_with(int watched)
{
    struct stage s = {.p = zkt_proxy_start(zkt_servers())};
    make_resource();
    s.c = zkt_client(zkt_proxy_host(s.p), SESSION_MS);
    s.h = watched ? zkt_hold_watched(s.c) : zkt_hold(s.c);
    ZKT_MUST(zkt_hold_acquire(s.h, PATIENCE_MS));
    return s;
}

static struct stage begin(void)
{
    return begin_with(1);
}

static void finish(struct stage *s)
{
    zkt_hold_end(s->h);
    zkt_close(s->c);
    zkt_delete_children(zkt_servers(), zkt_path());
}

/* --- writes --- */

/* All operations are executed, and their results are reported. */
ZKT_HOLD_CASE(writes_of_a_holder_go_through, ~ZKT_MUTEXES)
{
    struct stage s = begin();
    char made[256] = "", name[300];
    struct Stat stat = {0};
    zoo_op_t ops[3];
    zoo_op_result_t results[3] = {{.err = 1}, {.err = 1}, {.err = 1}};
    (void)snprintf(name, sizeof(name), "%s/made", zkt_path());
    zoo_set_op_init(&ops[0], resource, "new", 3, 0, &stat);
    zoo_create_op_init(&ops[1], name, "x", 1, &ZOO_OPEN_ACL_UNSAFE, 0, made,
                       sizeof(made));
    zoo_delete_op_init(&ops[2], name, -1);
    ZKT_MUST(zkt_hold_multi(s.h, 3, ops, results, PATIENCE_MS, false));
    assert_true(is_written("new"));
    assert_int_equal(stat.version, 1);
    assert_string_equal(made, name);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(results[i].err, ZOK);
    }
    assert_ptr_equal(results[0].stat, &stat);
    assert_ptr_equal(results[1].value, made);
    assert_true(zkt_hold_is_sure(s.h));
    static const int64_t limits[] = {0, PATIENCE_MS, ZKR_FOREVER};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        /* Only checks the hold. */
        ZKT_MUST(zkt_hold_multi(s.h, 0, NULL, NULL, limits[i], false));
    }
    ZKT_MUST(zkt_hold_release(s.h));
}

/* After the deletion of the holder's node, a write fails, and reports the loss of the hold. */
ZKT_HOLD_CASE(writes_of_no_holder_are_refused, ~ZKT_MUTEXES)
{
    for (int release = 0; release < 2; release++) {
        char node[256];
        struct stage s = begin();
        ZKT_MUST(zkt_hold_node(s.h, node, sizeof(node)));
        ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS);
        zkt_proxy_freeze(s.p, ZKT_TO_CLIENT); /* delays the event of the watch */
        assert_int_equal(zkt_delete(zkt_servers(), node), 0);
        assert_true(zkt_hold_is_sure(s.h));
        zkt_proxy_thaw(s.p, ZKT_TO_CLIENT);
        ZKT_RC(write_text(s.h, "new", PATIENCE_MS, release), ZKR_ESESSION);
        assert_true(is_written("old"));
        assert_false(zkt_hold_is_sure(s.h));
        /* The loss of a ticket that is being released is not reported. */
        if (!release || !zkt_is(ZKT_BIT(ZKT_TICKET))) {
            ZKT_BECOMES(zkt_hold_losses(s.h), 1, PATIENCE_MS);
        }
        int rc = zkt_hold_release(s.h);
        ZKT_RC(rc,
               release && !zkt_is(ZKT_BIT(ZKT_TICKET)) ? ZKR_ENOTOWNER : ZKR_ESESSION);
        finish(&s);
    }
}

/* The failed write is the first sign of the loss. Afterwards, the functions and the callback report the loss. */
ZKT_HOLD_CASE(a_write_is_how_a_loss_is_heard_of, ~ZKT_MUTEXES)
{
    char node[256];
    struct stage s = begin_with(0);
    ZKT_MUST(zkt_hold_node(s.h, node, sizeof(node)));
    assert_int_equal(zkt_delete(zkt_servers(), node), 0); /* no watch is set yet */
    ZKT_RC(write_text(s.h, "new", PATIENCE_MS, false), ZKR_ESESSION);
    assert_false(zkt_hold_is_sure(s.h));
    ZKT_BECOMES(zkt_hold_losses(s.h), 1, PATIENCE_MS);
    ZKT_RC(zkt_hold_release(s.h), ZKR_ESESSION);
}

/* The first failing operation determines the code. Nothing is written, and the hold remains. */
ZKT_HOLD_CASE(a_refusal_leaves_the_hold, ~ZKT_MUTEXES)
{
    struct stage s = begin();
    char name[300];
    (void)snprintf(name, sizeof(name), "%s/none", zkt_path());
    static const int codes[] = {ZKR_ENONODE, ZKR_EEXIST, ZKR_EZK(ZBADVERSION)};
    static const int errs[] = {ZNONODE, ZNODEEXISTS, ZBADVERSION};
    for (int way = 0; way < 6; way++) {
        zoo_op_t ops[2];
        zoo_op_result_t results[2];
        zoo_set_op_init(&ops[0], resource, "new", 3, -1, NULL);
        if (way % 3 == 0) {
            zoo_set_op_init(&ops[1], name, "x", 1, -1, NULL);
        } else if (way % 3 == 1) {
            zoo_create_op_init(&ops[1], resource, "x", 1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL,
                               0);
        } else {
            zoo_check_op_init(&ops[1], resource, 77);
        }
        ZKT_RC(zkt_hold_multi(s.h, 2, ops, results, PATIENCE_MS, way >= 3),
               codes[way % 3]);
        assert_int_equal(results[0].err, ZOK);
        assert_int_equal(results[1].err, errs[way % 3]);
        assert_true(is_written("old"));
        assert_true(zkt_hold_is_sure(s.h));
        assert_int_equal(contenders(), 1);
    }
    write_it(s.h, "new");
    ZKT_MUST(zkt_hold_release(s.h));
    assert_int_equal(zkt_hold_losses(s.h), 0);
}

/* --- write and release --- */

/* Write and release are one request, and both are done when the call returns. A watch on the node reports no loss. */
ZKT_HOLD_CASE(a_release_goes_with_the_write, ~ZKT_MUTEXES)
{
    enum { ROUNDS = 30 };
    struct stage s = begin();
    for (int i = 0; i < ROUNDS; i++) {
        char text[16];
        (void)snprintf(text, sizeof(text), "%d", i);
        if (i % 2 == 0) {
            ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS);
        }
        zkt_door_focus(s.c);
        ZKT_MUST(write_text(s.h, text, PATIENCE_MS, true));
        assert_int_equal(zkt_door_count(ZKR__OP_MULTI), 1);
        assert_int_equal(zkt_door_count(ZKR__OP_DELETE), 0);
        zkt_door_focus(NULL);
        assert_false(zkt_hold_is_sure(s.h));
        assert_true(is_written(text));
        assert_int_equal(contenders(), 0);
        if (zkt_is(ZKT_BIT(ZKT_TICKET))) {
            assert_int_equal(zkr_ticket_state(zkt_hold_ticket(s.h)),
                             ZKR_TICKET_RELEASED);
            ZKT_MUST(zkt_hold_release(s.h));
        } else {
            ZKT_RC(zkt_hold_release(s.h), ZKR_ENOTOWNER);
        }
        ZKT_MUST(zkt_hold_acquire(s.h, PATIENCE_MS));
    }
    ZKT_MUST(zkt_hold_release(s.h));
    assert_int_equal(zkt_hold_losses(s.h), 0);
}

/* The next holder, in this client or another, gets the lock through the release and reads the written data. */
ZKT_HOLD_CASE(the_next_holder_sees_the_write, ~ZKT_MUTEXES)
{
    for (int local = 0; local < 2; local++) {
        struct stage s = begin();
        zkr_client *c = local ? s.c : zkt_client(zkt_servers(), SESSION_MS);
        struct zkt_hold *next = zkt_hold(c);
        zkt_hold_queue(next);
        ZKT_MUST(write_text(s.h, "new", PATIENCE_MS, true));
        ZKT_MUST(zkt_hold_wait(next));
        assert_true(is_written("new"));
        ZKT_MUST(zkt_hold_release(next));
        (void)zkt_hold_release(s.h);
        zkt_hold_end(next);
        if (!local) {
            zkt_close(c);
        }
        finish(&s);
    }
}

/* --- answers that stay away --- */

/*
 * The code says that the outcome of the write is unknown. The hold remains after a write, and is over after a release.
 */
ZKT_HOLD_CASE(an_unknown_outcome_is_said, ~ZKT_MUTEXES)
{
    for (int release = 0; release < 2; release++) {
        struct stage s = begin();
        zkt_proxy_freeze(s.p, ZKT_TO_CLIENT);
        int64_t before = zkt_now_ms();
        ZKT_RC(write_text(s.h, "new", 300, release), ZKR_ECONNLOSS);
        ZKT_IN_RANGE(zkt_now_ms() - before, 299, 300 + LATE_MS);
        assert_true(is_written("new"));
        assert_int_equal(zkt_hold_is_sure(s.h), !release);
        zkt_proxy_thaw(s.p, ZKT_TO_CLIENT);
        if (release) {
            (void)zkt_hold_release(s.h);
        } else {
            write_it(s.h, "newer");
            ZKT_MUST(zkt_hold_release(s.h));
        }
        ZKT_MUST(zkr_client_flush(s.c, PATIENCE_MS));
        assert_int_equal(contenders(), 0);
        assert_int_equal(zkt_hold_losses(s.h), 0);
        finish(&s);
    }
}

/*
 * A cut of the connection makes the outcome unknown. A hold survives a write, and the node of a released hold
 * is deleted.
 */
ZKT_HOLD_CASE(a_cut_on_the_way_is_an_unknown_outcome, ~ZKT_MUTEXES)
{
    for (int way = 0; way < 4; way++) {
        bool release = way % 2;
        struct stage s = begin();
        /* Without the watch, the client would not get the event of its deleted node before the answer is lost. */
        ZKT_EVENTUALLY(zkt_watches() > 0, PATIENCE_MS);
        if (way < 2) {
            zkt_proxy_cut_before_request(s.p, 1);
        } else {
            zkt_proxy_drop_reply(s.p, 1);
        }
        int rc = write_text(s.h, "new", PATIENCE_MS, release);
        /* The fault may have hit a probe or the request of a watch instead. */
        assert_true(rc == ZKR_OK || rc == ZKR_ECONNLOSS);
        ZKT_BECOMES(zkr_client_state(s.c), ZKR_STATE_CONNECTED, PATIENCE_MS);
        assert_int_equal(zkt_hold_is_sure(s.h), !release);
        int code = zkt_hold_release(s.h);
        ZKT_RC(code, release && !zkt_is(ZKT_BIT(ZKT_TICKET)) ? ZKR_ENOTOWNER : ZKR_OK);
        ZKT_MUST(zkr_client_flush(s.c, PATIENCE_MS));
        assert_int_equal(contenders(), 0);
        assert_int_equal(zkt_hold_losses(s.h), 0);
        finish(&s);
    }
}

/* A write that is still on its way when the caller gives up is executed before the next hold begins. */
ZKT_HOLD_CASE(a_late_write_is_not_overtaken, ~ZKT_MUTEXES)
{
    for (int release = 0; release < 2; release++) {
        struct stage s = begin();
        struct zkt_hold *next = zkt_hold_watched(s.c);
        zkt_hold_queue(next);
        ZKT_BECOMES(zkt_watches(), 2, PATIENCE_MS);
        zkt_proxy_delay(s.p, ZKT_TO_SERVER, 500);
        ZKT_RC(write_text(s.h, "new", 50, release), ZKR_ECONNLOSS);
        (void)zkt_hold_release(s.h);
        ZKT_MUST(zkt_hold_wait(next));
        assert_true(is_written("new"));
        ZKT_MUST(zkt_hold_release(next));
        zkt_hold_end(next);
        finish(&s);
    }
}

/* Without a connection, nothing is sent and so nothing is written. A write may wait for a connection. */
ZKT_HOLD_CASE(no_connection_is_no_write, ~ZKT_MUTEXES)
{
    struct stage s = begin();
    zkt_proxy_cut(s.p);
    ZKT_BECOMES(zkr_client_state(s.c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    for (int release = 0; release < 2; release++) {
        int64_t before = zkt_now_ms();
        ZKT_RC(write_text(s.h, "new", 0, release), ZKR_ENOANSWER);
        ZKT_IN_RANGE(zkt_now_ms() - before, 0, LATE_MS);
        ZKT_RC(write_text(s.h, "new", 100, release), ZKR_ENOANSWER);
    }
    assert_true(is_written("old"));
    assert_true(zkt_hold_is_sure(s.h));
    zkt_proxy_heal(s.p);
    ZKT_MUST(write_text(s.h, "new", PATIENCE_MS, true));
    assert_true(is_written("new"));
    (void)zkt_hold_release(s.h);
}

/* A release with a write that waits for a connection until the session is lost: the ticket was lost, not released. */
ZKT_HOLD_CASE(a_ticket_that_is_lost_before_its_release_says_so, ~ZKT_BIT(ZKT_TICKET))
{
    enum { SHORT_MS = 2000 };
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SHORT_MS);
    struct zkt_hold *h = zkt_hold(c);
    make_resource();
    ZKT_MUST(zkt_hold_acquire(h, PATIENCE_MS));
    zkr_ticket *t = zkt_hold_ticket(h);
    zkt_proxy_cut(p);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    ZKT_RC(write_text(h, "new", ZKR_FOREVER, true), ZKR_ESESSION);
    ZKT_RC(zkr_ticket_error(t), ZKR_ESESSION);
    ZKT_RC(zkr_ticket_release(t), ZKR_ESESSION);
    ZKT_RC(zkt_hold_release(h), ZKR_ESESSION);
    assert_true(is_written("old"));
}

/* --- misuse --- */

/* A hold that was acquired twice is not released, and without a hold nothing is written. */
ZKT_HOLD_CASE(writes_without_the_hold_are_refused, ~ZKT_MUTEXES)
{
    struct stage s = begin();
    if (!zkt_is(ZKT_BIT(ZKT_TICKET))) {
        ZKT_MUST(zkt_hold_acquire(s.h, 0));
        ZKT_RC(write_text(s.h, "new", PATIENCE_MS, true), ZKR_ESTATE);
        ZKT_MUST(zkt_hold_release(s.h));
        ZKT_MUST(zkt_hold_release(s.h));
        ZKT_RC(write_text(s.h, "new", PATIENCE_MS, false), ZKR_ENOTOWNER);
        ZKT_RC(write_text(s.h, "new", PATIENCE_MS, true), ZKR_ENOTOWNER);
    } else {
        struct zkt_hold *waits = zkt_hold_beside(s.h);
        zkt_hold_queue(waits);
        expect(zkr_ticket_release_multi(zkt_hold_ticket(waits), 0, NULL, NULL,
                                        PATIENCE_MS),
               ZKR_ESTATE);
        zkt_hold_end(waits);
        ZKT_MUST(zkr_ticket_release(zkt_hold_ticket(s.h)));
        ZKT_RC(write_text(s.h, "new", PATIENCE_MS, false), ZKR_ESTATE);
        ZKT_MUST(zkt_hold_release(s.h));
    }
    assert_true(is_written("old"));
}

static int write_and_release(struct zkt_hold *h, void *unused)
{
    return write_text(h, "new", PATIENCE_MS, true);
}

/* A ticket that is released during a write cannot be destroyed until the write returns. */
ZKT_HOLD_CASE(a_ticket_in_a_write_refuses_to_go, ~ZKT_BIT(ZKT_TICKET))
{
    struct stage s = begin();
    zkr_ticket *t = zkt_hold_ticket(s.h);
    zkt_proxy_freeze(s.p, ZKT_TO_CLIENT);
    zkt_hold_start(s.h, write_and_release, NULL);
    ZKT_EVENTUALLY(is_written("new"), PATIENCE_MS);
    ZKT_MUST(zkr_ticket_release(t));
    expect(zkr_ticket_destroy(t), ZKR_EBUSY);
    zkt_proxy_thaw(s.p, ZKT_TO_CLIENT);
    ZKT_MUST(zkt_hold_finish(s.h));
    ZKT_MUST(zkt_hold_release(s.h));
}

struct late {
    bool release;
    int code, again;
};

static int write_on(struct zkt_hold *h, void *arg)
{
    struct late *l = arg;
    l->code = write_text(h, "new", ZKR_FOREVER, l->release);
    l->again = l->release ? ZKR_ECLOSED : write_text(h, "newer", ZKR_FOREVER, true);
    return ZKR_OK;
}

/* A shutdown ends a write that waits for its answer. Later writes are not sent. */
ZKT_HOLD_CASE(a_shutdown_ends_writes, ~ZKT_MUTEXES)
{
    for (int release = 0; release < 2; release++) {
        struct stage s = begin();
        struct late l = {.release = release};
        zkt_proxy_freeze(s.p, ZKT_TO_CLIENT);
        zkt_hold_start(s.h, write_on, &l);
        ZKT_EVENTUALLY(is_written("new"), PATIENCE_MS);
        int64_t before = zkt_now_ms();
        ZKT_MUST(zkr_client_shutdown(s.c));
        ZKT_MUST(zkt_hold_finish(s.h));
        ZKT_IN_RANGE(zkt_now_ms() - before, 0, LATE_MS);
        assert_string_equal(zkr_err_name(l.code), "ZKR_ECLOSED");
        assert_string_equal(zkr_err_name(l.again), "ZKR_ECLOSED");
        zkt_proxy_thaw(s.p, ZKT_TO_CLIENT);
        ZKT_BECOMES(contenders(), 0, PATIENCE_MS);
        assert_true(is_written("new"));
        finish(&s);
    }
}

/* A release with a write after the shutdown writes nothing, and still releases, connected or not. */
ZKT_HOLD_CASE(a_release_after_a_shutdown_writes_nothing, ~ZKT_MUTEXES)
{
    for (int cut = 0; cut < 2; cut++) {
        struct stage s = begin_with(0);
        if (cut) {
            zkt_proxy_cut(s.p);
            ZKT_BECOMES(zkr_client_state(s.c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
        }
        ZKT_MUST(zkr_client_shutdown(s.c));
        ZKT_RC(write_text(s.h, "new", ZKR_FOREVER, false), ZKR_ECLOSED);
        assert_true(zkt_hold_is_sure(s.h));
        ZKT_RC(write_text(s.h, "newer", ZKR_FOREVER, true), ZKR_ECLOSED);
        assert_false(zkt_hold_is_sure(s.h));
        if (cut) {
            zkt_proxy_heal(s.p);
        }
        ZKT_BECOMES(contenders(), 0, PATIENCE_MS);
        (void)zkt_hold_release(s.h); /* a ticket must still be destroyed */
        assert_true(is_written("old"));
        finish(&s);
    }
}

/* --- reads --- */

static int read_it(zkr_client *c, char *text, size_t size, zkr_node *node)
{
    return zkr_client_get(c, resource, text, size, node, sizeof(*node));
}

/* Each server may lag behind the leader. A new holder still reads what the last holder wrote. */
ZKT_HOLD_CASE(a_holder_reads_what_the_one_before_wrote, ~ZKT_MUTEXES)
{
    enum { TURNS = 20 };
    zkt_ensemble *e = zkt_ensemble_start(3, NULL);
    zkr_client *clients[3];
    struct zkt_hold *h[3];
    char text[16], read[16];
    zkr_node node;
    (void)snprintf(resource, sizeof(resource), "%s/resource", zkt_path());
    const char *hosts = zkt_server_host(zkt_ensemble_server(e, 0));
    assert_int_equal(zkt_create_path(hosts, zkt_path()), 0);
    assert_int_equal(zkt_create(hosts, resource, "0", 0), 0);
    for (int i = 0; i < 3; i++) {
        clients[i] = zkt_client(zkt_server_host(zkt_ensemble_server(e, i)), SESSION_MS);
        h[i] = zkt_hold(clients[i]);
    }
    for (int i = 0; i < TURNS; i++) {
        ZKT_MUST(zkt_hold_acquire(h[i % 3], PATIENCE_MS));
        ZKT_MUST(read_it(clients[i % 3], read, sizeof(read), &node));
        assert_int_equal(strtol(read, NULL, 10), i);
        (void)snprintf(text, sizeof(text), "%d.", i + 1);
        ZKT_MUST(write_text(h[i % 3], text, PATIENCE_MS, i % 2 == 0));
        (void)zkt_hold_release(h[i % 3]);
    }
}

/* A read fills the buffer with as much data as fits, and reports the other fields. */
ZKT_CASE(what_a_read_tells)
{
    struct stage s = begin();
    char text[8] = "-------", path[256];
    zkr_node node, half = {.length = 7};
    zkt_stat st;
    zkr_client *reader = zkt_client(zkt_servers(), SESSION_MS);
    ZKT_EVENTUALLY(zkt_all_answered(reader), PATIENCE_MS);
    zkt_door_focus(reader);
    ZKT_MUST(read_it(reader, text, sizeof(text), &node));
    ZKT_ASKED("get");
    assert_int_equal(zkt_get(zkt_servers(), resource, path, sizeof(path), &st), 0);
    assert_string_equal(text, "old----");
    assert_int_equal(node.length, 3);
    assert_int_equal(node.version, 0);
    assert_int_equal(node.czxid, st.czxid);
    assert_int_equal(node.created_ms, st.ctime);
    assert_int_equal(node.owner, 0);
    write_it(s.h, "longer than 7");
    ZKT_MUST(zkr_client_get(s.c, resource, text, 4, &half, sizeof(half.length)));
    assert_string_equal(text, "long---");
    assert_int_equal(half.length, 13);
    ZKT_MUST(read_it(s.c, NULL, 0, &node));
    assert_int_equal(node.version, 1);
    ZKT_MUST(zkt_hold_node(s.h, path, sizeof(path)));
    ZKT_MUST(zkr_client_get(s.c, path, NULL, 0, &node, sizeof(node)));
    assert_int_equal(node.owner, zkr_client_session_id(s.c));
    ZKT_MUST(zkr_client_get(s.c, "/", NULL, 0, &node, sizeof(node)));
    ZKT_MUST(zkt_hold_release(s.h));
}

ZKT_CASE(reads_that_fail_say_why)
{
    enum { ALL = 31, ALL_BUT_READ = 30 };
    struct stage s = begin();
    zkr_node node = {.version = -7};
    char text[8] = "-";
    expect(zkr_client_get(s.c, "/no/such", text, 8, &node, sizeof(node)), ZKR_ENONODE);
    assert_int_equal(zkt_set_acl(zkt_servers(), resource, ALL_BUT_READ), 0);
    expect(read_it(s.c, text, sizeof(text), &node), ZKR_EAUTH);
    assert_int_equal(zkt_set_acl(zkt_servers(), resource, ALL), 0);
    ZKT_MUST(zkr_client_shutdown(s.c));
    expect(read_it(s.c, text, sizeof(text), &node), ZKR_ECLOSED);
    assert_int_equal(node.version, -7);
    assert_string_equal(text, "-");
    ZKT_MUST(zkt_hold_release(s.h));
}

/* The answer arrives after the caller has given up, and does not touch the caller's memory. */
ZKT_CASE(a_read_gives_up_in_time)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    char text[8] = "-";
    zkr_node node = {.version = -7};
    make_resource();
    zkr_client *c = ZKT_CLIENT_WITH(zkt_proxy_host(p), .session_timeout_ms = SESSION_MS,
                                    .connect_timeout_ms = 300);
    zkt_proxy_freeze(p, ZKT_TO_CLIENT);
    expect(read_it(c, text, sizeof(text), &node), ZKR_ETIMEDOUT);
    zkt_proxy_thaw(p, ZKT_TO_CLIENT);
    ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
    assert_int_equal(node.version, -7);
    assert_string_equal(text, "-");
}

static void read_in_a_life(void)
{
    char text[8];
    zkr_node node;
    zkr_client *c = zkt_client_if_memory();
    if (c) {
        int rc = read_it(c, text, sizeof(text), &node);
        assert_true(rc == ZKR_OK || rc == ZKR_ENOMEM || rc == ZKR_ETIMEDOUT ||
                    rc == ZKR_ECONNLOSS || rc == ZKR_ESESSION);
        zkt_close(c);
    }
}

ZKT_CASE(a_read_without_memory_fails)
{
    make_resource();
    zkt_each_allocation_fails(10, read_in_a_life);
}
