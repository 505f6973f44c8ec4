/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of options of mutexes, in requests of the client: watched nodes, revocation requests, kept nodes; and the
 * cost of writing the time of the grant.
 */
#include <string.h>

#include "actor.h"
#include "fixture.h"

enum { SESSION_MS = 30000, PROBED_MS = 4000, HOUR_MS = 3600000, PATIENCE_MS = 20000 };

static void cycle(zkr_mutex *m)
{
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_release(m));
}

/* Returns a mutex whose parents exist, with the lasting watch on the directory. */
static zkr_mutex *warm(zkr_client *c, const zkr_mutex_options *o)
{
    zkr_mutex *m = zkt_mutex_with(c, o);
    for (int i = 0; i < 2; i++) {
        cycle(m);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
    return m;
}

/* --- watch_node, on_revoke --- */

/* With watch_node, a hold is watched from the start, for one more request. */
ZKT_CASE(a_hold_can_be_watched_from_the_start)
{
    enum { TRIES = 5, LATER_MS = 100 };
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.watch_node = 1;
    zkr_mutex *m = warm(c, &o);
    int64_t least = INT64_MAX; /* a busy machine may be late now and then */
    for (int i = 0; i < TRIES; i++) {
        zkt_door_focus(c);
        int64_t before = zkt_now_ms();
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        ZKT_ASKS("create, get");
        int64_t took = zkt_now_ms() - before;
        least = took < least ? took : least;
        ZKT_MUST(zkr_mutex_release(m));
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
    assert_true(least < LATER_MS);
}

static void nobody_asks(zkr_mutex *m, void *ctx)
{
    (void)m;
    (void)ctx;
}

/*
 * Being revocable costs as much as watch_node. A request costs a list, a read and a write, and receiving it costs two
 * gets and a write.
 */
ZKT_CASE(a_wish_costs_three_round_trips)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *other = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.on_revoke = nobody_asks;
    zkr_mutex *m = warm(c, &o), *theirs = zkt_mutex(other);
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS);
    ZKT_ASKED("create, get");
    zkt_door_focus(c);
    ZKT_MUST(zkr_mutex_revoke(theirs));
    ZKT_ASKS("set, 2 get");
    ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS);
    zkt_door_focus(other);
    ZKT_MUST(zkr_mutex_revoke(theirs));
    ZKT_ASKED("set, children, exists");
    ZKT_MUST(zkr_mutex_release(m));
}

/* --- writing the time of the grant costs a list --- */

static bool is_noted(zkr_mutex *m)
{
    char node[256], data[512] = "";
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    assert_int_equal(zkt_get(zkt_servers(), node, data, sizeof(data), NULL), ZKT_OK);
    return strstr(data, "\nheld_since_ms=") != NULL;
}

/*
 * A hold that records the time of its grant sends as many writes as a hold with the application's own data, which does
 * not record it.
 */
ZKT_CASE(a_lasting_hold_costs_one_list)
{
    for (int mine = 0; mine < 2; mine++) {
        zkr_client *c = zkt_client(zkt_servers(), PROBED_MS);
        zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
        o.data = mine ? "mine" : NULL;
        o.data_len = mine ? 4 : 0;
        zkr_mutex *m = warm(c, &o);
        zkt_door_focus(c);
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        ZKT_EVENTUALLY(zkt_door_count(ZKR__OP_CHECK) >= 4, PATIENCE_MS);
        ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS);
        int checks = zkt_door_count(ZKR__OP_CHECK);
        assert_int_equal(zkt_door_count(ZKR__OP_CREATE), 1);
        /* A late thread writes the time after the watch was set, and sets the watch again. */
        int gets = zkt_door_count(ZKR__OP_GET);
        ZKT_IN_RANGE(gets, 1, mine ? 1 : 2);
        /* The contenders behind the node are listed once before the node is written. */
        int lists = zkt_door_count(ZKR__OP_CHILDREN);
        assert_int_equal(lists, mine ? 0 : 1);
        ZKT_IN_RANGE(zkt_door_total() - checks - gets - lists, 1,
                     2); /* a check may be on its way */
        assert_int_equal(is_noted(m), !mine);
        ZKT_MUST(zkr_mutex_release(m));
    }
}

/* The waiter behind reads the node ahead once more, and goes on waiting. */
ZKT_CASE(the_one_behind_asks_once_more)
{
    zkr_client *d = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = warm(zkt_client(zkt_servers(), PROBED_MS), NULL);
    zkr_mutex *behind = zkt_mutex(d);
    struct zkt_actor actor;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_door_focus(d);
    zkt_actor_start(&actor, behind, ZKR_FOREVER, NULL);
    ZKT_EVENTUALLY(is_noted(m), PATIENCE_MS);
    ZKT_ASKS("create, children, 3 get"); /* two gets of the node ahead */
    assert_int_equal(atomic_load(&actor.acquired), ZKT_NOT_YET);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkt_actor_acquired(&actor));
    assert_int_equal(zkt_door_count(ZKR__OP_CHILDREN), 1);
    ZKT_MUST(zkt_actor_end(&actor));
}

