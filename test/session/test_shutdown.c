/* SPDX-License-Identifier: Apache-2.0 */
/* A client whose waits are ended from outside. */
#include <pthread.h>
#include <stdatomic.h>

#include "fixture.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000, NOT_YET = 1 };

struct waiter {
    zkr_client *c;
    int (*wait)(zkr_client *c, int64_t timeout_ms);
    pthread_t thread;
    atomic_int begun, code;
};

static void *wait_on(void *arg)
{
    struct waiter *w = arg;
    atomic_store(&w->begun, 1);
    atomic_store(&w->code, w->wait(w->c, ZKR_FOREVER));
    return NULL;
}

static void
begin(struct waiter *w, zkr_client *c, int (*wait)(zkr_client *c, int64_t timeout_ms))
{
    w->c = c;
    w->wait = wait;
    atomic_store(&w->code, NOT_YET);
    assert_int_equal(pthread_create(&w->thread, NULL, wait_on, w), 0);
    ZKT_BECOMES(atomic_load(&w->begun), 1, PATIENCE_MS);
    zkt_sleep_ms(
        50); /* a wait that has begun in earnest; without it the test would prove less */
    assert_int_equal(atomic_load(&w->code), NOT_YET);
}

static int end(struct waiter *w)
{
    (void)pthread_join(w->thread, NULL);
    return atomic_load(&w->code);
}

/* A client that never connects: who waits for that is told. */
ZKT_CASE(a_wait_for_a_connection_ends)
{
    struct waiter w;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_cut(p);
    zkr_client *c = NULL;
    ZKT_MUST(zkr_client_open(&c, zkt_proxy_host(p), NULL));
    begin(&w, c, zkr_client_wait_connected);
    ZKT_MUST(zkr_client_shutdown(c));
    ZKT_RC(end(&w), ZKR_ECLOSED);
    zkt_close(c);
}

ZKT_CASE(a_flush_ends)
{
    struct waiter w;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_proxy_freeze(p, ZKT_TO_CLIENT);
    ZKT_MUST(zkr_mutex_release(m));
    begin(&w, c, zkr_client_flush);
    ZKT_MUST(zkr_client_shutdown(c));
    ZKT_RC(end(&w), ZKR_ECLOSED);
    zkt_proxy_heal(p);
}

/* A hold outlives the shutdown, and ends with its release. */
ZKT_CASE(a_hold_stays_until_it_is_released)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_client_shutdown(c));
    assert_true(zkr_mutex_is_held(m));
    assert_int_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
    zkr_mutex *other = NULL;
    ZKT_RC(zkr_mutex_create(&other, c, zkt_path(), NULL), ZKR_ECLOSED);
    assert_int_equal(zkt_nodes(), 1);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS); /* the session goes on */
    assert_int_equal(zkr_client_state(c), ZKR_STATE_CONNECTED);
}

static void shut_down(zkr_client *c, int state, void *ctx)
{
    atomic_int *code = ctx;
    if (state == ZKR_STATE_CONNECTED) {
        atomic_store(code, zkr_client_shutdown(c));
    }
}

ZKT_CASE(a_callback_may_shut_down)
{
    atomic_int code = NOT_YET;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.on_state = shut_down;
    o.on_state_ctx = &code;
    zkr_client *c = NULL;
    ZKT_MUST(zkr_client_open(&c, zkt_servers(), &o));
    ZKT_BECOMES(atomic_load(&code), ZKR_OK, PATIENCE_MS);
    ZKT_RC(zkr_client_wait_connected(c, ZKR_FOREVER), ZKR_ECLOSED);
    zkt_close(c);
}
