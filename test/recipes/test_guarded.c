/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded writes: by the thread that holds a mutex, and by a ticket. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <zkr/guard.h>

#include "actor.h"
#include "tickets.h"

static bool by_ticket;
static atomic_int losses;

/* --- a hold, either way --- */

struct hold {
    zkr_mutex *m;
    zkr_ticket *t;
};

static void on_ticket(zkr_ticket *t, int state, void *ctx)
{
    (void)t;
    (void)ctx;
    losses += state == ZKR_TICKET_LOST;
}

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    (void)m;
    (void)lost;
    (void)ctx;
    losses++;
}

static zkr_mutex *make_mutex(zkr_client *c)
{
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    zkr_mutex *m = NULL;
    o.on_lost = on_lost;
    o.watch_node = 1;
    ZKT_MUST(zkr_mutex_create(&m, c, zkt_path(), &o));
    return m;
}

static struct hold take(zkr_mutex *m)
{
    struct hold h = {.m = m};
    if (by_ticket) {
        ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, on_ticket, NULL, &h.t));
        ZKT_MUST(zkr_ticket_wait(h.t, PATIENCE_MS));
    } else {
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    }
    return h;
}

static bool is_held(const struct hold *h)
{
    return by_ticket ? zkr_ticket_state(h->t) == ZKR_TICKET_HELD
                     : zkr_mutex_is_held(h->m);
}

static void node_of(const struct hold *h, char *node, size_t size)
{
    ZKT_MUST(by_ticket ? zkr_ticket_node(h->t, node, size)
                       : zkr_mutex_node(h->m, node, size));
}

/* After the last use of it; the code of a release. */
static int drop(const struct hold *h)
{
    if (!by_ticket) {
        return zkr_mutex_release(h->m);
    }
    int rc = zkr_ticket_release(h->t);
    ZKT_MUST(zkr_ticket_destroy(h->t));
    return rc;
}

static int write_ops(const struct hold *h,
                     int count,
                     const zoo_op_t *ops,
                     zoo_op_result_t *results,
                     int64_t timeout_ms,
                     bool release)
{
    if (by_ticket) {
        return release ? zkr_ticket_release_multi(h->t, count, ops, results, timeout_ms)
                       : zkr_ticket_multi(h->t, count, ops, results, timeout_ms);
    }
    return release ? zkr_mutex_release_multi(h->m, count, ops, results, timeout_ms)
                   : zkr_mutex_multi(h->m, count, ops, results, timeout_ms);
}

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
write_text(const struct hold *h, const char *text, int64_t timeout_ms, bool release)
{
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_set_op_init(&op, resource, text, (int)strlen(text), -1, NULL);
    return write_ops(h, 1, &op, &result, timeout_ms, release);
}

static void write_it(const struct hold *h, const char *text)
{
    ZKT_MUST(write_text(h, text, PATIENCE_MS, false));
}

/* Nodes of contenders: all children but the resource. */
static int contenders(void)
{
    return children() - 1;
}

struct stage {
    zkr_client *c;
    zkr_mutex *m;
    struct hold h;
};

static struct stage begin(const char *hosts)
{
    struct stage s;
    losses = 0;
    make_resource();
    s.c = zkt_client(hosts, SESSION_MS);
    s.m = make_mutex(s.c);
    s.h = take(s.m);
    return s;
}

static void finish(struct stage *s)
{
    zkt_destroy(s->m);
    zkt_close(s->c);
    zkt_delete_children(zkt_servers(), zkt_path());
}

static void expect_code(int rc, int code)
{
    assert_string_equal(zkr_err_name(rc), zkr_err_name(code));
    if (rc != ZKR_OK) {
        assert_int_equal(zkr_last_error()->code, code);
        assert_true(strlen(zkr_last_error()->message) > 0);
    }
}

/* --- writes --- */

/* All operations are done, and their results told. */
static void writes_of_a_holder_go_through(void **state)
{
    (void)state;
    struct stage s = begin(zkt_servers());
    char made[256] = "", name[300];
    struct Stat stat = {0};
    zoo_op_t ops[3];
    zoo_op_result_t results[3];
    (void)snprintf(name, sizeof(name), "%s/made", zkt_path());
    zoo_set_op_init(&ops[0], resource, "new", 3, 0, &stat);
    zoo_create_op_init(&ops[1], name, "x", 1, &ZOO_OPEN_ACL_UNSAFE, 0, made,
                       sizeof(made));
    zoo_delete_op_init(&ops[2], name, -1);
    ZKT_MUST(write_ops(&s.h, 3, ops, results, PATIENCE_MS, false));
    assert_true(is_written("new"));
    assert_int_equal(stat.version, 1);
    assert_string_equal(made, name);
    assert_int_equal(results[0].err, ZOK);
    assert_true(is_held(&s.h));
    ZKT_MUST(write_ops(&s.h, 0, NULL, NULL, PATIENCE_MS, false)); /* only asks */
    ZKT_MUST(drop(&s.h));
    finish(&s);
}

