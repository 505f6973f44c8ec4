/* SPDX-License-Identifier: Apache-2.0 */
/* A node of ours was deleted, and somebody else created a node with the same name. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "fixture.h"

enum { SESSION_MS = 6000, PATIENCE_MS = 30000 };

struct told {
    atomic_int count, reason;
};

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    struct told *told = ctx;
    atomic_store(&told->reason, (int)lost->reason);
    atomic_fetch_add(&told->count, 1);
}

static zkr_mutex *mutex_that_tells(zkr_client *c, struct told *told)
{
    return ZKT_MUTEX_WITH(c, .on_lost = on_lost, .on_lost_ctx = told);
}

static void make_again(const char *node)
{
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
    assert_int_equal(zkt_create(zkt_servers(), node, "another's", 0), ZKT_OK);
}

/*
 * Check that the hold is lost when somebody else creates its node again. A disconnected holder learns only that the
 * node has changed, or nothing if it had no watch.
 */
static void expect_loss(int held_ms, bool cut)
{
    struct told told = {.count = 0};
    char node[256];
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = mutex_that_tells(c, &told);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    zkt_sleep_ms(held_ms);
    if (cut) {
        zkt_proxy_cut(p);
    }
    make_again(node);
    zkt_proxy_heal(p);
    ZKT_BECOMES(atomic_load(&told.count), 1, PATIENCE_MS);
    assert_int_equal(atomic_load(&told.reason), ZKR_LOST_NODE);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    assert_true(zkt_exists(zkt_servers(), node));
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
}

ZKT_CASE(a_holder_that_was_cut_off_asks_whose_node_it_is)
{
    expect_loss(2000, true);
}

ZKT_CASE(so_does_one_whose_node_was_not_watched_yet)
{
    expect_loss(0, true);
}

/* The holder is connected, and has no watch yet. */
ZKT_CASE(a_node_that_is_not_watched_yet_is_asked_for)
{
    expect_loss(0, false);
}

/* A waiter is not granted through the node of somebody else: it queues again, behind that node. */
ZKT_CASE(a_waiter_that_was_cut_off_enters_anew)
{
    char node[256], held[256], now[256] = "";
    zkt_list list;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *d = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkr_ticket *t = zkt_ticket(zkt_mutex(d));
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_node(m, held, sizeof(held)));
    assert_int_equal(zkt_children(zkt_servers(), zkt_path(), &list), ZKT_OK);
    bool first = strstr(held, list.name[0]) != NULL;
    (void)snprintf(node, sizeof(node), "%s/%s", zkt_path(), list.name[first ? 1 : 0]);
    zkt_list_free(&list);
    zkt_sleep_ms(1000); /* both nodes are watched */
    zkt_proxy_cut(p);
    make_again(node);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_proxy_heal(p);
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS); /* that node, and a new one */
    zkt_sleep_ms(500);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_WAITING);
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    ZKT_MUST(zkr_ticket_node(t, now, sizeof(now)));
    assert_string_not_equal(now, node);
}
