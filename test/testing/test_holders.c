/* SPDX-License-Identifier: Apache-2.0 */
/* zkr/testing.h: holders lose their sessions and their nodes. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <zkr/testing.h>

#include "fixture.h"
#include "testing/session.h"

enum { PATIENCE_MS = 20000, SECOND_MS = 1000 };

/* Starts a server for this case only, with the number of threads that zkr_test_server_start() gives it. */
static const char *own_server(void)
{
    return zkt_server_host(zkt_server_start(NULL));
}

/* The session timeout is far longer than the times that the tests measure. */
static zkr_client *client(const char *servers)
{
    return zkt_client(servers, 10000);
}

static void is_lost_within_a_second(zkr_mutex *m, int64_t since)
{
    while (zkr_mutex_is_held(m)) {
        if (zkt_now_ms() - since >= SECOND_MS) {
            zkt_fail("held for %d ms after its session had ended", SECOND_MS);
        }
        zkt_sleep_ms(1);
    }
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
}

/*
 * The holder notices the end of its session in less than a second each time, whichever connection reaches the server
 * first, ours or the holder's.
 */
ZKT_CASE(the_end_of_a_session_is_heard_of_within_a_second)
{
    const char *servers = own_server();
    zkr_client *c = client(servers);
    zkr_mutex *m = zkt_mutex(c);
    for (int i = 0; i < 60; i++) {
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        const int64_t session = zkr_client_session_id(c);
        const int64_t before = zkt_now_ms();
        ZKT_MUST(i % 2 == 0 ? zkr_test_expire_session(servers, session)
                            : zkr_test_expire_holder(servers, zkt_path()));
        is_lost_within_a_second(m, before);
        ZKT_RC(zkr_test_expire_session(servers, session), ZKR_ESESSION);
    }
}

static void *heal_at_the_second(void *proxy)
{
    ZKT_EVENTUALLY(zkt_proxy_counters(proxy).connections >= 2, PATIENCE_MS);
    zkt_proxy_heal(proxy);
    return NULL;
}

