/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "clean.h"
#include "fourlw.h"
#include "proxy.h"
#include "raw.h"
#include "runner.h"
#include "server.h"
#include "util.h"

enum { SESSION_MS = 8000, SHORT_MS = 60, OP_CREATE = 1, OP_EXISTS = 3 };

/* A proxy, a session through it, and a node to work under. */
static zkt_proxy *proxy;
static zkt_raw *session;
static const char *path;

static zkt_raw *open_session(void)
{
    zkt_raw *s = zkt_raw_open(zkt_proxy_host(proxy), SESSION_MS);
    assert_non_null(s);
    return s;
}

static const char *node(const char *name)
{
    static char text[4][256];
    static int turn;
    char *out = text[turn++ % 4];
    (void)snprintf(out, sizeof text[0], "%s/%s", path, name);
    return out;
}

static int make(const char *name)
{
    return zkt_raw_create(session, &(zkt_node){.path = node(name)}, NULL, 0);
}

static int look(zkt_raw *s)
{
    return zkt_raw_exists(s, path, false, NULL);
}

/* Also called in the proxy's thread, so not with node(). */
static bool made(const char *name)
{
    char text[256];
    (void)snprintf(text, sizeof text, "%s/%s", path, name);
    return zkt_exists(zkt_servers(), text);
}

static int before_each(void **state)
{
    (void)state;
    path = zkt_unique_path("proxy");
    assert_int_equal(zkt_create_path(zkt_servers(), path), ZKT_OK);
    proxy = zkt_proxy_start(zkt_servers());
    session = open_session();
    return 0;
}

static int after_each(void **state)
{
    (void)state;
    zkt_raw_abandon(session);
    zkt_proxy_stop(proxy);
    assert_int_equal(zkt_delete_children(zkt_servers(), path), ZKT_OK);
    zkt_check_clean(path);
    return 0;
}

/* The session was reset; through the proxy it goes on. */
static void resume(void)
{
    int rc = ZKT_OK;
    zkt_raw *s = zkt_raw_resume(zkt_proxy_host(proxy), zkt_raw_id(session),
                                zkt_raw_passwd(session), &rc);
    assert_non_null(s);
    zkt_raw_abandon(session);
    session = s;
}

/* Requests, replies, events and pings are told apart and counted. */
static void frames_are_counted(void **state)
{
    (void)state;
    assert_int_equal(zkt_raw_ping(session), ZKT_OK);
    assert_int_equal(zkt_raw_exists(session, node("a"), true, NULL), ZKT_NONODE);
    assert_int_equal(make("a"), ZKT_OK);
    const zkt_proxy_counts n = zkt_proxy_counters(proxy);
    assert_int_equal(n.connections, 1);
    assert_int_equal(n.open, 1);
    assert_int_equal(n.requests, 2);
    assert_int_equal(n.replies, 2);
    assert_int_equal(n.events, 1);
    assert_int_equal(n.pings, 1);
    assert_int_equal(zkt_raw_events(session), 1);
    assert_true(n.bytes[ZKT_TO_SERVER] > 0 && n.bytes[ZKT_TO_CLIENT] > 0);
    assert_int_equal(zkt_proxy_triggered(proxy), 0);
}

/* What is no frame passes too: four-letter words, and large frames as a whole. */
static void words_and_large_frames_pass(void **state)
{
    (void)state;
    const size_t size = 900000;
    char *data = calloc(1, size);
    assert_int_equal(zkt_mode(zkt_proxy_host(proxy)), zkt_mode(zkt_servers()));
    assert_int_equal(make("big"), ZKT_OK);
    memset(data, 'x', size);
    assert_int_equal(zkt_raw_set(session, node("big"), data, size), ZKT_OK);
    size_t got = size;
    memset(data, 0, size);
    assert_int_equal(zkt_raw_get(session, node("big"), data, &got, NULL), ZKT_OK);
    assert_int_equal(got, size);
    assert_true(data[0] == 'x' && data[size - 1] == 'x');
    free(data);
}

typedef struct call {
    pthread_t thread;
    const char *name;
    atomic_bool done;
    int rc;
} call;

static void *create_in_thread(void *arg)
{
    call *c = arg;
    c->rc = zkt_raw_create(session, &(zkt_node){.path = c->name}, NULL, 0);
    atomic_store(&c->done, true);
    return NULL;
}

static void start(call *c, const char *name)
{
    *c = (call){.name = node(name)};
    assert_int_equal(pthread_create(&c->thread, NULL, create_in_thread, c), 0);
}

static int finish(call *c)
{
    assert_int_equal(pthread_join(c->thread, NULL), 0);
    return c->rc;
}