/* With the node gone nothing is written, and the hold is known to be lost by that. */
static void writes_of_no_holder_are_refused(void **state)
{
    (void)state;
    for (int release = 0; release < 2; release++) {
        char node[256];
        zkt_proxy *p = zkt_proxy_start(zkt_servers());
        struct stage s = begin(zkt_proxy_host(p));
        node_of(&s.h, node, sizeof(node));
        ZKT_EVENTUALLY(zkt_watches() == 1, PATIENCE_MS);
        zkt_proxy_freeze(p, ZKT_TO_CLIENT); /* the news comes late */
        assert_int_equal(zkt_delete(zkt_servers(), node), 0);
        assert_true(is_held(&s.h));
        zkt_proxy_thaw(p, ZKT_TO_CLIENT);
        expect_code(write_text(&s.h, "new", PATIENCE_MS, release), ZKR_ESESSION);
        assert_true(is_written("old"));
        assert_false(is_held(&s.h));
        if (!release || !by_ticket) { /* of a ticket that is released nothing is told */
            ZKT_EVENTUALLY(losses == 1, PATIENCE_MS);
        }
        int rc = drop(&s.h);
        assert_int_equal(rc, release && !by_ticket ? ZKR_ENOTOWNER : ZKR_ESESSION);
        finish(&s);
        zkt_proxy_stop(p);
    }
}

/* The same before anything else has noticed: is it held, and the callback, know it from the write. */
static void a_write_is_how_a_loss_is_heard_of(void **state)
{
    (void)state;
    char node[256];
    losses = 0;
    make_resource();
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    zkr_mutex *m = NULL;
    o.on_lost = on_lost;
    ZKT_MUST(zkr_mutex_create(&m, c, zkt_path(), &o));
    struct stage s = {.c = c, .m = m, .h = take(m)};
    node_of(&s.h, node, sizeof(node));
    assert_int_equal(zkt_delete(zkt_servers(), node), 0); /* not watched yet */
    expect_code(write_text(&s.h, "new", PATIENCE_MS, false), ZKR_ESESSION);
    assert_false(is_held(&s.h));
    ZKT_EVENTUALLY(losses == 1, PATIENCE_MS);
    assert_int_equal(drop(&s.h), ZKR_ESESSION);
    finish(&s);
}

/* The first operation that fails says why; nothing is written, and the hold stays. */
static void a_refusal_leaves_the_hold(void **state)
{
    (void)state;
    struct stage s = begin(zkt_servers());
    char name[300];
    (void)snprintf(name, sizeof(name), "%s/none", zkt_path());
    static const int codes[] = {ZKR_ENONODE, ZKR_EEXIST, ZKR_EZK(ZBADVERSION)};
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
        expect_code(write_ops(&s.h, 2, ops, results, PATIENCE_MS, way >= 3),
                    codes[way % 3]);
        assert_true(is_written("old"));
        assert_true(is_held(&s.h));
        assert_int_equal(contenders(), 1);
    }
    write_it(&s.h, "new");
    ZKT_MUST(drop(&s.h));
    assert_int_equal(losses, 0);
    finish(&s);
}

/* --- write and release --- */

/* Both are done at the return, in one request, and are no loss, watched or not. */
static void a_release_goes_with_the_write(void **state)
{
    (void)state;
    enum { ROUNDS = 30 };
    struct stage s = begin(zkt_servers());
    for (int i = 0; i < ROUNDS; i++) {
        char text[16];
        (void)snprintf(text, sizeof(text), "%d", i);
        if (i % 2 == 0) {
            ZKT_EVENTUALLY(zkt_watches() == 1, PATIENCE_MS);
        }
        zkt_door_focus(s.c);
        ZKT_MUST(write_text(&s.h, text, PATIENCE_MS, true));
        assert_int_equal(zkt_door_count(ZKR__OP_MULTI), 1);
        assert_int_equal(zkt_door_count(ZKR__OP_DELETE), 0);
        zkt_door_focus(NULL);
        assert_false(is_held(&s.h));
        assert_true(is_written(text));
        assert_int_equal(contenders(), 0);
        if (by_ticket) {
            assert_int_equal(zkr_ticket_state(s.h.t), ZKR_TICKET_RELEASED);
            ZKT_MUST(drop(&s.h));
        } else {
            expect_code(drop(&s.h), ZKR_ENOTOWNER);
        }
        s.h = take(s.m);
    }
    ZKT_MUST(drop(&s.h));
    assert_int_equal(losses, 0);
    finish(&s);
}