/* The first connection ends the session, but its answer is lost. The second connection finds that it has ended. */
ZKT_CASE(a_lost_answer_is_no_error)
{
    pthread_t thread;
    const int64_t session = zkr_client_session_id(client(zkt_servers()));
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_freeze(p, ZKT_TO_CLIENT);
    assert_int_equal(pthread_create(&thread, NULL, heal_at_the_second, p), 0);
    ZKT_MUST(zkr_test_expire_session(zkt_proxy_host(p), session));
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* On an ensemble, through any server, the next contender in the queue is granted. */
ZKT_CASE(on_an_ensemble_the_next_is_granted)
{
    zkt_ensemble *e = zkt_ensemble_start(3, NULL);
    const char *servers = zkt_ensemble_hosts(e);
    zkr_mutex *first = zkt_mutex(client(servers));
    zkr_mutex *second = zkt_mutex(client(zkt_server_host(zkt_ensemble_server(e, 1))));
    ZKT_MUST(zkr_mutex_acquire(first, PATIENCE_MS));
    ZKT_MUST(zkr_test_expire_holder(servers, zkt_path()));
    ZKT_MUST(zkr_mutex_acquire(second, PATIENCE_MS));
    ZKT_EVENTUALLY(!zkr_mutex_is_held(first), PATIENCE_MS);
    ZKT_RC(zkr_mutex_release(first), ZKR_ESESSION);
    ZKT_MUST(zkr_mutex_release(second));
}

/*
 * The functions affect the holder and not the waiter behind it. Only zkr_test_expire_holder() ends the holder's
 * session.
 */
ZKT_CASE(who_waits_is_spared)
{
    int (*const strikes[])(const char *, const char *) = {zkr_test_delete_holder,
                                                          zkr_test_expire_holder};
    for (size_t i = 0; i < sizeof(strikes) / sizeof(strikes[0]); i++) {
        zkr_client *c = client(zkt_servers()), *d = client(zkt_servers());
        zkr_mutex *m = zkt_mutex(c), *next = zkt_mutex(d);
        const int64_t own = zkr_client_session_id(c);
        const int64_t session = zkr_client_session_id(d);
        zkr_ticket *t = NULL;
        char node[256], after[256];
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        ZKT_MUST(zkr_mutex_request(next, ZKR_FOREVER, NULL, NULL, &t));
        ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
        ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
        ZKT_MUST(strikes[i](zkt_servers(), zkt_path()));
        ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
        ZKT_MUST(zkr_ticket_node(t, after, sizeof(after)));
        assert_true(strcmp(strrchr(node, '-'), strrchr(after, '-')) < 0);
        assert_int_equal(zkr_client_session_id(d), session);
        ZKT_EVENTUALLY(!zkr_mutex_is_held(m), PATIENCE_MS);
        ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
        assert_true(strikes[i] != zkr_test_delete_holder ||
                    zkr_client_session_id(c) == own);
        ZKT_MUST(zkr_ticket_release(t));
        ZKT_MUST(zkr_ticket_destroy(t));
        ZKT_MUST(zkr_client_flush(d, PATIENCE_MS));
    }
}

/* A reader, a leader and a holder of permits can be affected, too. */
ZKT_CASE(holders_of_all_kinds_can_be_struck)
{
    zkr_client *c = client(zkt_servers());
    zkr_rwlock *lock = NULL;
    zkr_semaphore *permits = NULL;
    zkr_ticket *ticket = NULL;
    zkr_leader_latch *latch = NULL;

    const char *path = zkt_child("rw");
    ZKT_MUST(zkr_rwlock_create(&lock, c, path, NULL));
    ZKT_MUST(zkr_mutex_acquire(zkr_rwlock_reader(lock), PATIENCE_MS));
    ZKT_MUST(zkr_test_delete_holder(zkt_servers(), path));
    ZKT_EVENTUALLY(!zkr_mutex_is_held(zkr_rwlock_reader(lock)), PATIENCE_MS);
    ZKT_RC(zkr_mutex_release(zkr_rwlock_reader(lock)), ZKR_ESESSION);
    ZKT_MUST(zkr_rwlock_destroy(lock));

    ZKT_MUST(zkr_semaphore_create(&permits, c, zkt_child("permits"), 1, NULL));
    ZKT_MUST(zkr_semaphore_acquire(permits, 1, PATIENCE_MS, &ticket));
    ZKT_MUST(zkr_test_delete_holder(zkt_servers(), zkt_child("permits/leases")));
    ZKT_BECOMES(zkr_ticket_state(ticket), ZKR_TICKET_LOST, PATIENCE_MS);
    ZKT_RC(zkr_ticket_release(ticket), ZKR_ESESSION);
    ZKT_MUST(zkr_ticket_destroy(ticket));
    ZKT_MUST(zkr_semaphore_destroy(permits));

    path = zkt_child("latch");
    ZKT_MUST(zkr_leader_latch_create(&latch, c, path, "x", NULL));
    ZKT_MUST(zkr_leader_latch_start(latch));
    ZKT_MUST(zkr_leader_latch_await(latch, PATIENCE_MS));
    const int64_t session = zkr_client_session_id(c);
    ZKT_MUST(zkr_test_expire_holder(zkt_servers(), path));
    ZKT_EVENTUALLY(zkr_client_session_id(c) != session,
                   PATIENCE_MS); /* it may lead again */
    ZKT_MUST(zkr_leader_latch_stop(latch, ZKR_LATCH_SILENT));
    ZKT_MUST(zkr_leader_latch_destroy(latch));
}

/* A path without a holder, an unknown session, an unreachable server, and invalid arguments are errors. */
ZKT_CASE(what_cannot_be_struck_is_an_error)
{
    int port;
    char nobody[32];
    (void)close(zkt_listen(&port));
    (void)snprintf(nobody, sizeof nobody, "127.0.0.1:%d", port);
    ZKT_RC(zkr_test_expire_holder(zkt_servers(), zkt_path()), ZKR_ENONODE);
    assert_string_equal(zkr_last_error()->path, zkt_path());
    ZKT_RC(zkr_test_delete_holder(zkt_servers(), zkt_path()), ZKR_ENONODE);
    ZKT_RC(zkr_test_delete_holder(zkt_servers(), "no/path"), ZKR_EINVAL);
    ZKT_RC(zkr_test_delete_holder(zkt_servers(), NULL), ZKR_EINVAL);
    ZKT_RC(zkr_test_expire_holder(NULL, zkt_path()), ZKR_EINVAL);
    ZKT_RC(zkr_test_expire_session(zkt_servers(), 4711), ZKR_ESESSION);
    ZKT_RC(zkr_test_expire_session(zkt_servers(), 0), ZKR_EINVAL);
    ZKT_RC(zkr_test_expire_session(NULL, 4711), ZKR_EINVAL);
    ZKT_RC(zkr_test_expire_session(nobody, 4711), ZKR_ENOANSWER);
}

/* Passwords are computed as servers compute them. */
ZKT_CASE(passwords_are_those_of_the_servers)
{
    for (int i = 0; i < 20; i++) {
        zkt_raw *raw = zkt_raw_open(zkt_servers(), 10000);
        assert_non_null(raw);
        struct zkr__test_session s = {.id = zkt_raw_id(raw)};
        zkr__test_session_password(&s);
        assert_memory_equal(s.password, zkt_raw_passwd(raw), sizeof s.password);
        assert_int_equal(zkt_raw_close(raw), ZKT_OK);
    }
}