/* The one before the n-th request is answered; the n-th is executed or not, always. */
static void faults_strike_the_nth_request(void **state)
{
    (void)state;
    enum { ROUNDS = 20 };
    static const struct {
        void (*arm)(zkt_proxy *p, int n);
        bool executed;
    } faults[] = {{zkt_proxy_cut_before_request, false},
                  {zkt_proxy_cut_after_request, true},
                  {zkt_proxy_drop_reply, true}};
    char name[2][16];
    int struck = 0;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        for (int k = 0; k < ROUNDS; k++) {
            (void)snprintf(name[0], sizeof name[0], "a%zu-%d", i, k);
            (void)snprintf(name[1], sizeof name[1], "b%zu-%d", i, k);
            faults[i].arm(proxy, 2);
            assert_int_equal(zkt_raw_ping(session), ZKT_OK);
            assert_int_equal(make(name[0]), ZKT_OK);
            assert_int_equal(zkt_proxy_triggered(proxy), struck);
            assert_int_equal(make(name[1]), ZKT_LOST);
            assert_int_equal(zkt_proxy_triggered(proxy), ++struck);
            if (faults[i].executed) { /* before the session moves */
                ZKT_EVENTUALLY(made(name[1]), 5000);
            }
            resume();
            assert_true(made(name[0]));
            assert_int_equal(made(name[1]), faults[i].executed);
        }
    }
    assert_int_equal(look(session), ZKT_OK);
    ZKT_BECOMES(zkt_proxy_counters(proxy).open, 1, 5000);
}

/* Of two requests sent at once the first is executed also when the second is cut. */
static void requests_before_the_cut_reach_the_server(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        char first[32];
        char second[32];
        (void)snprintf(first, sizeof first, "first%d", i);
        (void)snprintf(second, sizeof second, "second%d", i);
        /* Both are there when the proxy looks. */
        zkt_proxy_freeze(proxy, ZKT_TO_SERVER);
        zkt_proxy_cut_before_request(proxy, 2);
        const zkt_node a = {.path = node(first)};
        const zkt_node b = {.path = node(second)};
        assert_int_equal(zkt_raw_post_create(session, &a), ZKT_OK);
        assert_int_equal(zkt_raw_post_create(session, &b), ZKT_OK);
        zkt_proxy_thaw(proxy, ZKT_TO_SERVER);
        assert_int_equal(look(session), ZKT_LOST);
        ZKT_EVENTUALLY(made(first), 5000);
        resume();
        assert_false(made(second));
    }
}

/* An orphaned connection stays open at the server and ends when healed. */
static void orphan_leaves_the_server_alone(void **state)
{
    (void)state;
    const int64_t id = zkt_raw_id(session);
    assert_int_equal(zkt_proxy_counters(proxy).open, 1);
    zkt_proxy_orphan(proxy);
    assert_int_equal(look(session), ZKT_LOST);
    assert_null(zkt_raw_open(zkt_proxy_host(proxy), SESSION_MS));
    assert_int_equal(zkt_proxy_counters(proxy).open, 0);
    zkt_sleep_ms(SHORT_MS);
    assert_true(zkt_cons_received(zkt_servers(), id) >= 1);
    zkt_proxy_heal(proxy);
    ZKT_BECOMES(zkt_cons_received(zkt_servers(), id), -1, 5000);
    resume();
    assert_int_equal(look(session), ZKT_OK);
}

typedef struct seen {
    atomic_int n;
    atomic_int op;
    bool executed;
    int act_at;
    void (*act)(void);
} seen;

static void hook(void *ctx, int n, int op)
{
    seen *s = ctx;
    atomic_store(&s->n, n);
    atomic_store(&s->op, op);
    if (n == s->act_at) {
        s->executed = made("a");
        s->act();
    }
}

static void freeze_replies(void)
{
    zkt_proxy_freeze(proxy, ZKT_TO_CLIENT);
}

static void drop(void)
{
    zkt_proxy_drop_connections(proxy);
}

/* The hook sees each request before the server does, and may inject faults. */
static void hook_comes_before_the_server(void **state)
{
    (void)state;
    call c;
    seen s = {.act_at = 2, .act = freeze_replies};
    zkt_proxy_on_request(proxy, hook, &s);
    assert_int_equal(look(session), ZKT_OK);
    assert_int_equal(atomic_load(&s.n), 1);
    assert_int_equal(atomic_load(&s.op), OP_EXISTS);
    start(&c, "a");
    ZKT_EVENTUALLY(made("a"), 5000);
    assert_int_equal(atomic_load(&s.n), 2);
    assert_int_equal(atomic_load(&s.op), OP_CREATE);
    assert_false(s.executed);
    assert_false(atomic_load(&c.done));
    zkt_proxy_heal(proxy);
    assert_int_equal(finish(&c), ZKT_OK);

    s.act_at = 3;
    s.act = drop;
    assert_int_equal(make("b"), ZKT_LOST);
    zkt_proxy_on_request(proxy, NULL, NULL);
    resume();
    assert_int_equal(look(session), ZKT_OK);
    assert_int_equal(atomic_load(&s.n), 3);
    assert_false(made("b"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, before_each, after_each)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(frames_are_counted),
        TEST(words_and_large_frames_pass),
        TEST(faults_strike_the_nth_request),
        TEST(requests_before_the_cut_reach_the_server),
        TEST(orphan_leaves_the_server_alone),
        TEST(hook_comes_before_the_server),
    };
    return zkt_run(argc, argv, tests, zkt_group_setup, zkt_group_teardown);
}
