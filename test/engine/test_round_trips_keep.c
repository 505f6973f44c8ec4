/* SPDX-License-Identifier: Apache-2.0 */
/* What a lock costs that stays with its client, and what news costs: counted at the door. */
#include "actor.h"
#include "fixture.h"

enum { SESSION_MS = 30000, LONG_MS = 600000, PATIENCE_MS = 20000 };

static zkr_mutex *keeper(zkr_client *c, int64_t keep_ms)
{
    zkr_mutex_options options = ZKR_MUTEX_OPTIONS_INIT;
    options.keep_ms = keep_ms;
    return zkt_mutex_with(c, &options);
}

static void cycle(zkr_mutex *m)
{
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_release(m));
}

/* The parents, and the watch that stays on the directory; and what the first cycle of a session knows. */
static void warm(zkr_client *c, zkr_mutex *m)
{
    for (int i = 0; i < 2; i++) {
        cycle(m);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
}

/* It is kept, and its watch is there. */
static void keep(zkr_client *c, zkr_mutex *m)
{
    warm(c, m);
    cycle(m);
    ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
    assert_int_equal(zkt_nodes(), 1);
}

/* The first release lists, with a watch; from then on nothing is asked. */
ZKT_CASE(the_second_cycle_asks_for_nothing)
{
    enum { TIMES = 100 };
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = keeper(c, LONG_MS);
    warm(c, m);
    zkt_door_focus(c);
    cycle(m);
    ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
    assert_int_equal(zkt_door_count(ZKR__OP_CREATE), 1);
    assert_int_equal(zkt_door_count(ZKR__OP_CHILDREN), 1);
    assert_int_equal(zkt_door_total(), 2);
    zkt_door_focus(c);
    for (int i = 0; i < TIMES; i++) {
        cycle(m);
    }
    assert_int_equal(zkt_door_total(), 0);
    zkt_destroy(m);
    assert_int_equal(zkt_door_count(ZKR__OP_DELETE), 1);
    assert_int_equal(zkt_door_total(), 1);
}

/* Idle: one delete, and the other holds. */
ZKT_CASE(news_costs_a_delete)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *other = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = keeper(c, LONG_MS), *theirs = zkt_mutex(other);
    keep(c, m);
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_acquire(theirs, PATIENCE_MS));
    assert_int_equal(zkt_door_count(ZKR__OP_DELETE), 1);
    assert_int_equal(zkt_door_total(), 1);
    ZKT_MUST(zkr_mutex_release(theirs));
}

/* In use: nothing, and a delete at the release. */
ZKT_CASE(news_in_use_costs_a_delete_at_the_release)
{
    struct zkt_actor actor;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *other = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = keeper(c, LONG_MS), *theirs = zkt_mutex(other);
    keep(c, m);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_door_focus(c);
    zkt_actor_queue(&actor, other, theirs, NULL);
    assert_int_equal(zkt_door_total(), 0);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkt_actor_acquired(&actor));
    assert_int_equal(zkt_door_count(ZKR__OP_DELETE), 1);
    assert_int_equal(zkt_door_total(), 1);
    ZKT_MUST(zkt_actor_end(&actor));
}

/* Threads that wait stand in line without nodes, and hold by that of the first. */
ZKT_CASE(threads_pass_it_on_for_nothing)
{
    enum { THREADS = 8 };
    static struct zkt_actor actors[THREADS];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = keeper(c, LONG_MS);
    keep(c, m);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_door_focus(c);
    for (int i = 0; i < THREADS; i++) {
        zkt_actor_start(&actors[i], m, ZKR_FOREVER, NULL);
        ZKT_BECOMES(zkt_waiting(c), i + 1, PATIENCE_MS);
    }
    ZKT_MUST(zkr_mutex_release(m));
    for (int i = 0; i < THREADS; i++) {
        ZKT_MUST(zkt_actor_end(&actors[i]));
    }
    assert_int_equal(zkt_door_total(), 0);
    assert_int_equal(zkt_nodes(), 1);
}

/* A try behind another thread fails at once, long before the time limit of a try. */
ZKT_CASE(a_try_does_not_wait_in_line)
{
    enum { AT_ONCE_MS = 1500 };
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = keeper(c, LONG_MS), *beside = keeper(c, LONG_MS);
    keep(c, m);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_door_focus(c);
    int64_t before = zkt_now_ms();
    ZKT_RC(zkr_mutex_acquire(beside, 0), ZKR_ETIMEDOUT);
    assert_true(zkt_now_ms() - before < AT_ONCE_MS);
    assert_int_equal(zkt_door_total(), 0);
    ZKT_MUST(zkr_mutex_release(m));
}

/* Where others were a moment ago it is as without: a create and a list, and a delete. */
ZKT_CASE(a_contended_lock_costs_what_it_costs_without)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *other = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = keeper(c, LONG_MS), *theirs = zkt_mutex(other);
    keep(c, m);
    ZKT_MUST(zkr_mutex_acquire(theirs, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_release(theirs));
    ZKT_MUST(zkr_client_flush(other, PATIENCE_MS));
    zkt_door_focus(c);
    cycle(m);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_door_count(ZKR__OP_CREATE), 1);
    assert_int_equal(zkt_door_count(ZKR__OP_DELETE), 1);
    assert_in_range(zkt_door_count(ZKR__OP_CHILDREN), 0, 1);
    assert_in_range(zkt_door_total(), 2, 3);
}
