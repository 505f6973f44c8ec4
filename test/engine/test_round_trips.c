/* SPDX-License-Identifier: Apache-2.0 */
/* What each path costs, counted at the door and, where said, by a server. */
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "fixture.h"
#include "fourlw.h"

enum { SESSION_MS = 30000 }; /* no ping, probe or nudge comes in between */

static void expect(int create, int list, int get, int remove)
{
    assert_int_equal(zkt_door_count(ZKR__OP_CREATE), create);
    assert_int_equal(zkt_door_count(ZKR__OP_CHILDREN), list);
    assert_int_equal(zkt_door_count(ZKR__OP_GET), get);
    assert_int_equal(zkt_door_count(ZKR__OP_DELETE), remove);
    assert_int_equal(zkt_door_count(ZKR__OP_SYNC), 0);
    assert_int_equal(zkt_door_count(ZKR__OP_PARENT), 0);
}

/* The same as a server sees it: packets of this client's connection since the last look. */
static int64_t packets(const zkr_client *c, int64_t *last)
{
    int64_t now = zkt_cons_received(zkt_servers(), c->session_id) - zkt_door_nudges();
    int64_t since = now - *last;
    *last = now;
    return since;
}

/* Make the parents, and then the watch that stays on the directory, which would be counted. */
static void warm(zkr_mutex *m, zkr_client *c)
{
    for (int i = 0; i < 2; i++) {
        ZKT_MUST(zkr_mutex_acquire(m, 5000));
        ZKT_MUST(zkr_mutex_release(m));
        ZKT_MUST(zkr_client_flush(c, 5000));
    }
}

/* A lock that only this client uses: a create, whose number says that it is free; a delete nobody waits for. */
ZKT_CASE(a_free_cycle_costs_two_requests)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    warm(m, c);
    zkt_door_focus(c);
    int64_t last = 0;
    (void)packets(c, &last);
    ZKT_MUST(zkr_mutex_acquire(m, 5000));
    expect(1, 0, 0, 0);
    assert_int_equal(packets(c, &last), 1);
    ZKT_MUST(zkr_mutex_release(m));
    expect(1, 0, 0, 1);
    ZKT_MUST(zkr_client_flush(c, 5000));
    assert_int_equal(packets(c, &last), 1);
}

/* With watch_node a hold is watched from the start, by one request more. */
ZKT_CASE(a_hold_can_be_watched_from_the_start)
{
    enum { TRIES = 5, LATER_MS = 100 };
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex_options options = ZKR_MUTEX_OPTIONS_INIT;
    options.watch_node = 1;
    zkr_mutex *m = zkt_mutex_with(c, &options);
    warm(m, c);
    int64_t least = INT64_MAX; /* a busy machine may be late now and then */
    for (int i = 0; i < TRIES; i++) {
        zkt_door_focus(c);
        int64_t before = zkt_now_ms();
        ZKT_MUST(zkr_mutex_acquire(m, 5000));
        ZKT_BECOMES(zkt_door_count(ZKR__OP_GET), 1, 5000);
        int64_t took = zkt_now_ms() - before;
        least = took < least ? took : least;
        expect(1, 0, 1, 0);
        ZKT_MUST(zkr_mutex_release(m));
        ZKT_MUST(zkr_client_flush(c, 5000));
    }
    assert_true(least < LATER_MS);
    zkt_destroy(m);
}

static void nobody_asks(zkr_mutex *m, void *ctx)
{
    (void)m;
    (void)ctx;
}

/* To be revocable costs what watch_node costs; to ask, a list and a write; to be asked, two gets and a write. */
ZKT_CASE(a_wish_costs_two_round_trips)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *other = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = NULL, *theirs = zkt_mutex(other);
    zkr_mutex_options options = ZKR_MUTEX_OPTIONS_INIT;
    options.on_revoke = nobody_asks;
    ZKT_MUST(zkr_mutex_create(&m, c, zkt_path(), &options));
    warm(m, c);
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_acquire(m, 5000));
    ZKT_BECOMES(zkt_watches(), 1, 5000);
    expect(1, 0, 1, 0);
    assert_int_equal(zkt_door_total(), 2);
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_revoke(theirs));
    ZKT_BECOMES(zkt_door_count(ZKR__OP_GET), 2, 5000);
    ZKT_BECOMES(zkt_watches(), 1, 5000);
    expect(0, 0, 2, 0);
    assert_int_equal(zkt_door_count(ZKR__OP_SET), 1);
    zkt_door_focus(other);
    ZKT_MUST(zkr_mutex_revoke(theirs));
    expect(0, 1, 0, 0);
    assert_int_equal(zkt_door_count(ZKR__OP_SET), 1);
    assert_int_equal(zkt_door_total(), 2);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_destroy(m);
}