/* The next one, of this client or of another, has the lock by that, and sees what was written. */
static void the_next_holder_sees_the_write(void **state)
{
    (void)state;
    for (int local = 0; local < 2; local++) {
        struct stage s = begin(zkt_servers());
        struct zkt_actor actor;
        zkr_client *c = local ? s.c : zkt_client(zkt_servers(), SESSION_MS);
        zkr_mutex *m = zkt_mutex(c);
        zkt_actor_queue(&actor, c, m, NULL);
        ZKT_MUST(write_text(&s.h, "new", PATIENCE_MS, true));
        assert_int_equal(zkt_actor_acquired(&actor), ZKR_OK);
        assert_true(is_written("new"));
        assert_int_equal(zkt_actor_end(&actor), ZKR_OK);
        (void)drop(&s.h);
        zkt_destroy(m);
        if (!local) {
            zkt_close(c);
        }
        finish(&s);
    }
}

/* --- answers that stay away --- */

/* Whether it was written is not known: said so, and of a release that the hold is over. */
static void an_unknown_outcome_is_said(void **state)
{
    (void)state;
    for (int release = 0; release < 2; release++) {
        zkt_proxy *p = zkt_proxy_start(zkt_servers());
        struct stage s = begin(zkt_proxy_host(p));
        zkt_proxy_freeze(p, ZKT_TO_CLIENT);
        int64_t before = zkt_now_ms();
        expect_code(write_text(&s.h, "new", 300, release), ZKR_ECONNLOSS);
        assert_in_range(zkt_now_ms() - before, 299, 300 + SOON_MS);
        assert_true(is_written("new"));
        assert_int_equal(is_held(&s.h), !release);
        zkt_proxy_thaw(p, ZKT_TO_CLIENT);
        if (release) {
            (void)drop(&s.h);
        } else {
            write_it(&s.h, "newer");
            ZKT_MUST(drop(&s.h));
        }
        ZKT_MUST(zkr_client_flush(s.c, PATIENCE_MS));
        assert_int_equal(contenders(), 0);
        assert_int_equal(losses, 0);
        finish(&s);
        zkt_proxy_stop(p);
    }
}

/* A cut on the way: unknown as well; the hold of a write goes on, the node of a release goes. */
static void a_cut_on_the_way_is_an_unknown_outcome(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        bool release = way % 2;
        zkt_proxy *p = zkt_proxy_start(zkt_servers());
        struct stage s = begin(zkt_proxy_host(p));
        /* So that we hear of the end of our node before the answer is lost. */
        ZKT_EVENTUALLY(zkt_watches() > 0, PATIENCE_MS);
        if (way < 2) {
            zkt_proxy_cut_before_request(p, 1);
        } else {
            zkt_proxy_drop_reply(p, 1);
        }
        int rc = write_text(&s.h, "new", PATIENCE_MS, release);
        /* A probe or the watch may have been the first request. */
        assert_true(rc == ZKR_OK || rc == ZKR_ECONNLOSS);
        ZKT_EVENTUALLY(zkr_client_state(s.c) == ZKR_STATE_CONNECTED, PATIENCE_MS);
        assert_int_equal(is_held(&s.h), !release);
        int code = drop(&s.h);
        assert_int_equal(code, release && !by_ticket ? ZKR_ENOTOWNER : ZKR_OK);
        ZKT_MUST(zkr_client_flush(s.c, PATIENCE_MS));
        assert_int_equal(contenders(), 0);
        assert_int_equal(losses, 0);
        finish(&s);
        zkt_proxy_stop(p);
    }
}

