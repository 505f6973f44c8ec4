/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that read by one node: what it saves, who may join, and whom it keeps waiting. */
#include <string.h>

#include "fourlw.h"
#include "rwlock_shares.h"

enum { READERS = 8 };

/*
 * Packets of this client's connection, as a server sees them; lease probes do not count. One of those that is
 * under way has left and not arrived: for that moment the number is too low.
 */
static int64_t packets(const zkr_client *c)
{
    return zkt_cons_received(zkt_servers(), c->session_id) - zkt_door_nudges() -
           zkt_door_count(ZKR__OP_CHECK);
}

static int64_t settled_packets(const zkr_client *c)
{
    enum { STILL_MS = 50 };
    int64_t before, now = packets(c);
    do {
        before = now;
        zkt_sleep_ms(STILL_MS);
        now = packets(c);
    } while (now != before);
    return now;
}

static int depth(struct zkt_hold *h, void *m)
{
    (void)h;
    return zkr_mutex_depth(m);
}

static int write_too(struct zkt_hold *h, void *m)
{
    (void)h;
    return zkr_mutex_acquire(m, PATIENCE_MS);
}

/* --- what it saves --- */

/* The first one asks the servers, the others nobody; the last one, whoever that is, deletes the node. */
ZKT_CASE(threads_read_by_one_node)
{
    int64_t token = 0, same = 0;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = shares_of(c, HOUR_MS);
    struct zkt_hold *w[READERS];
    readers_of(w, READERS, c, &s);
    ZKT_MUST(zkr_mutex_acquire(s.w, PATIENCE_MS)); /* makes the parents */
    ZKT_MUST(zkr_mutex_release(s.w));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    static char metrics[65536];
    char joined[512];
    (void)snprintf(joined, sizeof(joined), "\nzkr_reentries_total{path=\"%s\"} %d\n",
                   zkt_path(), READERS - 1);
    zkt_door_focus(c);
    ZKT_MUST(zkt_hold_acquire(w[0], PATIENCE_MS));
    ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS); /* the holder's own */
    int64_t before = settled_packets(c);
    ZKT_MUST(zkt_hold_token(w[0], &token));
    for (int i = 1; i < READERS; i++) {
        ZKT_MUST(zkt_hold_acquire(w[i], i % 2 ? PATIENCE_MS : 0));
        ZKT_MUST(zkt_hold_token(w[i], &same));
        assert_true(token == same);
    }
    assert_int_equal(zkt_nodes(), 1);
    ZKT_MUST(zkr_client_metrics(c, metrics, sizeof(metrics), NULL));
    assert_non_null(strstr(metrics, joined));
    for (int i = 0; i < READERS; i++) { /* the first one leaves first */
        assert_int_equal(zkt_nodes(), 1);
        for (int j = 0; j < READERS; j++) {
            assert_int_equal(zkt_hold_is_sure(w[j]), j >= i);
        }
        ZKT_BECOMES(packets(c), before, PATIENCE_MS);
        ZKT_MUST(zkt_hold_release(w[i]));
    }
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    ZKT_BECOMES(packets(c), before + 1, PATIENCE_MS);
    assert_int_equal(zkt_door_count(ZKR__OP_CREATE), 1);
    assert_int_equal(zkt_door_count(ZKR__OP_DELETE), 1);
    assert_int_equal(zkt_nodes(), 0);
}

/* Each thread counts its own acquires. */
ZKT_CASE(each_thread_has_its_depth)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = shares_of(c, HOUR_MS);
    struct zkt_hold *w[2];
    readers_of(w, 2, c, &s);
    ZKT_MUST(zkt_hold_acquire(w[0], PATIENCE_MS));
    ZKT_MUST(zkt_hold_acquire(w[1], PATIENCE_MS));
    ZKT_MUST(zkt_hold_acquire(w[1], PATIENCE_MS));
    assert_int_equal(zkt_hold_do(w[0], depth, s.r), 1);
    assert_int_equal(zkt_hold_do(w[1], depth, s.r), 2);
    ZKT_MUST(zkt_hold_release(w[1]));
    ZKT_MUST(zkt_hold_release(w[0]));
    ZKT_RC(zkt_hold_release(w[0]), ZKR_ENOTOWNER);
    assert_int_equal(zkt_hold_do(w[0], depth, s.r), 0);
    assert_int_equal(zkt_hold_is_sure(w[1]), 1);
    assert_false(zkr_mutex_is_held(s.r));
    assert_true(zkr_mutex_is_held_in_process(s.r));
    ZKT_MUST(zkt_hold_release(w[1]));
    assert_false(zkr_mutex_is_held_in_process(s.r));
}

