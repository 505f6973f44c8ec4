/* SPDX-License-Identifier: Apache-2.0 */
/* options.robust: a holder learns that the previous holder ended without a release. */
#include <pthread.h>
#include <string.h>

#include <zkr/guard.h>

#include "actor.h"
#include "fixture.h"
#include "proxy.h"
#include "server.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000 };

static zkr_mutex *robust(zkr_client *c)
{
    return ZKT_MUTEX_WITH(c, .robust = 1);
}

static zkr_client *client(void)
{
    return zkt_client(zkt_servers(), SESSION_MS);
}

/* Acquire the lock, whether or not the previous holder has died. */
static void hold(zkr_mutex *m)
{
    int rc = zkr_mutex_acquire(m, PATIENCE_MS);
    ZKT_RC(rc == ZKR_EOWNERDEAD ? ZKR_OK : rc, ZKR_OK);
}

/* Check that the next acquire reports a dead holder if @dead, and that the following acquire does not. */
static void next_is_told(zkr_mutex *m, bool dead)
{
    ZKT_RC(zkr_mutex_acquire(m, PATIENCE_MS), dead ? ZKR_EOWNERDEAD : ZKR_OK);
    assert_true(zkr_mutex_is_held(m));
    ZKT_MUST(zkr_mutex_release(m));
    zkt_in_and_out(m);
}

/* --- ends of a holder --- */

static void session_ends(zkr_client *c, zkr_mutex *m)
{
    zkt_expire(c);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
}

static void node_is_deleted(zkr_client *c, zkr_mutex *m)
{
    char node[256];
    zkt_lone_node(node, sizeof(node));
    assert_int_equal(zkt_delete(zkt_servers(), node), 0);
    ZKT_BECOMES(zkr_mutex_is_held(m), false, PATIENCE_MS);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
}

static void releases(zkr_client *c, zkr_mutex *m)
{
    ZKT_MUST(zkr_mutex_release(m));
}

static void releases_with_writes(zkr_client *c, zkr_mutex *m)
{
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_check_op_init(&op, zkt_path(), -1);
    ZKT_MUST(zkr_mutex_release_multi(m, 1, &op, &result, PATIENCE_MS));
    assert_int_equal(result.err, 0);
}

static void releases_what_it_holds_twice(zkr_client *c, zkr_mutex *m)
{
    zkt_in_and_out(m);
    assert_true(zkr_mutex_is_held(m));
    ZKT_MUST(zkr_mutex_release(m));
}

ZKT_CASE(whatever_is_no_release_is_told_once)
{
    static const struct {
        void (*end)(zkr_client *c, zkr_mutex *m);
        bool dead;
    } ends[] = {{session_ends, true},
                {node_is_deleted, true},
                {releases, false},
                {releases_with_writes, false},
                {releases_what_it_holds_twice, false}};
    zkr_client *c = client();
    zkr_mutex *m = robust(c), *next = robust(client());
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        ends[i].end(c, m);
        next_is_told(next, ends[i].dead);
    }
}

static void *acquire_and_end(void *m)
{
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    return NULL;
}

/* A thread acquires the lock and ends. */
static void end_as_holder(zkr_mutex *m)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, acquire_and_end, m), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* As with pthread_mutexattr_setrobust(): the waiter is granted, and learns of the end. */
ZKT_CASE(a_waiter_is_told_that_the_thread_ahead_has_ended)
{
    zkr_client *c = client();
    zkr_mutex *m = robust(c);
    struct zkt_actor waiter;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_actor_queue(&waiter, c, m, NULL);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkt_actor_end(&waiter));
    end_as_holder(m);
    next_is_told(m, true);
}

/* Servers delete empty containers. A sweep may delete its victims in any order, so the test waits for a second one. */
ZKT_CASE(what_is_known_of_a_holder_is_not_swept)
{
    enum { SWEEPS = 2, EACH_MS = 50 };
    zkt_server_options o = ZKR_TEST_SERVER_OPTIONS_INIT;
    o.container_check_ms = EACH_MS;
    const char *host = zkt_server_host(zkt_server_start(&o));
    zkr_client *c = zkt_client(host, SESSION_MS);
    zkr_mutex *m = robust(c), *swept = zkt_mutex_at(c, "/swept", NULL);
    end_as_holder(m);
    for (int i = 0; i < SWEEPS; i++) {
        hold(swept);
        ZKT_MUST(zkr_mutex_release(swept));
        ZKT_BECOMES(zkt_exists(host, "/swept"), false, PATIENCE_MS);
    }
    next_is_told(m, true);
}

/* A waiter that gave up never held the lock, and neither did a failed try. */
ZKT_CASE(one_that_never_held_does_not_count)
{
    zkr_mutex *m = robust(client()), *other = robust(client());
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    assert_true(zkt_timed_out(zkr_mutex_acquire(other, 50)));
    ZKT_RC(zkr_mutex_acquire(other, 0), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_mutex_release(m));
    next_is_told(other, false);
    ZKT_MUST(zkr_mutex_acquire(other, 0)); /* a try that succeeds */
    ZKT_MUST(zkr_mutex_release(other));
}