/* --- a kept lock --- */

/* A mutex that keeps its node for an hour, has kept it, and has its watch; and a mutex of another client. */
struct kept {
    zkr_client *c, *other;
    zkr_mutex *m, *theirs;
};

static struct kept keep(void)
{
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.keep_ms = HOUR_MS;
    struct kept k = {.c = zkt_client(zkt_servers(), SESSION_MS),
                     .other = zkt_client(zkt_servers(), SESSION_MS)};
    k.m = warm(k.c, &o);
    k.theirs = zkt_mutex(k.other);
    zkt_door_focus(k.c);
    cycle(k.m);
    ZKT_EVENTUALLY(zkt_all_answered(k.c), PATIENCE_MS);
    /* The first release sends a list and a read of the node, each with a watch. */
    ZKT_ASKED("create, children, get");
    assert_int_equal(zkt_nodes(), 1);
    zkt_door_focus(k.c);
    return k;
}

/* Further cycles send no requests. */
ZKT_CASE(the_second_cycle_asks_for_nothing)
{
    struct kept k = keep();
    for (int i = 0; i < 100; i++) {
        cycle(k.m);
    }
    ZKT_ASKED("");
    zkt_destroy(k.m);
    ZKT_ASKED("delete");
}

/*
 * An unused node costs one delete, and then the other client holds. If others contended a moment ago, the cost is the
 * same as without the option.
 */
ZKT_CASE(news_costs_a_delete)
{
    struct kept k = keep();
    ZKT_MUST(zkr_mutex_acquire(k.theirs, PATIENCE_MS));
    ZKT_ASKED("delete");
    ZKT_MUST(zkr_mutex_release(k.theirs));
    ZKT_MUST(zkr_client_flush(k.other, PATIENCE_MS));
    zkt_door_focus(k.c);
    cycle(k.m);
    ZKT_MUST(zkr_client_flush(k.c, PATIENCE_MS));
    assert_int_equal(zkt_door_count(ZKR__OP_CREATE), 1);
    assert_int_equal(zkt_door_count(ZKR__OP_DELETE), 1);
    ZKT_IN_RANGE(zkt_door_count(ZKR__OP_CHILDREN), 0, 1);
    ZKT_IN_RANGE(zkt_door_total(), 2, 3);
}

/* A node in use costs nothing, and a delete at the release. */
ZKT_CASE(news_in_use_costs_a_delete_at_the_release)
{
    struct zkt_actor actor;
    struct kept k = keep();
    ZKT_MUST(zkr_mutex_acquire(k.m, PATIENCE_MS));
    zkt_actor_queue(&actor, k.other, k.theirs, NULL);
    ZKT_ASKED("");
    ZKT_MUST(zkr_mutex_release(k.m));
    ZKT_MUST(zkt_actor_acquired(&actor));
    ZKT_ASKED("delete");
    ZKT_MUST(zkt_actor_end(&actor));
}

/*
 * Waiting threads queue in the client without nodes, and hold through the node of the first. A try does not
 * queue there.
 */
ZKT_CASE(threads_pass_it_on_for_nothing)
{
    enum { THREADS = 8, AT_ONCE_MS = 1500 }; /* long before the time limit of a try */
    static struct zkt_actor actors[THREADS];
    struct kept k = keep();
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.keep_ms = HOUR_MS;
    zkr_mutex *beside = zkt_mutex_with(k.c, &o);
    ZKT_MUST(zkr_mutex_acquire(k.m, PATIENCE_MS));
    int64_t before = zkt_now_ms();
    ZKT_RC(zkr_mutex_acquire(beside, 0), ZKR_ETIMEDOUT);
    assert_true(zkt_now_ms() - before < AT_ONCE_MS);
    for (int i = 0; i < THREADS; i++) {
        zkt_actor_start(&actors[i], k.m, ZKR_FOREVER, NULL);
        ZKT_BECOMES(zkt_waiting(k.c), i + 1, PATIENCE_MS);
    }
    ZKT_MUST(zkr_mutex_release(k.m));
    for (int i = 0; i < THREADS; i++) {
        ZKT_MUST(zkt_actor_end(&actors[i]));
    }
    ZKT_ASKED("");
    assert_int_equal(zkt_nodes(), 1);
}