/* What is still on its way when its holder gives up is written before the next one holds. */
static void a_late_write_is_not_overtaken(void **state)
{
    (void)state;
    for (int release = 0; release < 2; release++) {
        zkt_proxy *p = zkt_proxy_start(zkt_servers());
        struct stage s = begin(zkt_proxy_host(p));
        struct zkt_actor actor;
        zkr_mutex *m = make_mutex(s.c);
        zkt_actor_queue(&actor, s.c, m, NULL);
        ZKT_EVENTUALLY(zkt_watches() == 2, PATIENCE_MS);
        zkt_proxy_delay(p, ZKT_TO_SERVER, 500);
        expect_code(write_text(&s.h, "new", 50, release), ZKR_ECONNLOSS);
        (void)drop(&s.h);
        assert_int_equal(zkt_actor_acquired(&actor), ZKR_OK);
        assert_true(is_written("new"));
        assert_int_equal(zkt_actor_end(&actor), ZKR_OK);
        zkt_destroy(m);
        finish(&s);
        zkt_proxy_stop(p);
    }
}

/* Without a connection nothing is sent, so nothing is written; a write may wait for one. */
static void no_connection_is_no_write(void **state)
{
    (void)state;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    struct stage s = begin(zkt_proxy_host(p));
    zkt_proxy_cut(p);
    ZKT_EVENTUALLY(zkr_client_state(s.c) == ZKR_STATE_SUSPENDED, PATIENCE_MS);
    for (int release = 0; release < 2; release++) {
        int64_t before = zkt_now_ms();
        expect_code(write_text(&s.h, "new", 0, release), ZKR_ENOANSWER);
        assert_in_range(zkt_now_ms() - before, 0, SOON_MS);
        expect_code(write_text(&s.h, "new", 100, release), ZKR_ENOANSWER);
    }
    assert_true(is_written("old"));
    assert_true(is_held(&s.h));
    zkt_proxy_heal(p);
    ZKT_MUST(write_text(&s.h, "new", PATIENCE_MS, true));
    assert_true(is_written("new"));
    (void)drop(&s.h);
    finish(&s);
    zkt_proxy_stop(p);
}

/* --- misuse --- */

/* Holds, counts, paths and times that make no sense. */
static void nonsense_is_refused(void **state)
{
    (void)state;
    struct stage s = begin(zkt_servers());
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_set_op_init(&op, resource, "new", 3, -1, NULL);
    for (int release = 0; release < 2; release++) {
        struct hold none = {0};
        expect_code(write_ops(&none, 1, &op, &result, 0, release), ZKR_EINVAL);
        expect_code(write_ops(&s.h, -1, &op, &result, 0, release), ZKR_EINVAL);
        expect_code(write_ops(&s.h, 1, NULL, &result, 0, release), ZKR_EINVAL);
        expect_code(write_ops(&s.h, 1, &op, &result, -2, release), ZKR_EINVAL);
        op.set_op.path = "no path";
        expect_code(write_ops(&s.h, 1, &op, &result, 0, release), ZKR_EINVAL);
        op.set_op.path = resource;
    }
    if (!by_ticket) {
        ZKT_MUST(zkr_mutex_acquire(s.m, 0));
        expect_code(write_text(&s.h, "new", PATIENCE_MS, true), ZKR_ESTATE);
        ZKT_MUST(zkr_mutex_release(s.m));
        ZKT_MUST(drop(&s.h));
        expect_code(write_text(&s.h, "new", PATIENCE_MS, false), ZKR_ENOTOWNER);
        expect_code(write_text(&s.h, "new", PATIENCE_MS, true), ZKR_ENOTOWNER);
    } else {
        struct hold waits = {.m = s.m};
        ZKT_MUST(zkr_mutex_request(s.m, ZKR_FOREVER, NULL, NULL, &waits.t));
        expect_code(write_text(&waits, "new", PATIENCE_MS, true), ZKR_ESTATE);
        ZKT_MUST(drop(&waits));
        ZKT_MUST(zkr_ticket_release(s.h.t));
        expect_code(write_text(&s.h, "new", PATIENCE_MS, false), ZKR_ESTATE);
        ZKT_MUST(drop(&s.h));
    }
    assert_true(is_written("old"));
    finish(&s);
}

static void write_in_callback(zkr_ticket *t, int state, struct told *told)
{
    zoo_op_t op;
    (void)state;
    zoo_set_op_init(&op, resource, "new", 3, -1, NULL);
    told->code = zkr_ticket_multi(t, 1, &op, NULL, PATIENCE_MS) == ZKR_ESTATE
                     ? zkr_ticket_release_multi(t, 1, &op, NULL, PATIENCE_MS)
                     : ZKR_OK;
}

/* A callback must not wait. */
static void a_callback_must_not_write(void **state)
{
    (void)state;
    struct told told = {.then = write_in_callback};
    struct stage s = begin(zkt_servers());
    ZKT_MUST(drop(&s.h));
    zkr_ticket *t = request(s.m, ZKR_FOREVER, &told);
    ZKT_EVENTUALLY(told.held == 1, PATIENCE_MS);
    assert_int_equal(told.code, ZKR_ESTATE);
    end(t);
    finish(&s);
}