/* --- the data of the path --- */

ZKT_CASE(other_data_is_refused_and_stays)
{
    char data[64] = "";
    zkr_mutex *m = robust(client());
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    assert_int_equal(zkt_set(zkt_servers(), zkt_path(), "of others"), 0);
    ZKT_RC(zkr_mutex_acquire(m, PATIENCE_MS), ZKR_EEXIST);
    assert_int_equal(zkr_mutex_depth(m), 0);
    assert_int_equal(zkt_get(zkt_servers(), zkt_path(), data, sizeof(data), NULL), 0);
    assert_string_equal(data, "of others");
}

ZKT_CASE(a_release_that_may_not_be_written_releases_all_the_same)
{
    zkr_client *c = client();
    zkr_mutex *m = robust(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    assert_int_equal(
        zkt_set_acl(zkt_servers(), zkt_path(), ZOO_PERM_ALL & ~ZOO_PERM_WRITE), 0);
    ZKT_RC(zkr_mutex_release(m), ZKR_EAUTH);
    assert_int_equal(zkr_mutex_depth(m), 0);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZOO_PERM_ALL), 0);
    next_is_told(m, true);
}

/* --- faults --- */

typedef void (*arm_fn)(zkt_proxy *p, int n);

/* A connection that breaks at a request hides no dead holder, and invents none. */
static bool is_told_in_spite_of(arm_fn arm, int n, bool dead)
{
    zkr_client *first = client();
    zkr_mutex *before = robust(first);
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = robust(c);
    hold(before);
    if (dead) {
        session_ends(first, before);
    } else {
        releases(first, before);
    }
    arm(p, n);
    ZKT_RC(zkr_mutex_acquire(m, PATIENCE_MS), dead ? ZKR_EOWNERDEAD : ZKR_OK);
    int rc = zkr_mutex_release(m);
    bool struck = zkt_proxy_triggered(p) > 0;
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
    /* After another code, it is unknown whether the release was executed. */
    if (rc == ZKR_OK) {
        next_is_told(m, false);
    }
    zkt_destroy(m);
    zkt_destroy(before);
    zkt_close(c);
    zkt_close(first);
    return struck;
}

ZKT_CASE(a_lost_request_or_answer_hides_nothing)
{
    static const arm_fn ways[] = {zkt_proxy_cut_before_request,
                                  zkt_proxy_cut_after_request};
    for (int i = 0; i < 4; i++) {
        for (struct zkt_strikes s = {.least = 4}; zkt_next_strike(&s);) {
            s.struck = is_told_in_spite_of(ways[i % 2], s.n, i < 2);
        }
    }
}

static void fall_silent(void *ctx, int n, int op)
{
    enum { GET_DATA = 4 };
    if (op == GET_DATA) {
        zkt_proxy_freeze(ctx, ZKT_TO_CLIENT);
    }
}

/* The lock is granted, but the servers do not answer who held it. The code must not say that the lock is held. */
ZKT_CASE(silence_about_the_last_holder_is_no_holder)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = robust(c);
    zkt_proxy_on_request(p, fall_silent, p);
    ZKT_RC(zkr_mutex_acquire(m, 300), ZKR_ENOANSWER);
    assert_int_equal(zkr_mutex_depth(m), 0);
    zkt_proxy_on_request(p, NULL, NULL);
    zkt_proxy_heal(p);
    hold(m);
    ZKT_MUST(zkr_mutex_release(m));
}

static void lose_the_answer(void *ctx, int n, int op)
{
    enum { MULTI = 14 };
    if (op == MULTI) {
        zkt_proxy_freeze(ctx, ZKT_TO_CLIENT);
    }
}

/* The token is written, but no answer arrives by the deadline. The code must not report a lost connection. */
ZKT_CASE(silence_about_the_written_record_is_no_lost_connection)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = robust(c);
    for (int i = 0; i < 20; i++) {
        /* The write may end just before the deadline, or at the deadline. */
        zkt_proxy_on_request(p, lose_the_answer, p);
        ZKT_RC(zkr_mutex_acquire(m, 100), ZKR_ENOANSWER);
        assert_int_equal(zkr_mutex_depth(m), 0);
        zkt_proxy_on_request(p, NULL, NULL);
        zkt_proxy_heal(p);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
}

/* A daemon that stops shuts its client down, and then its threads release. */
ZKT_CASE(a_release_after_a_shutdown_is_a_release)
{
    zkr_client *c = client();
    zkr_mutex *m = robust(c), *next = robust(client());
    hold(m);
    ZKT_MUST(zkr_client_shutdown(c));
    ZKT_MUST(zkr_mutex_release(m));
    zkt_in_and_out(next);
}

