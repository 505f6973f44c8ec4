/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that read by one node: what it saves, who may join, and whom it keeps waiting; its loss, writes under it, and the
 * end of the client.
 */
#include <stdio.h>
#include <string.h>

#include <zkr/guard.h>

#include "fourlw.h"
#include "hold.h"
#include "recipes/mutex.h"
#include "rwlocks.h"

enum { SESSION_MS = 30000, SHORT_MS = 2000, PATIENCE_MS = 30000, HOUR_MS = 3600000 };
enum { READERS = 8, MEMBERS = 3 };

/* Holds may be joined for @open_ms; 0 = for as long as the library has it. */
static struct sides shares_with(zkr_client *c, int64_t open_ms, zkr_rwlock_options o)
{
    o.size = sizeof(o);
    o.share_readers = 1;
    struct sides s = sides_with(c, &o);
    if (open_ms > 0) {
        s.r->lock.share_ms = open_ms;
    }
    return s;
}

static struct sides shares_of(zkr_client *c, int64_t open_ms)
{
    return shares_with(c, open_ms, (zkr_rwlock_options){0});
}

/* Readers, each a thread, by the lock; none reads yet. */
static void
readers_of(struct zkt_hold **w, int count, zkr_client *c, const struct sides *s)
{
    for (int i = 0; i < count; i++) {
        w[i] = zkt_hold_by(c, s->r);
    }
}

static void end_readers(struct zkt_hold **w, int count)
{
    for (int i = 0; i < count; i++) {
        zkt_hold_end(w[i]);
    }
}

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

/* --- loss --- */

static void count_losses(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    (void)m;
    (void)lost;
    atomic_fetch_add((atomic_int *)ctx, 1);
}

static struct sides watched_shares(zkr_client *c, int64_t open_ms, atomic_int *losses)
{
    return shares_with(c, open_ms,
                       (zkr_rwlock_options){.on_lost = count_losses,
                                            .on_lost_ctx = losses,
                                            .watch_node = 1});
}

static int find_it_lost(struct zkt_hold *h, void *m)
{
    (void)h;
    int64_t token;
    bool told = !zkr_mutex_is_held(m) && zkr_mutex_valid_for_ms(m) == 0 &&
                zkr_mutex_fencing_token(m, &token) == ZKR_ESESSION &&
                zkr_mutex_acquire(m, 0) == ZKR_ESESSION &&
                zkr_mutex_release(m) == ZKR_ESESSION &&
                zkr_mutex_release(m) == ZKR_ENOTOWNER;
    return told ? ZKR_OK : -1;
}

enum { SESSION_OVER, NODE_DELETED, LEASE_OVER, LOSSES };

static void lose(zkr_client *c, zkt_proxy *p, int how)
{
    if (how == SESSION_OVER) {
        zkt_expire(c);
    } else if (how == NODE_DELETED) {
        zkt_delete_children(zkt_servers(), zkt_path());
    } else {
        zkt_proxy_cut(p);
        ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    }
}

/* Each thread that shares is told once, and none that has left before. Others come by a new node meanwhile. */
ZKT_CASE(a_loss_is_each_threads)
{
    for (int how = 0; how < LOSSES; how++) {
        atomic_int losses = 0;
        zkt_proxy *p = zkt_proxy_start(zkt_servers());
        zkr_client *c =
            zkt_client(zkt_proxy_host(p), how == LEASE_OVER ? SHORT_MS : SESSION_MS);
        struct sides s = watched_shares(c, HOUR_MS, &losses);
        struct zkt_hold *w[MEMBERS + 1], *late = zkt_hold_by(c, s.r);
        readers_of(w, MEMBERS + 1, c, &s);
        for (int i = 0; i <= MEMBERS; i++) {
            ZKT_MUST(zkt_hold_acquire(w[i], PATIENCE_MS));
        }
        ZKT_MUST(zkt_hold_acquire(w[1], PATIENCE_MS));
        ZKT_MUST(zkt_hold_release(w[MEMBERS]));
        ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS);
        assert_int_equal(zkt_nodes(), 1);
        lose(c, p, how);
        ZKT_BECOMES(atomic_load(&losses), MEMBERS, PATIENCE_MS);
        zkt_proxy_heal(p);
        ZKT_MUST(zkt_hold_do(w[0], find_it_lost, s.r));
        ZKT_MUST(zkt_hold_acquire(late, PATIENCE_MS));
        ZKT_MUST(zkt_hold_acquire(w[0], PATIENCE_MS));
        ZKT_BECOMES(zkt_nodes(), 1, PATIENCE_MS);
        for (int i = 1; i < MEMBERS; i++) {
            ZKT_MUST(zkt_hold_do(w[i], find_it_lost, s.r));
        }
        assert_int_equal(zkt_hold_is_sure(late), 1);
        ZKT_MUST(zkt_hold_release(late));
        assert_int_equal(zkt_hold_is_sure(w[0]), 1);
        ZKT_MUST(zkt_hold_release(w[0]));
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        assert_int_equal(zkt_nodes(), 0);
        end_readers(w, MEMBERS + 1);
        zkt_hold_end(late);
        end_sides(&s);
        zkt_close(c);
        assert_int_equal(atomic_load(&losses), MEMBERS);
    }
}

