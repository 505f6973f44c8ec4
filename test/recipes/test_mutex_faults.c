/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fault at every request of a cycle, found by search over the request's number: whatever
 * happens, the lock works afterwards and no node stays.
 */
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "lock.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000, STEPS_MAX = 60 };

static int64_t children(void)
{
    return zkt_children_count(zkt_servers(), zkt_path());
}

static void delay_both(zkt_proxy *p, int64_t ms)
{
    zkt_proxy_delay(p, ZKT_TO_SERVER, ms);
    zkt_proxy_delay(p, ZKT_TO_CLIENT, ms);
}

/* --- the connection --- */

typedef void (*arm_fn)(zkt_proxy *p, int n);

static void one_cycle_through(arm_fn arm, int n, bool *triggered)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    arm(p, n);
    ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
    assert_true(zkt_is_held(m));
    assert_int_equal(children(), 1);
    ZKT_MUST(zkt_release(m));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(children(), 0);
    *triggered = zkt_proxy_triggered(p) > 0;
    ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkt_release(m));
    zkt_destroy(m);
    zkt_close(c);
    zkt_proxy_stop(p);
}

static void search_cycle(arm_fn arm, int at_least)
{
    bool triggered = true;
    int n = 0;
    while (triggered) {
        assert_true(n < STEPS_MAX);
        one_cycle_through(arm, ++n, &triggered);
    }
    assert_true(n > at_least); /* the faults did happen */
}

/* The connection is cut before the n-th request of a cycle leaves us. */
static void a_cut_before_any_request_is_survived(void **state)
{
    (void)state;
    search_cycle(zkt_proxy_cut_before_request, 3);
}

/* It is cut when the server has got the n-th request: executed, not answered. */
static void a_cut_after_any_request_is_survived(void **state)
{
    (void)state;
    search_cycle(zkt_proxy_cut_after_request, 3);
}

/* The n-th reply is lost, that of the create and of the delete among them. */
static void any_lost_reply_is_survived(void **state)
{
    (void)state;
    search_cycle(zkt_proxy_drop_reply, 3);
}

static void one_wait_through(arm_fn arm, int n, zkr_mutex *held, bool *triggered)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    struct zkt_actor actor;
    ZKT_MUST(zkt_acquire(held, PATIENCE_MS));
    arm(p, n);
    zkt_actor_start(&actor, m, PATIENCE_MS, NULL);
    ZKT_EVENTUALLY(children() == 2, PATIENCE_MS);
    ZKT_EVENTUALLY(zkr_client_state(c) == ZKR_STATE_CONNECTED, PATIENCE_MS);
    ZKT_MUST(zkt_release(held));
    assert_int_equal(zkt_actor_acquired(&actor), ZKR_OK);
    ZKT_EVENTUALLY(children() == 1, PATIENCE_MS);
    assert_int_equal(zkt_actor_end(&actor), ZKR_OK);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(children(), 0);
    *triggered = zkt_proxy_triggered(p) > 0;
    zkt_destroy(m);
    zkt_close(c);
    zkt_proxy_stop(p);
}

static void search_wait(arm_fn arm)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *held = zkt_mutex(c);
    bool triggered = true;
    int n = 0;
    while (triggered) {
        assert_true(n < STEPS_MAX);
        one_wait_through(arm, ++n, held, &triggered);
    }
    assert_true(n > 4);
    zkt_destroy(held);
    zkt_close(c);
}

/* The same for one that has to wait: it keeps one node, and is granted. */
static void a_cut_while_queueing_is_survived(void **state)
{
    (void)state;
    search_wait(zkt_proxy_cut_before_request);
    search_wait(zkt_proxy_cut_after_request);
    search_wait(zkt_proxy_drop_reply);
}

/* --- the session --- */

struct victim {
    int64_t id;
    unsigned char password[16];
};

static void expire(void *ctx)
{
    const struct victim *v = ctx;
    zkt_expire_session(zkt_servers(), v->id, v->password);
}

/* The session ends as the n-th request of a cycle is sent: the wait goes on in the next one. */
static void an_expiry_at_any_request_is_survived(void **state)
{
    (void)state;
    bool fired = true;
    for (int n = 1; fired; n++) {
        assert_true(n < STEPS_MAX);
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        zkr_mutex *m = zkt_mutex(c);
        struct victim victim;
        zkt_door_session(c, &victim.id, victim.password);
        zkt_door_focus(c);
        zkt_door_before(n, expire, &victim);
        ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
        int rc = zkt_release(m);
        assert_true(rc == ZKR_OK || rc == ZKR_ESESSION);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        fired = zkt_door_fired();
        ZKT_EVENTUALLY(children() == 0, PATIENCE_MS);
        ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
        ZKT_MUST(zkt_release(m));
        zkt_destroy(m);
        zkt_close(c);
    }
}