/* The shutdown comes while the release waits for its answer. */
ZKT_CASE(a_shutdown_during_a_release_ends_no_wait)
{
    struct zkt_actor actor;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = robust(c), *next = robust(client());
    zkt_actor_start(&actor, m, PATIENCE_MS, NULL);
    ZKT_MUST(zkt_actor_acquired(&actor));
    ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
    zkt_door_focus(c);
    zkt_proxy_freeze(p, ZKT_TO_SERVER);
    atomic_store(&actor.let_go, true);
    ZKT_BECOMES(zkt_door_count(ZKR__OP_MULTI), 1, PATIENCE_MS);
    ZKT_MUST(zkr_client_shutdown(c));
    zkt_proxy_heal(p);
    ZKT_MUST(zkt_actor_end(&actor));
    zkt_in_and_out(next);
}

static void live(void)
{
    zkr_client *c = zkt_client_if_memory();
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    zkr_mutex *m = NULL;
    o.robust = 1;
    if (c && zkr_mutex_create(&m, c, zkt_path(), &o) == ZKR_OK) {
        int rc = zkr_mutex_acquire(m, PATIENCE_MS);
        if (rc == ZKR_OK || rc == ZKR_EOWNERDEAD) {
            (void)zkr_mutex_release(m);
        }
        assert_int_equal(zkr_mutex_depth(m), 0);
        ZKT_MUST(zkr_mutex_destroy(m));
    }
    if (c) {
        zkt_close(c);
    }
}

ZKT_CASE(any_allocation_may_fail)
{
    zkt_each_allocation_fails(10, live);
    zkr_mutex *m = robust(client());
    hold(m);
    ZKT_MUST(zkr_mutex_release(m));
    next_is_told(m, false);
}

/* --- options, cost --- */

ZKT_CASE(no_ticket_is_robust)
{
    zkr_ticket *t;
    ZKT_RC(zkr_mutex_request(robust(client()), ZKR_FOREVER, NULL, NULL, &t),
           ZKR_EINVAL);
}

/*
 * The acquire sends a create and a list, and sets the watch on the path that the last holder's writes have triggered.
 * Then it sends a read and a write. The release is one write.
 */
ZKT_CASE(a_cycle_takes_a_read_and_a_write_more)
{
    zkr_client *c = client();
    zkr_mutex *m = robust(c);
    for (int i = 0; i < 2; i++) { /* creates the path, sets the watch */
        zkt_in_and_out(m);
    }
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    assert_int_equal(zkt_door_total(), 5);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS)); /* a nested acquire sends nothing */
    ZKT_MUST(zkr_mutex_release(m));
    assert_int_equal(zkt_door_total(), 5);
    ZKT_MUST(zkr_mutex_release(m));
    assert_int_equal(zkt_door_total(), 6);
    assert_int_equal(zkt_door_count(ZKR__OP_MULTI), 2);
}

/* --- a cancel --- */

enum { READ = 4 }; /* after the create, the list and the watch */

static void silence(void *proxy)
{
    zkt_proxy_freeze(proxy, ZKT_TO_SERVER);
}

/* A cancel ends the wait for the record of a contender that already has the lock. */
ZKT_CASE(who_reads_the_record_can_be_canceled)
{
    enum { SHORT_MS = 3000 };
    struct zkt_actor actor;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SHORT_MS);
    zkr_mutex *m = robust(c);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    zkt_door_focus(c);
    zkt_door_before(READ, silence, p);
    zkt_actor_start(&actor, m, ZKR_FOREVER, NULL);
    ZKT_EVENTUALLY(zkt_door_fired(), PATIENCE_MS);
    ZKT_MUST(zkr_mutex_cancel(m));
    ZKT_RC(zkt_actor_end(&actor), ZKR_ECANCELED);
    zkt_proxy_heal(p);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
}

/* A contender that loses the lock before it has read the record waits again, within its original timeout. */
ZKT_CASE(a_loss_before_the_record_is_read_adds_no_time)
{
    enum { LOST_MS = 6000, WAIT_MS = 8000, LATER_MS = 4000 };
    struct zkt_actor actor;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), LOST_MS);
    zkr_mutex *m = robust(c), *other = robust(client());
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    zkt_door_focus(c);
    zkt_door_before(READ, silence, p);
    int64_t began = zkt_now_ms();
    zkt_actor_start(&actor, m, WAIT_MS, NULL);
    ZKT_EVENTUALLY(zkt_door_fired(), PATIENCE_MS);
    hold(other); /* after the end of the session */
    zkt_proxy_heal(p);
    assert_true(zkt_timed_out(zkt_actor_end(&actor)));
    ZKT_IN_RANGE(zkt_now_ms() - began, WAIT_MS, WAIT_MS + LATER_MS);
    ZKT_MUST(zkr_mutex_release(other));
}
