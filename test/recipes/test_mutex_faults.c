/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fault at every request of a cycle, found by search over the request's number: whatever
 * happens, the lock works afterwards and no node stays.
 */
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "fourlw.h"
#include "lock.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000 };

static void delay_both(zkt_proxy *p, int64_t ms)
{
    zkt_proxy_delay(p, ZKT_TO_SERVER, ms);
    zkt_proxy_delay(p, ZKT_TO_CLIENT, ms);
}

/* --- the connection --- */

typedef void (*arm_fn)(zkt_proxy *p, int n);

static bool one_cycle_through(arm_fn arm, int n)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    arm(p, n);
    ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
    assert_true(zkt_is_held(m));
    assert_int_equal(zkt_nodes(), 1);
    ZKT_MUST(zkt_release(m));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
    bool struck = zkt_proxy_triggered(p) > 0;
    ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkt_release(m));
    zkt_destroy(m);
    zkt_close(c);
    zkt_proxy_stop(p);
    return struck;
}

static void search_cycle(arm_fn arm)
{
    for (struct zkt_strikes s = {.least = 3}; zkt_next_strike(&s);) {
        s.struck = one_cycle_through(arm, s.n);
    }
}

/* The connection is cut before the n-th request of a cycle leaves us. */
ZKT_BOTH_CASE(a_cut_before_any_request_is_survived)
{
    search_cycle(zkt_proxy_cut_before_request);
}

/* It is cut when the server has got the n-th request: executed, not answered. */
ZKT_BOTH_CASE(a_cut_after_any_request_is_survived)
{
    search_cycle(zkt_proxy_cut_after_request);
}

/* The n-th reply is lost, that of the create and of the delete among them. */
ZKT_BOTH_CASE(any_lost_reply_is_survived)
{
    search_cycle(zkt_proxy_drop_reply);
}

static bool one_wait_through(arm_fn arm, int n, zkr_mutex *held, int64_t holder)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    struct zkt_actor actor;
    char node[256];
    ZKT_MUST(zkt_acquire(held, PATIENCE_MS));
    zkt_lone_node(node, sizeof(node));
    arm(p, n);
    zkt_actor_start(&actor, m, PATIENCE_MS, NULL);
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_CONNECTED, PATIENCE_MS);
    ZKT_EVENTUALLY(zkt_watchers_but(zkt_servers(), node, holder) > 0, PATIENCE_MS);
    ZKT_MUST(zkt_release(held));
    ZKT_MUST(zkt_actor_acquired(&actor));
    ZKT_BECOMES(zkt_nodes(), 1, PATIENCE_MS);
    ZKT_MUST(zkt_actor_end(&actor));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
    bool struck = zkt_proxy_triggered(p) > 0;
    zkt_destroy(m);
    zkt_close(c);
    zkt_proxy_stop(p);
    return struck;
}

static void search_wait(arm_fn arm)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *held = zkt_mutex(c);
    for (struct zkt_strikes s = {.least = 4}; zkt_next_strike(&s);) {
        s.struck = one_wait_through(arm, s.n, held, zkr_client_session_id(c));
    }
    zkt_destroy(held);
    zkt_close(c);
}

/* The same for one that has to wait: it keeps one node, and is granted. */
ZKT_BOTH_CASE(a_cut_while_queueing_is_survived)
{
    search_wait(zkt_proxy_cut_before_request);
    search_wait(zkt_proxy_cut_after_request);
    search_wait(zkt_proxy_drop_reply);
}

/* --- the session --- */

/* The session ends as the n-th request of a cycle is sent: the wait goes on in the next one. */
ZKT_BOTH_CASE(an_expiry_at_any_request_is_survived)
{
    for (struct zkt_strikes s = {.least = 3}; zkt_next_strike(&s);) {
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        zkr_mutex *m = zkt_mutex(c);
        zkt_note_session(c);
        zkt_door_focus(c);
        zkt_door_before(s.n, zkt_expire_noted, NULL);
        ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
        int rc = zkt_release(m);
        assert_true(rc == ZKR_OK || rc == ZKR_ESESSION);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        s.struck = zkt_door_fired();
        if (s.struck) {
            zkt_await_next_session(c);
        }
        ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
        ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
        ZKT_MUST(zkt_release(m));
        zkt_destroy(m);
        zkt_close(c);
    }
}