/* Missing parents cost one more round trip, all levels at once. */
ZKT_CASE(missing_parents_are_made_at_once)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/a/b/c", zkt_path());
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = NULL;
    ZKT_MUST(zkr_mutex_create(&m, c, path, NULL));
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_acquire(m, 5000));
    assert_int_equal(zkt_door_count(ZKR__OP_CREATE), 2);
    assert_int_equal(zkt_door_count(ZKR__OP_CHILDREN), 2);
    assert_int_equal(zkt_door_count(ZKR__OP_PARENT), 5); /* /t, the test's, a, b, c */
    assert_int_equal(zkt_door_total(), 9);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_destroy(m);
}

/* Behind a stranger: two watches more; its end is the grant, with no request. */
ZKT_CASE(behind_a_stranger_the_event_grants)
{
    zkr_client *two = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *held = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    zkr_mutex *m = zkt_mutex(two);
    struct zkt_actor actor;
    ZKT_MUST(zkr_mutex_acquire(held, 5000));
    zkt_door_focus(two);
    int64_t last = 0;
    (void)packets(two, &last);
    zkt_actor_start(&actor, m, ZKR_FOREVER, NULL);
    ZKT_BECOMES(zkt_door_count(ZKR__OP_GET), 2, 5000);
    ZKT_EVENTUALLY(zkt_watches() >= 2, 5000);
    expect(1, 1, 2, 0);
    assert_int_equal(packets(two, &last), 4);
    ZKT_MUST(zkr_mutex_release(held));
    ZKT_MUST(zkt_actor_acquired(&actor));
    expect(1, 1, 2, 0);
    assert_int_equal(packets(two, &last), 0);
    assert_int_equal(zkt_door_total(), 4);
    ZKT_MUST(zkt_actor_end(&actor));
}

/* Behind a holder of the same client: one watch, on the own node; the release grants. */
ZKT_CASE(behind_a_neighbour_the_release_grants)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    struct zkt_actor actor;
    warm(m, c);
    ZKT_MUST(zkr_mutex_acquire(m, 5000));
    ZKT_BECOMES(zkt_watches(), 1, 5000); /* the holder's own */
    zkt_door_focus(c);
    int64_t last = 0;
    (void)packets(c, &last);
    zkt_actor_start(&actor, m, ZKR_FOREVER, NULL);
    ZKT_BECOMES(zkt_watches(), 2, 5000);
    expect(1, 0, 1, 0);
    assert_int_equal(packets(c, &last), 2);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkt_actor_acquired(&actor));
    expect(1, 0, 1, 1);
    ZKT_MUST(zkt_actor_end(&actor));
    expect(1, 0, 1, 2);
    ZKT_MUST(zkr_client_flush(c, 5000));
    assert_int_equal(packets(c, &last), 2);
}

static int64_t contended(zkr_client *c)
{
    zkr_stats stats;
    ZKT_MUST(zkr_client_stats(c, &stats, sizeof(stats)));
    return stats.contended;
}

/* A grant is counted as contended when somebody was ahead, a try that failed is none. */
ZKT_CASE(a_grant_that_was_waited_for_is_counted)
{
    zkr_client *one = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *two = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *held = zkt_mutex(one);
    zkr_mutex *m = zkt_mutex(two);
    struct zkt_actor actor;
    ZKT_MUST(zkr_mutex_acquire(held, 5000));
    assert_int_equal(contended(one), 0);
    ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ETIMEDOUT);
    assert_int_equal(contended(two), 0);
    zkt_actor_queue(&actor, two, m, NULL);
    ZKT_MUST(zkr_mutex_release(held));
    ZKT_MUST(zkt_actor_acquired(&actor));
    assert_int_equal(contended(two), 1);
    ZKT_MUST(zkt_actor_end(&actor));
    ZKT_MUST(zkr_mutex_acquire(m, 5000));
    assert_int_equal(contended(two), 1);
    ZKT_MUST(zkr_mutex_release(m));
}

/* When a waiter ahead gives up, one list and one watch tell the new place. */
ZKT_CASE(a_waiter_ahead_that_gives_up_costs_one_list)
{
    zkr_client *clients[3];
    zkr_mutex *mutexes[3];
    struct zkt_actor actors[3];
    for (int i = 0; i < 3; i++) {
        clients[i] = zkt_client(zkt_servers(), SESSION_MS);
        mutexes[i] = zkt_mutex(clients[i]);
    }
    ZKT_MUST(zkr_mutex_acquire(mutexes[0], 5000));
    zkt_actor_queue(&actors[1], clients[1], mutexes[1], NULL);
    zkt_actor_queue(&actors[2], clients[2], mutexes[2], NULL);
    ZKT_BECOMES(zkt_watches(), 5, 5000); /* own ones included */
    zkt_door_focus(clients[2]);
    int64_t last = 0;
    (void)packets(clients[2], &last);
    ZKT_MUST(zkr_mutex_cancel(mutexes[1]));
    ZKT_BECOMES(zkt_door_count(ZKR__OP_GET), 1, 5000);
    expect(0, 1, 1, 0);
    ZKT_MUST(zkr_mutex_release(mutexes[0]));
    ZKT_MUST(zkt_actor_acquired(&actors[2]));
    expect(0, 1, 1, 0);
    assert_int_equal(packets(clients[2], &last), 2);
    for (int i = 2; i >= 0; i--) {
        if (i > 0) {
            (void)zkt_actor_end(&actors[i]);
        }
        zkt_destroy(mutexes[i]);
        zkt_close(clients[i]);
    }
}