/* The session of a waiter ends at any of its requests: a new node at the tail, then granted. */
static void an_expiry_while_waiting_is_survived(void **state)
{
    (void)state;
    zkr_client *other = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *held = zkt_mutex(other);
    bool fired = true;
    for (int n = 1; fired; n++) {
        assert_true(n < STEPS_MAX);
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        zkr_mutex *m = zkt_mutex(c);
        struct victim victim;
        struct zkt_actor actor;
        ZKT_MUST(zkt_acquire(held, PATIENCE_MS));
        zkt_door_session(c, &victim.id, victim.password);
        zkt_door_focus(c);
        zkt_door_before(n, expire, &victim);
        zkt_actor_start(&actor, m, PATIENCE_MS, NULL);
        ZKT_EVENTUALLY(children() == 2, PATIENCE_MS);
        fired = zkt_door_fired();
        if (!fired) {
            zkt_expire(c); /* once more, in peace */
            ZKT_EVENTUALLY(zkr_client_state(c) == ZKR_STATE_CONNECTED, PATIENCE_MS);
            ZKT_EVENTUALLY(children() == 2, PATIENCE_MS);
        }
        ZKT_MUST(zkt_release(held));
        assert_int_equal(zkt_actor_acquired(&actor), ZKR_OK);
        (void)zkt_actor_end(&actor); /* lost if the session ends only now */
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        ZKT_EVENTUALLY(children() == 0, PATIENCE_MS);
        zkt_destroy(m);
        zkt_close(c);
    }
    zkt_destroy(held);
    zkt_close(other);
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
static void a_cancel_at_any_request_leaves_nothing(void **state)
{
    (void)state;
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
        assert_int_equal(children(), 1);
        zkt_destroy(k.m);
    }
    ZKT_MUST(zkt_release(held));
    zkt_destroy(held);
    zkt_close(c);
}

/* A time-out at any moment of a wait leaves nothing. */
static void a_time_out_at_any_moment_leaves_nothing(void **state)
{
    (void)state;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *slow = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *held = zkt_mutex(c);
    zkr_mutex *m = zkt_mutex(slow);
    delay_both(p, 5);
    ZKT_MUST(zkt_acquire(held, PATIENCE_MS));
    for (int ms = 1; ms <= 40; ms++) {
        int rc = zkt_acquire(m, ms);
        assert_true(ZKT_TIMED_OUT(rc));
    }
    ZKT_MUST(zkr_client_flush(slow, PATIENCE_MS));
    assert_int_equal(children(), 1);
    ZKT_MUST(zkt_release(held));
    zkt_destroy(held);
    zkt_destroy(m);
    zkt_close(c);
    zkt_close(slow);
    zkt_proxy_stop(p);
}

/* Close with claims still being removed: the end of the session takes the nodes along. */
static void a_close_takes_all_nodes_along(void **state)
{
    (void)state;
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
        ZKT_EVENTUALLY(children() == 0, PATIENCE_MS);
        zkt_proxy_heal(p);
    }
    zkt_proxy_stop(p);
}

/*
 * A list that was sent before a neighbour's release is answered after it, and still shows its node: that one
 * is not waited for, however long the path is.
 */
static void a_node_on_its_way_out_is_known_at_any_length(void **state)
{
    (void)state;
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
    zkt_actor_start(&actor, m, PATIENCE_MS, NULL);
    ZKT_EVENTUALLY(zkt_door_count(ZKR__OP_CHILDREN) == 1, PATIENCE_MS);
    ZKT_MUST(zkt_release(m));
    assert_int_equal(zkt_actor_acquired(&actor), ZKR_OK);
    assert_int_equal(zkt_actor_end(&actor), ZKR_OK);
    zkt_destroy(m);
    zkt_close(c);
    zkt_proxy_stop(p);
    assert_int_equal(zkt_delete(zkt_servers(), path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ZKT_BOTH(a_cut_before_any_request_is_survived),
        ZKT_BOTH(a_cut_after_any_request_is_survived),
        ZKT_BOTH(any_lost_reply_is_survived),
        ZKT_BOTH(a_cut_while_queueing_is_survived),
        ZKT_BOTH(an_expiry_at_any_request_is_survived),
        ZKT_BOTH(an_expiry_while_waiting_is_survived),
        ZKT_BOTH(a_cancel_at_any_request_leaves_nothing),
        ZKT_BOTH(a_time_out_at_any_moment_leaves_nothing),
        ZKT_BOTH(a_close_takes_all_nodes_along),
        ZKT_BOTH(a_node_on_its_way_out_is_known_at_any_length),
    };
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}