/* The session of a waiter ends at any of its requests: a new node at the tail, then granted. */
ZKT_BOTH_CASE(an_expiry_while_waiting_is_survived)
{
    zkr_mutex *held = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    for (struct zkt_strikes s = {.least = 2}; zkt_next_strike(&s);) {
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        zkr_mutex *m = zkt_mutex(c);
        struct zkt_actor actor;
        ZKT_MUST(zkt_acquire(held, PATIENCE_MS));
        zkt_note_session(c);
        zkt_door_focus(c);
        zkt_door_before(s.n, zkt_expire_noted, NULL);
        zkt_actor_start(&actor, m, PATIENCE_MS, NULL);
        ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
        s.struck = zkt_door_fired();
        if (!s.struck) {
            zkt_expire(c); /* once more, in peace */
            ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_CONNECTED, PATIENCE_MS);
            ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
        }
        ZKT_MUST(zkt_release(held));
        ZKT_MUST(zkt_actor_acquired(&actor));
        (void)zkt_actor_end(&actor); /* lost if the session ends only now */
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
        zkt_destroy(m);
        zkt_close(c);
    }
}

/* --- the caller --- */

struct canceler {
    zkr_mutex *m;
    sem_t now;
    pthread_t thread;
};

static void *cancel_when_told(void *arg)
{
    struct canceler *k = arg;
    while (sem_wait(&k->now) != 0) {
    }
    (void)zkt_cancel(k->m);
    return NULL;
}

static void post(void *ctx)
{
    sem_post(&((struct canceler *)ctx)->now);
}

/* Cancel at any request of a wait: no node stays, and the object is usable. */
ZKT_BOTH_CASE(a_cancel_at_any_request_leaves_nothing)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *held = zkt_mutex(c);
    ZKT_MUST(zkt_acquire(held, PATIENCE_MS));
    for (int n = 1; n <= 4; n++) {
        struct canceler k = {.m = zkt_mutex(c)};
        sem_init(&k.now, 0, 0);
        assert_int_equal(pthread_create(&k.thread, NULL, cancel_when_told, &k), 0);
        zkt_door_focus(c);
        zkt_door_before(n, post, &k);
        int rc = zkt_acquire(k.m, n == 4 ? 200 : PATIENCE_MS);
        assert_true(rc == ZKR_ECANCELED || (n == 4 && ZKT_TIMED_OUT(rc)));
        sem_post(&k.now);
        pthread_join(k.thread, NULL);
        sem_destroy(&k.now);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        assert_int_equal(zkt_nodes(), 1);
        zkt_destroy(k.m);
    }
    ZKT_MUST(zkt_release(held));
}

/* A time-out at any moment of a wait leaves nothing. */
ZKT_BOTH_CASE(a_time_out_at_any_moment_leaves_nothing)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *slow = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *held = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    zkr_mutex *m = zkt_mutex(slow);
    delay_both(p, 5);
    ZKT_MUST(zkt_acquire(held, PATIENCE_MS));
    for (int ms = 1; ms <= 40; ms++) {
        int rc = zkt_acquire(m, ms);
        assert_true(ZKT_TIMED_OUT(rc));
    }
    ZKT_MUST(zkr_client_flush(slow, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 1);
    ZKT_MUST(zkt_release(held));
}

/* Close with claims still being removed: the end of the session takes the nodes along, long before its time-out would. */
ZKT_BOTH_CASE(a_close_takes_all_nodes_along)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    for (int i = 0; i < 10; i++) {
        zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
        zkr_mutex *m = zkt_mutex(c);
        delay_both(p, i);
        int rc = zkt_acquire(m, i * 2);
        if (rc == ZKR_OK) {
            ZKT_MUST(zkt_release(m));
        }
        zkt_destroy(m);
        zkt_close(c);
        ZKT_BECOMES(zkt_nodes(), 0, SESSION_MS / 2);
        zkt_proxy_heal(p);
    }
}

/*
 * A list that was sent before a neighbour's release is answered after it, and still shows its node: that one
 * is not waited for, however long the path is.
 */
ZKT_BOTH_CASE(a_node_on_its_way_out_is_known_at_any_length)
{
    enum { LONGEST = 1047553, ANSWER_MS = 200 };
    static char path[LONGEST];
    int start = snprintf(path, sizeof(path), "%s/", zkt_path());
    memset(path + start, 'x', sizeof(path) - 1 - (size_t)start);
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = NULL;
    struct zkt_actor actor;
    ZKT_MUST(zkr_mutex_create(&m, c, path, NULL));
    ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
    zkt_door_focus(c);
    zkt_proxy_delay(p, ZKT_TO_CLIENT, ANSWER_MS);
    int64_t before = zkt_now_ms();
    zkt_actor_start(&actor, m, PATIENCE_MS, NULL);
    ZKT_BECOMES(zkt_door_count(ZKR__OP_CHILDREN), 1, PATIENCE_MS);
    ZKT_MUST(zkt_release(m));
    ZKT_MUST(zkt_actor_acquired(&actor));
    assert_true(zkt_now_ms() - before >= ANSWER_MS);
    ZKT_MUST(zkt_actor_end(&actor));
    zkt_destroy(m);
    zkt_close(c);
    zkt_proxy_stop(p);
    assert_int_equal(zkt_delete(zkt_servers(), path), 0);
}
