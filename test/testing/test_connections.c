/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the proxy of zkr/testing.h as a program that holds a lock uses it. lib.proxy tests the parts of the proxy, one
 * by one.
 */
#include <errno.h>

#include <zkr/testing.h>

#include "fixture.h"

enum { SESSION_MS = 3000, PATIENCE_MS = 20000 };

static zkr_test_proxy *start(void)
{
    return zkt_proxy_start(zkt_servers());
}

static zkr_mutex *held_through(zkr_test_proxy *p)
{
    zkr_mutex *m = zkt_mutex(zkt_client(zkr_test_proxy_host(p), SESSION_MS));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    return m;
}

/* The mutex is lost before its session can have ended. Once the proxy heals, it can be acquired again. */
static void lost_in_time(zkr_test_proxy *p, zkr_mutex *m)
{
    ZKT_EVENTUALLY(!zkr_mutex_is_held(m), SESSION_MS);
    ZKT_MUST(zkr_test_proxy_heal(p));
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    zkt_in_and_out(m);
}

/* A connection reset within the session timeout does not end the hold. */
ZKT_CASE(a_dropped_connection_comes_back)
{
    zkr_test_proxy *p = start();
    zkr_mutex *m = held_through(p);
    ZKT_MUST(zkr_test_proxy_drop(p));
    ZKT_EVENTUALLY(zkt_proxy_counters(p).connections == 2 &&
                       zkt_proxy_counters(p).open == 1,
                   PATIENCE_MS);
    assert_true(zkr_mutex_is_held(m));
    ZKT_MUST(zkr_mutex_release(m));
}

/* A holder that is cut off learns of the loss before its node is gone. */
ZKT_CASE(a_cut_holder_loses_at_its_bound)
{
    zkr_test_proxy *p = start();
    zkr_mutex *m = held_through(p);
    ZKT_MUST(zkr_test_proxy_cut(p));
    assert_int_equal(zkt_proxy_counters(p).open, 0);
    bool held = true;
    while (held) { /* it is never held after its node is gone */
        int nodes = zkt_nodes();
        held = zkr_mutex_is_held(m);
        assert_true(nodes == 1 || !held);
    }
    lost_in_time(p, m);
}

/* A holder also learns of the loss in time if the proxy silences one direction or both. */
ZKT_CASE(a_silenced_holder_loses_at_its_bound)
{
    zkr_test_proxy *p = start();
    zkr_mutex *m = held_through(p);
    for (int ways = ZKR_TEST_TO_SERVER; ways <= ZKR_TEST_BOTH_WAYS; ways++) {
        ZKT_MUST(zkr_test_proxy_silence(p, ways));
        lost_in_time(p, m);
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    }
    ZKT_MUST(zkr_mutex_release(m));
}

static int64_t time_to_acquire(zkr_mutex *m)
{
    const int64_t before = zkt_now_ms();
    zkt_in_and_out(m);
    return zkt_now_ms() - before;
}

/* A delay holds back each direction that it names, until it is set to 0. The other direction stays as it was. */
ZKT_CASE(a_delay_is_felt)
{
    zkr_test_proxy *p = start();
    zkr_client *c = zkt_client(zkr_test_proxy_host(p), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    for (int way = ZKR_TEST_TO_SERVER; way < ZKR_TEST_BOTH_WAYS; way++) {
        ZKT_MUST(zkr_test_proxy_delay(p, ZKR_TEST_BOTH_WAYS, 100));
        assert_true(time_to_acquire(m) >= 199);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS)); /* nothing is under way */
        ZKT_MUST(zkr_test_proxy_delay(p, way, 0));
        assert_true(time_to_acquire(m) >= 99);
    }
    ZKT_MUST(zkr_test_proxy_delay(p, ZKR_TEST_BOTH_WAYS, 0));
    ZKT_EVENTUALLY(time_to_acquire(m) < 100, PATIENCE_MS);
}