/* Of the threads of one lock, by two nodes, those lose their hold whose node is gone. */
ZKT_CASE(a_loss_is_of_one_node)
{
    atomic_int losses = 0;
    char node[256];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = watched_shares(c, 1, &losses);
    struct zkt_hold *w[2];
    readers_of(w, 2, c, &s);
    ZKT_MUST(zkr_mutex_acquire(s.r, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(s.r, node, sizeof(node)));
    zkt_sleep_ms(2); /* longer than this hold can be joined */
    s.r->lock.share_ms = HOUR_MS;
    ZKT_MUST(zkt_hold_acquire(w[0], PATIENCE_MS));
    ZKT_MUST(zkt_hold_acquire(w[1], PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 2);
    assert_int_equal(zkt_delete(zkt_servers(), node), 0);
    ZKT_BECOMES(atomic_load(&losses), 1, PATIENCE_MS);
    ZKT_MUST(find_it_lost(NULL, s.r));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(zkt_hold_is_sure(w[i]), 1);
        ZKT_MUST(zkt_hold_release(w[i]));
    }
    end_readers(w, 2);
    end_sides(&s);
    zkt_close(c);
    assert_int_equal(atomic_load(&losses), 1);
}

/* --- writes --- */

static char resource[256];

struct writing {
    zkr_mutex *m;
    const char *path;
    int64_t timeout_ms;
    bool release;
};

static int change(struct zkt_hold *h, void *arg)
{
    (void)h;
    const struct writing *writing = arg;
    zoo_op_t op;
    zoo_set_op_init(&op, writing->path, "x", 1, -1, NULL);
    return writing->release
               ? zkr_mutex_release_multi(writing->m, 1, &op, NULL, writing->timeout_ms)
               : zkr_mutex_multi(writing->m, 1, &op, NULL, writing->timeout_ms);
}

/* Two threads share a hold of a client behind a proxy, and there is something to write. */
struct two {
    zkt_proxy *p;
    zkr_client *c;
    struct sides s;
    struct zkt_hold *a, *b, *other;
};

static void begin(struct two *t)
{
    (void)snprintf(resource, sizeof(resource), "%s", zkt_unique_path("resource"));
    assert_int_equal(zkt_create_path(zkt_servers(), resource), 0);
    t->p = zkt_proxy_start(zkt_servers());
    t->c = zkt_client(zkt_proxy_host(t->p), SESSION_MS);
    t->s = shares_of(t->c, HOUR_MS);
    t->a = zkt_hold_by(t->c, t->s.r);
    t->b = zkt_hold_by(t->c, t->s.r);
    t->other = zkt_hold_by(t->c, t->s.r);
    ZKT_MUST(zkt_hold_acquire(t->a, PATIENCE_MS));
    ZKT_MUST(zkt_hold_acquire(t->b, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 1);
    ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS); /* the holder's own */
    zkt_door_focus(t->c);
}

static void finish(struct two *t)
{
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
    zkt_hold_end(t->a);
    zkt_hold_end(t->b);
    zkt_hold_end(t->other);
    end_sides(&t->s);
    zkt_close(t->c);
    assert_int_equal(zkt_delete(zkt_servers(), resource), 0);
}

/* While one writes, the other one releases: in either order of coming. */
ZKT_CASE(one_writes_while_another_leaves)
{
    struct writing w = {.path = resource, .timeout_ms = PATIENCE_MS};
    for (int first = 0; first < 2; first++) {
        for (int release = 0; release < 2; release++) {
            struct two t;
            begin(&t);
            struct zkt_hold *writer = first ? t.a : t.b, *leaver = first ? t.b : t.a;
            w.release = release;
            w.m = t.s.r;
            zkt_proxy_freeze(t.p, ZKT_TO_CLIENT);
            zkt_hold_start(writer, change, &w);
            ZKT_BECOMES(zkt_door_count(ZKR__OP_MULTI), 1, PATIENCE_MS);
            ZKT_MUST(zkt_hold_release(leaver));
            assert_int_equal(zkt_door_count(ZKR__OP_DELETE), 0);
            assert_true(zkt_hold_waits(writer));
            zkt_proxy_thaw(t.p, ZKT_TO_CLIENT);
            ZKT_MUST(zkt_hold_finish(writer));
            ZKT_RC(zkt_hold_release(writer), release ? ZKR_ENOTOWNER : ZKR_OK);
            assert_int_equal(zkt_door_count(ZKR__OP_DELETE), 1);
            finish(&t);
        }
    }
}

/* One that has given up waiting for the answer leaves; the answer comes when the other one is gone as well. */
ZKT_CASE(an_answer_may_come_after_all_have_left)
{
    struct two t;
    struct writing w = {.path = resource, .timeout_ms = 50};
    for (int release = 0; release < 2; release++) {
        begin(&t);
        w.release = release;
        w.m = t.s.r;
        zkt_proxy_freeze(t.p, ZKT_TO_CLIENT);
        ZKT_RC(zkt_hold_do(t.b, change, &w), ZKR_ECONNLOSS);
        ZKT_RC(zkt_hold_release(t.b), release ? ZKR_ENOTOWNER : ZKR_OK);
        assert_int_equal(zkt_hold_is_sure(t.a), 1);
        ZKT_MUST(zkt_hold_release(t.a));
        zkt_proxy_thaw(t.p, ZKT_TO_CLIENT);
        finish(&t);
    }
}

/* The node stays as long as another thread holds by it. The last one's transaction deletes it, and nobody joins then. */
ZKT_CASE(who_writes_and_releases_takes_no_other_along)
{
    struct two t;
    struct writing w = {.path = resource, .timeout_ms = PATIENCE_MS, .release = true};
    begin(&t);
    w.m = t.s.r;
    ZKT_MUST(zkt_hold_do(t.a, change, &w));
    ZKT_RC(zkt_hold_release(t.a), ZKR_ENOTOWNER);
    assert_int_equal(zkt_hold_is_sure(t.b), 1);
    assert_int_equal(zkt_nodes(), 1);
    ZKT_MUST(zkt_hold_acquire(t.a, PATIENCE_MS)); /* joins again */
    ZKT_MUST(zkt_hold_release(t.a));
    assert_int_equal(zkt_door_count(ZKR__OP_CREATE), 0);
    zkt_proxy_freeze(t.p, ZKT_TO_CLIENT);
    zkt_hold_start(t.b, change, &w);
    ZKT_BECOMES(zkt_door_count(ZKR__OP_MULTI), 2, PATIENCE_MS);
    zkt_hold_ask(t.other, PATIENCE_MS);
    ZKT_BECOMES(zkt_door_count(ZKR__OP_CREATE), 1, PATIENCE_MS);
    zkt_proxy_thaw(t.p, ZKT_TO_CLIENT);
    ZKT_MUST(zkt_hold_finish(t.b));
    ZKT_MUST(zkt_hold_wait(t.other));
    assert_int_equal(zkt_door_count(ZKR__OP_DELETE), 0);
    assert_int_equal(zkt_nodes(), 1);
    ZKT_MUST(zkt_hold_release(t.other));
    finish(&t);
}

/* What the servers refuse releases nothing, with others beside and without. */
ZKT_CASE(a_refused_write_releases_nothing)
{
    struct two t;
    struct writing w = {
        .path = "/no/such/node", .timeout_ms = PATIENCE_MS, .release = true};
    begin(&t);
    w.m = t.s.r;
    ZKT_RC(zkt_hold_do(t.a, change, &w), ZKR_ENONODE);
    assert_int_equal(zkt_hold_is_sure(t.a), 1);
    ZKT_MUST(zkt_hold_release(t.b));
    ZKT_RC(zkt_hold_do(t.a, change, &w), ZKR_ENONODE);
    assert_int_equal(zkt_hold_is_sure(t.a), 1);
    ZKT_MUST(zkt_hold_release(t.a));
    finish(&t);
}

/* --- the end of the client --- */

/* What is held stays held, and nobody joins. */
ZKT_CASE(a_client_that_is_shut_down_lets_nobody_join)
{
    struct two t;
    begin(&t);
    ZKT_MUST(zkr_client_shutdown(t.c));
    ZKT_RC(zkt_hold_acquire(t.other, PATIENCE_MS), ZKR_ECLOSED);
    assert_int_equal(zkt_hold_is_sure(t.a), 1);
    ZKT_MUST(zkt_hold_release(t.a));
    assert_int_equal(zkt_hold_is_sure(t.b), 1);
    ZKT_MUST(zkt_hold_release(t.b));
    finish(&t);
}