/* Without the option each thread has its own. */
ZKT_CASE(it_is_an_option)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = sides_of(c);
    struct zkt_hold *w[READERS];
    readers_of(w, READERS, c, &s);
    for (int i = 0; i < READERS; i++) {
        ZKT_MUST(zkt_hold_acquire(w[i], PATIENCE_MS));
        assert_int_equal(zkt_nodes(), i + 1);
    }
    for (int i = 0; i < READERS; i++) {
        ZKT_MUST(zkt_hold_release(w[i]));
    }
}

/* Only the last release waits for the delete, however long that takes; the node is gone by then. */
ZKT_CASE(the_last_release_waits)
{
    enum { DELAY_MS = 300 };
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    struct sides s =
        shares_with(c, HOUR_MS, (zkr_rwlock_options){.wait_on_release = 1});
    struct zkt_hold *w[2];
    readers_of(w, 2, c, &s);
    ZKT_MUST(zkt_hold_acquire(w[0], PATIENCE_MS));
    ZKT_MUST(zkt_hold_acquire(w[1], PATIENCE_MS));
    zkt_proxy_delay(p, ZKT_TO_SERVER, DELAY_MS);
    ZKT_MUST(zkt_hold_release(w[0]));
    assert_int_equal(zkt_nodes(), 1);
    ZKT_MUST(zkt_hold_release(w[1]));
    assert_int_equal(zkt_nodes(), 0);
}

/* --- who may join --- */

/* One holds and @next comes: by a node of its own. */
static void expect_own_node(struct zkt_hold *next)
{
    int before = zkt_nodes();
    ZKT_MUST(zkt_hold_acquire(next, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), before + 1);
}

/* A tenth of a second after the grant a hold is joined no more. */
ZKT_CASE(late_ones_have_a_node_of_their_own)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = shares_of(c, 0);
    struct zkt_hold *w[2];
    readers_of(w, 2, c, &s);
    ZKT_MUST(zkt_hold_acquire(w[0], PATIENCE_MS));
    zkt_sleep_ms(101);
    expect_own_node(w[1]);
    ZKT_MUST(zkt_hold_release(w[0]));
    ZKT_MUST(zkt_hold_release(w[1]));
}

/* Nor is the hold of a writer that stayed a reader joined. */
ZKT_CASE(a_downgraded_writer_is_not_joined)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = shares_of(c, HOUR_MS);
    struct zkt_hold *w = zkt_hold_by(c, s.r);
    ZKT_MUST(zkr_mutex_acquire(s.w, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_acquire(s.r, 0));
    ZKT_MUST(zkr_mutex_release(s.w));
    expect_own_node(w);
    ZKT_MUST(zkr_mutex_release(s.r));
    ZKT_MUST(zkt_hold_release(w));
}

static void count_wishes(zkr_mutex *m, void *ctx)
{
    (void)m;
    atomic_fetch_add((atomic_int *)ctx, 1);
}

/* Who was asked to let go lets nobody join. All who share are told by one call. */
ZKT_CASE(a_wish_closes_the_hold)
{
    atomic_int wishes = 0;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = shares_with(
        c, HOUR_MS,
        (zkr_rwlock_options){.on_revoke = count_wishes, .on_revoke_ctx = &wishes});
    struct zkt_hold *w[3];
    readers_of(w, 3, c, &s);
    ZKT_MUST(zkt_hold_acquire(w[0], PATIENCE_MS));
    ZKT_MUST(zkt_hold_acquire(w[1], PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 1);
    ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_revoke(s.r));
    ZKT_BECOMES(atomic_load(&wishes), 1, PATIENCE_MS);
    expect_own_node(w[2]);
    for (int i = 0; i < 3; i++) {
        ZKT_MUST(zkt_hold_release(w[i]));
    }
    end_readers(w, 3);
    end_sides(&s);
    zkt_close(c);
    assert_int_equal(atomic_load(&wishes), 1);
}

/* --- whom it keeps waiting --- */

/*
 * Two threads take turns, and each acquires before the other one releases. A writer elsewhere gets its turn all the
 * same: once nobody may join any more, a reader stands behind it.
 */