/* An acquire survives the loss of its first request, and of the answer to it. There is one node, and no other. */
ZKT_CASE(a_lost_request_or_reply_is_survived)
{
    zkr_test_proxy *p = start();
    zkr_client *c = zkt_client(zkr_test_proxy_host(p), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    int (*const lose[])(zkr_test_proxy *, int) = {zkr_test_proxy_lose_request,
                                                  zkr_test_proxy_lose_reply};
    for (int i = 0; i < 2; i++) {
        ZKT_MUST(lose[i](p, 1));
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        assert_int_equal(zkt_nodes(), 1);
        ZKT_MUST(zkr_mutex_release(m));
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        assert_int_equal(zkt_proxy_counters(p).connections, 2 + i);
    }
    /* A loss that was taken back does not happen. */
    for (int i = 0; i < 4; i++) {
        ZKT_MUST(lose[i % 2](p, 1));
        ZKT_MUST(i < 2 ? lose[i](p, 0) : zkr_test_proxy_heal(p));
        zkt_in_and_out(m);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        assert_int_equal(zkt_proxy_counters(p).connections, 3);
    }
}

/* If a reconnecting client gets a new session, a connection reset costs the holder its lock. */
ZKT_CASE(a_session_that_is_not_kept_loses_the_lock)
{
    zkr_test_proxy *p = start();
    ZKT_MUST(zkr_test_proxy_habits(p, ZKR_TEST_NEW_SESSIONS));
    zkr_mutex *m = held_through(p);
    ZKT_MUST(zkr_test_proxy_drop(p));
    ZKT_EVENTUALLY(!zkr_mutex_is_held(m), PATIENCE_MS);
    assert_int_equal(zkt_nodes(),
                     1); /* of the old session; after the release it may be deleted */
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    zkt_in_and_out(m);
}

/* Without a leader, a client waits until there is one. */
ZKT_CASE(a_client_waits_for_a_leader)
{
    zkr_test_proxy *p = start();
    zkr_client *c = NULL;
    ZKT_MUST(zkr_test_proxy_habits(p, ZKR_TEST_NO_LEADER));
    ZKT_MUST(zkr_client_open(&c, zkr_test_proxy_host(p), NULL));
    ZKT_EVENTUALLY(zkt_proxy_counters(p).connections >= 2, PATIENCE_MS);
    ZKT_RC(zkr_client_wait_connected(c, 0), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_test_proxy_habits(p, 0));
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    ZKT_MUST(zkr_client_close(c));
}

/* A client is directed to another server, which does not know its session. */
ZKT_CASE(a_target_is_changed)
{
    zkr_test_proxy *p = start();
    zkr_mutex *m = held_through(p);
    zkt_server *other = zkt_server_start(NULL);
    ZKT_RC(zkr_test_proxy_target(p, "nowhere"), ZKR_EINVAL);
    ZKT_MUST(zkr_test_proxy_target(p, zkt_server_host(other)));
    ZKT_MUST(zkr_test_proxy_drop(p));
    ZKT_EVENTUALLY(!zkr_mutex_is_held(m), PATIENCE_MS);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
}

/* A port that is taken and a target that is invalid are errors. */
ZKT_CASE(a_proxy_that_cannot_start_is_an_error)
{
    zkr_test_proxy *p = start();
    zkr_test_proxy *other = NULL;
    zkr_test_proxy_options o = ZKR_TEST_PROXY_OPTIONS_INIT;
    o.port = zkr__test_proxy_port(p);
    ZKT_RC(zkr_test_proxy_start(&other, zkt_servers(), &o), ZKR_ESYS);
    assert_int_equal(zkr_last_error()->sys_errno, EADDRINUSE);
    o.address = "127.0.0.2";
    ZKT_MUST(zkr_test_proxy_start(&other, zkt_servers(), &o));
    ZKT_MUST(zkr_test_proxy_stop(other));
    other = NULL;
    o.address = "everywhere";
    ZKT_RC(zkr_test_proxy_start(&other, zkt_servers(), &o), ZKR_EINVAL);
    o = (zkr_test_proxy_options)ZKR_TEST_PROXY_OPTIONS_INIT;
    o.port = 65536;
    ZKT_RC(zkr_test_proxy_start(&other, zkt_servers(), &o), ZKR_EINVAL);
    o.size++;
    ZKT_RC(zkr_test_proxy_start(&other, zkt_servers(), &o), ZKR_EINVAL);
    ZKT_RC(zkr_test_proxy_start(NULL, zkt_servers(), NULL), ZKR_EINVAL);
    ZKT_RC(zkr_test_proxy_start(&other, NULL, NULL), ZKR_EINVAL);
    ZKT_RC(zkr_test_proxy_start(&other, "127.0.0.1", NULL), ZKR_EINVAL);
    ZKT_RC(zkr_test_proxy_start(&other, ":", NULL), ZKR_EINVAL);
    assert_null(other);
}

/* Checks that each call on @p returns @code. */
static void all_refuse(zkr_test_proxy *p, int code)
{
    zkr_test_counts n;
    ZKT_RC(zkr_test_proxy_target(p, zkt_servers()), code);
    ZKT_RC(zkr_test_proxy_cut(p), code);
    ZKT_RC(zkr_test_proxy_drop(p), code);
    ZKT_RC(zkr_test_proxy_silence(p, ZKR_TEST_BOTH_WAYS), code);
    ZKT_RC(zkr_test_proxy_delay(p, ZKR_TEST_BOTH_WAYS, 1), code);
    ZKT_RC(zkr_test_proxy_heal(p), code);
    ZKT_RC(zkr_test_proxy_habits(p, 0), code);
    ZKT_RC(zkr_test_proxy_lose_request(p, 1), code);
    ZKT_RC(zkr_test_proxy_lose_reply(p, 1), code);
    ZKT_RC(zkr_test_proxy_counts(p, &n, sizeof n), code);
}

static int use_the_parents(void *p)
{
    all_refuse(p, ZKR_ESTATE);
    ZKT_RC(zkr_test_proxy_stop(p), ZKR_ESTATE);
    return 0;
}

/* Calls with NULL, in a forked child, and with invalid arguments fail. */
ZKT_CASE(bad_calls_are_refused)
{
    zkr_test_proxy *p = start();
    zkr_test_counts n;
    all_refuse(NULL, ZKR_EINVAL);
    assert_null(zkr_test_proxy_host(NULL));
    ZKT_MUST(zkr_test_proxy_stop(NULL));
    assert_int_equal(zkt_join(zkt_fork(use_the_parents, p), 10000), 0);
    ZKT_RC(zkr_test_proxy_silence(p, 0), ZKR_EINVAL);
    ZKT_RC(zkr_test_proxy_silence(p, 4), ZKR_EINVAL);
    ZKT_RC(zkr_test_proxy_delay(p, 0, 1), ZKR_EINVAL);
    ZKT_RC(zkr_test_proxy_delay(p, ZKR_TEST_BOTH_WAYS, -1), ZKR_EINVAL);
    ZKT_RC(zkr_test_proxy_habits(p, -1), ZKR_EINVAL);
    ZKT_RC(zkr_test_proxy_habits(p, 1 << 10), ZKR_EINVAL);
    ZKT_RC(zkr_test_proxy_habits(p, ZKR_TEST_REFUSES), ZKR_EINVAL);
    ZKT_RC(zkr_test_proxy_counts(p, NULL, sizeof n), ZKR_EINVAL);
    ZKT_RC(zkr_test_proxy_counts(p, &n, sizeof n - 1), ZKR_EINVAL);
    ZKT_RC(zkr_test_proxy_target(p, NULL), ZKR_EINVAL);
}
