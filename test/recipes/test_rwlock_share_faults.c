/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that read by one node: its loss, writes under it, the end of the client, and no memory. */
#include <stdio.h>
#include <string.h>

#include "rwlock_shares.h"

enum { SHORT_MS = 2000, MEMBERS = 3 };

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
