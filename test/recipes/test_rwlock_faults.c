/* SPDX-License-Identifier: Apache-2.0 */
/* Read-write locks under faults: downgrades that cannot be made, and the loss of the hold in each state. */
#include <stdio.h>
#include <string.h>

#include "rwlocks.h"

enum { SESSION_MS = 10000, LONG_MS = 20000, PATIENCE_MS = 30000 };

/* --- the connection --- */

/* A downgrade that begins without a connection is made on the next connection. */
ZKT_CASE(a_downgrade_without_a_connection_is_made_up_for)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), LONG_MS);
    zkr_client *other = zkt_client(zkt_servers(), SESSION_MS);
    struct sides s = sides_of(c), o = sides_of(other);
    for (int at_once = 0; at_once < 2; at_once++) {
        struct zkt_actor reader;
        hold_both(&s);
        zkt_actor_queue(&reader, other, o.r, NULL);
        zkt_proxy_cut(p);
        ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
        ZKT_MUST(zkr_mutex_release(s.w));
        assert_true(zkr_mutex_is_held(s.r));
        if (at_once) {
            ZKT_MUST(zkr_mutex_release(s.r));
        }
        zkt_proxy_heal(p);
        zkt_actor_is_served(&reader);
        if (!at_once) {
            assert_true(zkr_mutex_is_held(s.r));
            ZKT_MUST(zkr_mutex_release(s.r));
        }
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        ZKT_MUST(zkr_client_flush(other, PATIENCE_MS));
        assert_int_equal(zkt_nodes(), 0);
    }
}

/* --- loss --- */

struct losses {
    struct sides s;
    atomic_int reads, writes;
};

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    struct losses *l = ctx;
    atomic_fetch_add(m == l->s.r ? &l->reads : &l->writes, 1);
}

static void lock_with(zkr_client *c, struct losses *l)
{
    memset(l, 0, sizeof(*l));
    l->s = SIDES_WITH(c, .on_lost = on_lost, .on_lost_ctx = l, .watch_node = 1);
}

static void expect_lost(zkr_mutex *m)
{
    int64_t token;
    assert_false(zkr_mutex_is_held(m));
    assert_int_equal(zkr_mutex_valid_for_ms(m), 0);
    ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ESESSION);
    ZKT_RC(zkr_mutex_fencing_token(m, &token), ZKR_ESESSION);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    ZKT_RC(zkr_mutex_release(m), ZKR_ENOTOWNER);
}