ZKT_CASE(readers_that_overlap_do_not_keep_a_writer_waiting)
{
    zkr_client *one = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *two = zkt_client(zkt_servers(), SESSION_MS);
    struct sides a = shares_of(one, 0), b = shares_of(two, 0);
    struct zkt_hold *w[2];
    struct zkt_actor writer;
    readers_of(w, 2, one, &a);
    ZKT_MUST(zkt_hold_acquire(w[0], PATIENCE_MS));
    zkt_actor_queue(&writer, two, b.w, NULL);
    int64_t began = zkt_now_ms();
    int turn = 0;
    for (;; turn = 1 - turn) {
        zkt_hold_ask(w[1 - turn], PATIENCE_MS);
        ZKT_EVENTUALLY(!zkt_hold_waits(w[1 - turn]) || zkt_waiting(one) == 1,
                       PATIENCE_MS);
        if (zkt_waiting(one) == 1) {
            break;
        }
        ZKT_MUST(zkt_hold_wait(w[1 - turn]));
        assert_true(zkt_now_ms() - began < PATIENCE_MS / 4);
        assert_int_equal(atomic_load(&writer.acquired), ZKT_NOT_YET);
        ZKT_MUST(zkt_hold_release(w[turn]));
    }
    assert_true(zkt_hold_waits(w[1 - turn]));
    ZKT_MUST(zkt_hold_release(w[turn]));
    zkt_actor_is_served(&writer);
    ZKT_MUST(zkt_hold_wait(w[1 - turn]));
    ZKT_MUST(zkt_hold_release(w[1 - turn]));
}

enum { BY_THREAD, BY_TICKET, BY_MUTEX, WAYS };

/* A writer of this client that waits, in whichever way, is not overtaken at all. */
ZKT_CASE(a_writer_of_this_client_is_not_overtaken)
{
    for (int way = 0; way < WAYS; way++) {
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        struct sides s = shares_of(c, HOUR_MS);
        zkr_mutex *m = zkt_mutex(c);
        zkr_ticket *t = NULL;
        struct zkt_actor writer;
        struct zkt_hold *w[2];
        readers_of(w, 2, c, &s);
        ZKT_MUST(zkt_hold_acquire(w[0], PATIENCE_MS));
        if (way == BY_TICKET) {
            t = zkt_ticket(s.w);
        } else {
            zkt_actor_queue(&writer, c, way == BY_THREAD ? s.w : m, NULL);
        }
        zkt_hold_ask(w[1], PATIENCE_MS);
        ZKT_BECOMES(zkt_waiting(c), 2, PATIENCE_MS);
        ZKT_MUST(zkt_hold_acquire(w[0], PATIENCE_MS)); /* which it may again */
        ZKT_MUST(zkt_hold_release(w[0]));
        ZKT_MUST(zkt_hold_release(w[0]));
        if (way == BY_TICKET) {
            ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
            assert_true(zkt_hold_waits(w[1]));
            zkt_end_ticket(t);
        } else {
            ZKT_MUST(zkt_actor_acquired(&writer));
            assert_true(zkt_hold_waits(w[1]));
            ZKT_MUST(zkt_actor_end(&writer));
        }
        ZKT_MUST(zkt_hold_wait(w[1]));
        ZKT_MUST(zkt_hold_release(w[1]));
    }
}

/* --- the end of a thread, wrong calls --- */

/* A thread that ends while it shares: the others still hold, and the last one's end deletes the node. */
ZKT_CASE(a_thread_that_ends_leaves)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = shares_of(c, HOUR_MS);
    struct zkt_hold *w[3];
    readers_of(w, 3, c, &s);
    for (int i = 0; i < 3; i++) {
        ZKT_MUST(zkt_hold_acquire(w[i], PATIENCE_MS));
    }
    ZKT_MUST(zkt_hold_acquire(w[1], PATIENCE_MS));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(zkt_nodes(), 1);
        assert_int_equal(zkt_hold_is_sure(w[2]), 1);
        zkt_hold_end_thread(w[i]);
    }
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
}

/* Who joined is a reader like any: it cannot become a writer, and the lock is in use until the last one is gone. */
ZKT_CASE(wrong_calls_are_refused)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = shares_of(c, HOUR_MS);
    struct zkt_hold *w[3];
    readers_of(w, 3, c, &s);
    ZKT_MUST(zkt_hold_acquire(w[0], PATIENCE_MS));
    ZKT_MUST(zkt_hold_acquire(w[1], PATIENCE_MS));
    ZKT_RC(zkt_hold_do(w[1], write_too, s.w), ZKR_EDEADLK);
    ZKT_RC(zkt_hold_release(w[2]), ZKR_ENOTOWNER);
    ZKT_MUST(zkr_mutex_cancel(s.r)); /* nobody waits */
    ZKT_MUST(zkt_hold_release(w[0]));
    ZKT_RC(zkr_rwlock_destroy(s.l), ZKR_EBUSY);
    ZKT_RC(zkt_hold_release(w[0]), ZKR_ENOTOWNER);
    assert_int_equal(zkt_hold_is_sure(w[1]), 1);
    ZKT_MUST(zkt_hold_release(w[1]));
}