struct writer {
    struct hold *h;
    atomic_int code;
};

static void *write_late(void *arg)
{
    struct writer *w = arg;
    w->code = write_text(w->h, "new", PATIENCE_MS, true);
    return NULL;
}

/* A ticket that is released while one writes stays until that one is back. */
static void a_ticket_in_a_write_refuses_to_go(void **state)
{
    (void)state;
    if (!by_ticket) {
        return;
    }
    pthread_t thread;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    struct stage s = begin(zkt_proxy_host(p));
    struct writer w = {.h = &s.h, .code = 1};
    zkt_proxy_freeze(p, ZKT_TO_CLIENT);
    assert_int_equal(pthread_create(&thread, NULL, write_late, &w), 0);
    ZKT_EVENTUALLY(is_written("new"), PATIENCE_MS);
    ZKT_MUST(zkr_ticket_release(s.h.t));
    expect_code(zkr_ticket_destroy(s.h.t), ZKR_EBUSY);
    zkt_proxy_thaw(p, ZKT_TO_CLIENT);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(w.code, ZKR_OK);
    ZKT_MUST(drop(&s.h));
    finish(&s);
    zkt_proxy_stop(p);
}

struct late {
    zkr_mutex *m;
    bool release;
    atomic_bool holds, go_on;
    int code, again;
};

static void *write_when_told(void *arg)
{
    struct late *l = arg;
    struct hold h = take(l->m);
    l->holds = true;
    while (!l->go_on) {
        zkt_sleep_ms(1);
    }
    l->code = write_text(&h, "new", ZKR_FOREVER, l->release);
    l->again = l->release ? ZKR_ECLOSED : write_text(&h, "newer", ZKR_FOREVER, true);
    (void)drop(&h);
    return NULL;
}

/* A shutdown ends a write that waits for its answer; later ones are not begun. */
static void a_shutdown_ends_writes(void **state)
{
    (void)state;
    for (int release = 0; release < 2; release++) {
        pthread_t thread;
        zkt_proxy *p = zkt_proxy_start(zkt_servers());
        make_resource();
        zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
        struct stage s = {.c = c, .m = make_mutex(c)};
        struct late l = {.m = s.m, .release = release};
        assert_int_equal(pthread_create(&thread, NULL, write_when_told, &l), 0);
        ZKT_EVENTUALLY(l.holds, PATIENCE_MS);
        zkt_proxy_freeze(p, ZKT_TO_CLIENT);
        l.go_on = true;
        ZKT_EVENTUALLY(is_written("new"), PATIENCE_MS);
        int64_t before = zkt_now_ms();
        ZKT_MUST(zkr_client_shutdown(c));
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_in_range(zkt_now_ms() - before, 0, SOON_MS);
        assert_string_equal(zkr_err_name(l.code), "ZKR_ECLOSED");
        assert_string_equal(zkr_err_name(l.again), "ZKR_ECLOSED");
        zkt_proxy_thaw(p, ZKT_TO_CLIENT);
        ZKT_EVENTUALLY(contenders() == 0, PATIENCE_MS);
        assert_true(is_written("new"));
        finish(&s);
        zkt_proxy_stop(p);
    }
}

static int enter_by_thread(void **state)
{
    by_ticket = false;
    return zkt_enter(state);
}

static int enter_by_ticket(void **state)
{
    by_ticket = true;
    return zkt_enter(state);
}

#define BOTH(name)                                                                     \
    {#name ", by a thread", name, enter_by_thread, zkt_leave, NULL},                   \
    {                                                                                  \
#name ", by a ticket", name, enter_by_ticket, zkt_leave, NULL                  \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(writes_of_a_holder_go_through),
        BOTH(writes_of_no_holder_are_refused),
        BOTH(a_write_is_how_a_loss_is_heard_of),
        BOTH(a_refusal_leaves_the_hold),
        BOTH(a_release_goes_with_the_write),
        BOTH(the_next_holder_sees_the_write),
        BOTH(an_unknown_outcome_is_said),
        BOTH(a_cut_on_the_way_is_an_unknown_outcome),
        BOTH(a_late_write_is_not_overtaken),
        BOTH(no_connection_is_no_write),
        BOTH(nonsense_is_refused),
        BOTH(a_callback_must_not_write),
        BOTH(a_ticket_in_a_write_refuses_to_go),
        BOTH(a_shutdown_ends_writes),
    };
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}