/* Check that the same objects work again, and leave no node. */
static void works_again(const struct sides *s)
{
    hold_both(s);
    ZKT_MUST(zkr_mutex_release(s->w));
    ZKT_MUST(zkr_mutex_release(s->r));
    ZKT_MUST(zkr_client_flush(s->c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
}

enum { READS, WRITES, BOTH, BOTH_READ_FIRST, DOWNGRADED, STATES };

static void enter_state(const struct sides *s, int which)
{
    if (which != READS) {
        ZKT_MUST(zkr_mutex_acquire(s->w, PATIENCE_MS));
    }
    if (which != WRITES) {
        ZKT_MUST(zkr_mutex_acquire(s->r, PATIENCE_MS));
    }
    if (which == DOWNGRADED) {
        ZKT_MUST(zkr_mutex_release(s->w));
    }
}

static void expect_all_lost(struct losses *l, int which)
{
    bool writes = which != READS && which != DOWNGRADED, reads = which != WRITES;
    ZKT_BECOMES(atomic_load(&l->reads), reads, PATIENCE_MS);
    ZKT_BECOMES(atomic_load(&l->writes), writes, PATIENCE_MS);
    if (reads && which == BOTH_READ_FIRST) {
        expect_lost(l->s.r);
    }
    if (writes) {
        /* A lost hold does not admit the other side. */
        ZKT_RC(zkr_mutex_acquire(l->s.r, 0), ZKR_ESESSION);
        expect_lost(l->s.w);
    }
    if (reads && which != BOTH_READ_FIRST) {
        ZKT_RC(zkr_mutex_acquire(l->s.w, 0), ZKR_ESESSION);
        expect_lost(l->s.r);
    }
}

/*
 * The session ends, or the node is deleted, in each state. The loss is reported once for each held side, and no READ
 * node is created.
 */
ZKT_CASE(a_loss_is_one_of_each_side)
{
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    for (int way = 0; way < 2 * STATES; way++) {
        const int which = way / 2;
        char node[256];
        struct losses l;
        lock_with(c, &l);
        enter_state(&l.s, which);
        if (way % 2) {
            ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
            zkt_lone_node(node, sizeof(node));
            assert_int_equal(zkt_delete(zkt_servers(), node), 0);
        } else {
            zkt_expire(c);
            ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
        }
        zkt_door_focus(c);
        expect_all_lost(&l, which);
        assert_int_equal(zkt_door_count(ZKR__OP_MULTI), 0);
        assert_int_equal(zkt_nodes(), 0);
        works_again(&l.s);
        end_sides(&l.s);
    }
}

static void delete_it(void *node)
{
    (void)zkt_delete(zkt_servers(), node);
}

/*
 * The node is deleted just before the downgrade reaches the server. The refused downgrade is a loss, and no
 * node is left.
 */
ZKT_CASE(a_node_that_is_gone_cannot_be_downgraded)
{
    char node[256];
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    struct losses l;
    lock_with(c, &l);
    hold_both(&l.s);
    ZKT_MUST(zkr_mutex_node(l.s.w, node, sizeof(node)));
    zkt_sleep_ms(200); /* time for its watch */
    zkt_door_focus(c);
    zkt_door_before(1, delete_it, node);
    ZKT_MUST(zkr_mutex_release(l.s.w));
    assert_true(zkt_door_fired());
    assert_int_equal(zkt_door_count(ZKR__OP_MULTI), 1);
    ZKT_BECOMES(atomic_load(&l.reads), 1, PATIENCE_MS);
    expect_lost(l.s.r);
    assert_int_equal(zkt_nodes(), 0);
    works_again(&l.s);
}

/* A server refuses the downgrade. The hold goes on with its WRIT node, and others wait for it. */
ZKT_CASE(a_refused_downgrade_costs_no_hold)
{
    char before[256], after[256];
    struct sides s = new_sides(), o = new_sides();
    struct zkt_actor reader;
    hold_both(&s);
    int64_t token = token_of(s.w);
    ZKT_MUST(zkr_mutex_node(s.w, before, sizeof(before)));
    (void)snprintf(after, sizeof(after), "%s", before);
    memcpy(strstr(after, "__WRIT__"), "__READ__", 8);
    assert_int_equal(zkt_create(zkt_servers(), after, "", 0), 0);
    zkt_actor_queue(&reader, o.c, o.r, NULL);
    ZKT_MUST(zkr_mutex_release(s.w));
    ZKT_EVENTUALLY(zkr_mutex_node(s.r, after, sizeof(after)) == ZKR_OK &&
                       strcmp(before, after) == 0,
                   PATIENCE_MS);
    assert_true(zkr_mutex_is_held(s.r));
    assert_true(token_of(s.r) == token);
    assert_int_equal(atomic_load(&reader.acquired), ZKT_NOT_YET);
    ZKT_MUST(zkr_mutex_release(s.r));
    zkt_actor_is_served(&reader);
    ZKT_MUST(zkr_client_flush(s.c, PATIENCE_MS));
    ZKT_MUST(zkr_client_flush(o.c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 1); /* the node that the test created */
}

/*
 * The client is disconnected until its lease ends. The hold is lost, and releasing the write side makes no downgrade.
 */
ZKT_CASE(past_the_lease_bound_nothing_is_downgraded)
{
    enum { SHORT_MS = 2000 };
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SHORT_MS);
    for (int downgraded = 0; downgraded < 2; downgraded++) {
        struct losses l;
        lock_with(c, &l);
        hold_both(&l.s);
        zkt_proxy_cut(p);
        if (downgraded) {
            /* The downgrade is due, and never made. */
            ZKT_MUST(zkr_mutex_release(l.s.w));
        }
        ZKT_EVENTUALLY(!zkr_mutex_is_held(l.s.r), PATIENCE_MS);
        zkt_door_focus(c);
        if (!downgraded) {
            ZKT_RC(zkr_mutex_release(l.s.w), ZKR_ESESSION);
        }
        zkt_proxy_heal(p);
        ZKT_RC(zkr_mutex_release(l.s.r), ZKR_ESESSION);
        ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
        assert_int_equal(zkt_door_count(ZKR__OP_MULTI), 0);
        ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
        works_again(&l.s);
        end_sides(&l.s);
    }
}