/* A try that fails: one round trip, and a delete nobody waits for; no watch. */
ZKT_CASE(a_failed_try_costs_three_requests)
{
    zkr_client *two = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *held = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    zkr_mutex *m = zkt_mutex(two);
    ZKT_MUST(zkr_mutex_acquire(held, 5000));
    zkt_door_focus(two);
    int64_t last = 0;
    (void)packets(two, &last);
    ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ETIMEDOUT);
    expect(1, 1, 0, 1);
    assert_int_equal(zkt_door_total(), 3);
    ZKT_MUST(zkr_client_flush(two, 5000));
    assert_int_equal(packets(two, &last), 3);
    ZKT_MUST(zkr_mutex_release(held));
}

/* A thousand waiting threads: each hand-over costs its delete and nothing else. */
ZKT_CASE(a_thousand_waiters_drain_at_one_request_each)
{
    enum { WAITERS = 1000 };
    static struct zkt_actor actors[WAITERS];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    atomic_int turn = 0;
    ZKT_MUST(zkr_mutex_acquire(m, 5000));
    for (int i = 0; i < WAITERS; i++) {
        zkt_actor_start(&actors[i], m, ZKR_FOREVER, &turn);
        atomic_store(&actors[i].let_go, true);
    }
    ZKT_BECOMES(zkt_nodes(), WAITERS + 1, 60000);
    ZKT_EVENTUALLY(zkt_watches() >= WAITERS, 60000);
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_release(m));
    for (int i = 0; i < WAITERS; i++) {
        ZKT_MUST(zkt_actor_end(&actors[i]));
    }
    assert_int_equal(atomic_load(&turn), WAITERS);
    assert_int_equal(zkt_door_count(ZKR__OP_DELETE), WAITERS + 1);
    assert_int_equal(zkt_door_count(ZKR__OP_CREATE) + zkt_door_count(ZKR__OP_CHILDREN) +
                         zkt_door_count(ZKR__OP_GET),
                     0);
}

/* Many locks at once: one write, and the lists behind it; the release is one write. */
ZKT_CASE(many_locks_cost_one_write_each_way)
{
    enum { MOST = 100 };
    static const int counts[] = {1, 2, 3, 10, MOST};
    static char text[MOST][256];
    const char *paths[MOST];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    for (int i = 0; i < MOST; i++) {
        (void)snprintf(text[i], sizeof(text[i]), "%s/%d", zkt_path(), i);
        paths[i] = text[i];
        assert_int_equal(zkt_create_path(zkt_servers(), paths[i]), 0);
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        int k = counts[i];
        bool one = k == 1; /* as a mutex */
        zkr_multi_lock *l = NULL;
        zkr_ticket *t = NULL;
        ZKT_MUST(zkr_multi_lock_create(&l, c, paths, (size_t)k, NULL));
        zkt_door_focus(c);
        int64_t last = 0;
        (void)packets(c, &last);
        ZKT_MUST(zkr_multi_lock_acquire(l, 5000, &t));
        expect(one, k, 0, 0);
        assert_int_equal(zkt_door_count(ZKR__OP_CREATES), !one);
        assert_int_equal(zkt_door_total(), k + 1);
        assert_int_equal(packets(c, &last), k + 1);
        ZKT_MUST(zkr_ticket_release(t));
        ZKT_MUST(zkr_ticket_destroy(t));
        expect(one, k, 0, one);
        assert_int_equal(zkt_door_count(ZKR__OP_MULTI), !one);
        assert_int_equal(zkt_door_total(), k + 2);
        ZKT_MUST(zkr_client_flush(c, 5000));
        assert_int_equal(packets(c, &last), 1);
        ZKT_MUST(zkr_multi_lock_destroy(l));
    }
}

/* An idle client with nothing held sends nothing but libzookeeper's pings. */
ZKT_CASE(an_idle_client_sends_nothing)
{
    zkr_client *c = zkt_client(zkt_servers(), 1000);
    zkr_mutex *m = zkt_mutex(c);
    warm(m, c);
    zkt_sleep_ms(300); /* let the last nudge timer run out */
    zkt_door_focus(c);
    zkt_sleep_ms(2000);
    assert_int_equal(zkt_door_total(), 0);
}
