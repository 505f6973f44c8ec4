/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the parts of the proxy, one by one, with a session that is not the library's. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "fourlw.h"
#include "keep.h"

enum { SESSION_MS = 8000, OP_CREATE = 1, OP_EXISTS = 3 };

/* A proxy, and a session through it. */
static zkt_proxy *proxy;
static zkt_raw *session;

static void end_session(void *unused)
{
    zkt_raw_abandon(session);
}

static void begin(void)
{
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), ZKT_OK);
    proxy = zkt_proxy_start(zkt_servers());
    session = zkt_raw_open(zkt_proxy_host(proxy), SESSION_MS);
    assert_non_null(session);
    zkt_keep(&session, end_session);
}

static int make(const char *name)
{
    return zkt_raw_create(session, &(zkt_node){.path = zkt_child(name)}, NULL, 0);
}

static int look(void)
{
    return zkt_raw_exists(session, zkt_path(), false, NULL);
}

/* Also called in the proxy's thread, so it cannot use zkt_child(). */
static bool made(const char *name)
{
    char text[256];
    (void)snprintf(text, sizeof text, "%s/%s", zkt_path(), name);
    return zkt_exists(zkt_servers(), text);
}

/* The session was reset, and continues through the proxy. */
static void resume(void)
{
    int rc = ZKT_OK;
    zkt_raw *s = zkt_raw_resume(zkt_proxy_host(proxy), zkt_raw_id(session),
                                zkt_raw_passwd(session), &rc);
    assert_non_null(s);
    zkt_raw_abandon(session);
    session = s;
}

/* Requests, replies, events and pings are distinguished and counted. */
ZKT_CASE(frames_are_counted)
{
    begin();
    assert_int_equal(zkt_raw_ping(session), ZKT_OK);
    assert_int_equal(zkt_raw_exists(session, zkt_child("a"), true, NULL), ZKT_NONODE);
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

/* Data that are not frames pass, too: four-letter words, and large frames as a whole. */
ZKT_CASE(words_and_large_frames_pass)
{
    begin();
    const size_t size = 900000;
    char *data = calloc(1, size);
    assert_int_equal(zkt_mode(zkt_proxy_host(proxy)), zkt_mode(zkt_servers()));
    assert_int_equal(make("big"), ZKT_OK);
    memset(data, 'x', size);
    assert_int_equal(zkt_raw_set(session, zkt_child("big"), data, size), ZKT_OK);
    size_t got = size;
    memset(data, 0, size);
    assert_int_equal(zkt_raw_get(session, zkt_child("big"), data, &got, NULL), ZKT_OK);
    assert_int_equal(got, size);
    assert_true(data[0] == 'x' && data[size - 1] == 'x');
    free(data);
}

/* The request before the n-th is always answered. Whether the n-th is executed depends only on the fault. */
ZKT_CASE(faults_strike_the_nth_request)
{
    begin();
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
    assert_int_equal(look(), ZKT_OK);
    ZKT_BECOMES(zkt_proxy_counters(proxy).open, 1, 5000);
}

/* If two requests are sent at once, the first is executed even if the second is cut. */
ZKT_CASE(requests_before_the_cut_reach_the_server)
{
    begin();
    for (int i = 0; i < 20; i++) {
        char first[32];
        char second[32];
        (void)snprintf(first, sizeof first, "first%d", i);
        (void)snprintf(second, sizeof second, "second%d", i);
        /* Both requests are there when the proxy reads. */
        zkt_proxy_freeze(proxy, ZKT_TO_SERVER);
        zkt_proxy_cut_before_request(proxy, 2);
        const zkt_node a = {.path = zkt_child(first)};
        const zkt_node b = {.path = zkt_child(second)};
        assert_int_equal(zkt_raw_post_create(session, &a), ZKT_OK);
        assert_int_equal(zkt_raw_post_create(session, &b), ZKT_OK);
        zkt_proxy_thaw(proxy, ZKT_TO_SERVER);
        assert_int_equal(look(), ZKT_LOST);
        ZKT_EVENTUALLY(made(first), 5000);
        resume();
        assert_false(made(second));
    }
}

/* An orphaned connection stays open at the server, and ends when the proxy heals. */
ZKT_CASE(orphan_leaves_the_server_alone)
{
    begin();
    const int64_t id = zkt_raw_id(session);
    assert_int_equal(zkt_proxy_counters(proxy).open, 1);
    zkt_proxy_orphan(proxy);
    assert_int_equal(look(), ZKT_LOST);
    assert_null(zkt_raw_open(zkt_proxy_host(proxy), SESSION_MS));
    assert_int_equal(zkt_proxy_counters(proxy).open, 0);
    zkt_sleep_ms(60);
    assert_true(zkt_cons_received(zkt_servers(), id) >= 1);
    zkt_proxy_heal(proxy);
    ZKT_BECOMES(zkt_cons_received(zkt_servers(), id), -1, 5000);
    resume();
    assert_int_equal(look(), ZKT_OK);
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

typedef struct call {
    atomic_bool done;
    int rc;
} call;

static void *create_in_thread(void *arg)
{
    call *c = arg;
    c->rc = make("a");
    atomic_store(&c->done, true);
    return NULL;
}

/* The hook is called before the server receives the request, and may inject faults. */
ZKT_CASE(hook_comes_before_the_server)
{
    begin();
    pthread_t thread;
    call c = {.rc = ZKT_LOST};
    seen s = {.act_at = 2, .act = freeze_replies};
    zkt_proxy_on_request(proxy, hook, &s);
    assert_int_equal(look(), ZKT_OK);
    assert_int_equal(atomic_load(&s.n), 1);
    assert_int_equal(atomic_load(&s.op), OP_EXISTS);
    assert_int_equal(pthread_create(&thread, NULL, create_in_thread, &c), 0);
    ZKT_EVENTUALLY(made("a"), 5000);
    assert_int_equal(atomic_load(&s.n), 2);
    assert_int_equal(atomic_load(&s.op), OP_CREATE);
    assert_false(s.executed);
    assert_false(atomic_load(&c.done));
    zkt_proxy_heal(proxy);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(c.rc, ZKT_OK);

    s.act_at = 3;
    s.act = drop;
    assert_int_equal(make("b"), ZKT_LOST);
    zkt_proxy_on_request(proxy, NULL, NULL);
    resume();
    assert_int_equal(look(), ZKT_OK);
    assert_int_equal(atomic_load(&s.n), 3);
    assert_false(made("b"));
}
