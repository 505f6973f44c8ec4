/* SPDX-License-Identifier: Apache-2.0 */
/* Whose node it is: one of ours that was deleted, and made again by somebody else under the same name. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "fixture.h"

enum { SESSION_MS = 6000, PATIENCE_MS = 30000, QUIET_MS = 200 };

struct told {
    atomic_int count, reason;
};

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    struct told *told = ctx;
    (void)m;
    atomic_store(&told->reason, (int)lost->reason);
    atomic_fetch_add(&told->count, 1);
}

static zkr_mutex *mutex_that_tells(zkr_client *c, struct told *told)
{
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.on_lost = on_lost;
    o.on_lost_ctx = told;
    return zkt_mutex_with(c, &o);
}

static void make_again(const char *node)
{
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
    assert_int_equal(zkt_create(zkt_servers(), node, "another's", 0), ZKT_OK);
}

/* Cut off meanwhile, a holder is told no more than that its node has changed; or nothing, without a watch. */
static void expect_loss_behind_a_cut(int held_ms)
{
    struct told told = {.count = 0};
    char node[256];
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = mutex_that_tells(c, &told);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    zkt_sleep_ms(held_ms);
    zkt_proxy_cut(p);
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
    expect_loss_behind_a_cut(2000);
}

ZKT_CASE(so_does_one_whose_node_was_not_watched_yet)
{
    expect_loss_behind_a_cut(0);
}

/* Connected, without a watch yet. */
ZKT_CASE(a_node_that_is_not_watched_yet_is_asked_for)
{
    struct told told = {.count = 0};
    char node[256];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = mutex_that_tells(c, &told);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    make_again(node);
    ZKT_BECOMES(atomic_load(&told.count), 1, PATIENCE_MS);
    assert_int_equal(atomic_load(&told.reason), ZKR_LOST_NODE);
    ZKT_RC(zkr_mutex_release(m), ZKR_ESESSION);
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
}

/* One that waits does not hold by a node of another: it enters anew, behind that node. */
ZKT_CASE(a_waiter_that_was_cut_off_enters_anew)
{
    char node[256], now[256] = "";
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *d = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c), *behind = zkt_mutex(d);
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_request(behind, ZKR_FOREVER, NULL, NULL, &t));
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    zkt_list list;
    char held[256];
    ZKT_MUST(zkr_mutex_node(m, held, sizeof(held)));
    assert_int_equal(zkt_children(zkt_servers(), zkt_path(), &list), ZKT_OK);
    bool first = strstr(held, list.name[0]) != NULL;
    (void)snprintf(node, sizeof(node), "%s/%s", zkt_path(), list.name[first ? 1 : 0]);
    zkt_list_free(&list);
    zkt_sleep_ms(1000); /* both are watched */
    zkt_proxy_cut(p);
    make_again(node);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_proxy_heal(p);
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS); /* that one, and a new one */
    zkt_sleep_ms(500);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_WAITING);
    assert_int_equal(zkt_delete(zkt_servers(), node), ZKT_OK);
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    ZKT_MUST(zkr_ticket_node(t, now, sizeof(now)));
    assert_string_not_equal(now, node);
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
}

/* --- options.watch_node of each recipe --- */

enum { MUTEX, WRITER, READER, PERMIT, SEVERAL, RECIPES };

/* A hold by ticket. *object: to be destroyed after it. */
static zkr_ticket *hold_by(int recipe, zkr_client *c, int64_t watch_node, void **object)
{
    zkr_ticket *t = NULL;
    zkr_mutex_options mo = ZKR_MUTEX_OPTIONS_INIT;
    zkr_rwlock_options ro = ZKR_RWLOCK_OPTIONS_INIT;
    zkr_semaphore_options so = ZKR_SEMAPHORE_OPTIONS_INIT;
    zkr_multi_lock_options lo = ZKR_MULTI_LOCK_OPTIONS_INIT;
    const char *const path = zkt_path();
    mo.watch_node = ro.watch_node = so.watch_node = lo.watch_node = watch_node;
    if (recipe == PERMIT) {
        ZKT_MUST(zkr_semaphore_create((zkr_semaphore **)object, c, path, 1, &so));
        ZKT_MUST(zkr_semaphore_acquire(*object, 1, PATIENCE_MS, &t));
    } else if (recipe == SEVERAL) {
        ZKT_MUST(zkr_multi_lock_create((zkr_multi_lock **)object, c, &path, 1, &lo));
        ZKT_MUST(zkr_multi_lock_acquire(*object, PATIENCE_MS, &t));
    } else if (recipe == MUTEX) {
        ZKT_MUST(zkr_mutex_create((zkr_mutex **)object, c, path, &mo));
        ZKT_MUST(zkr_mutex_request(*object, ZKR_FOREVER, NULL, NULL, &t));
    } else {
        ZKT_MUST(zkr_rwlock_create((zkr_rwlock **)object, c, path, &ro));
        ZKT_MUST(zkr_mutex_request(recipe == READER ? zkr_rwlock_reader(*object)
                                                    : zkr_rwlock_writer(*object),
                                   ZKR_FOREVER, NULL, NULL, &t));
    }
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    return t;
}

static void destroy(int recipe, void *object)
{
    ZKT_MUST(recipe == PERMIT    ? zkr_semaphore_destroy(object)
             : recipe == SEVERAL ? zkr_multi_lock_destroy(object)
             : recipe == MUTEX   ? zkr_mutex_destroy(object)
                                 : zkr_rwlock_destroy(object));
}

/* With the option it is missed at once; without, in about a tenth of the session timeout. */
ZKT_CASE(a_watched_node_is_missed_by_every_recipe)
{
    enum { LONG_MS = 40000, SOON_MS = LONG_MS / 12 };
    zkt_server_options so = ZKR_TEST_SERVER_OPTIONS_INIT;
    so.max_session_ms = LONG_MS;
    const char *const servers = zkt_server_host(zkt_server_start(&so));
    zkr_client *c = zkt_client(servers, LONG_MS);
    assert_int_equal(zkr_client_session_timeout_ms(c), LONG_MS);
    for (int recipe = 0; recipe < RECIPES; recipe++) {
        for (int watched = 0; watched < 2; watched++) {
            void *object = NULL;
            char node[256];
            zkr_ticket *t = hold_by(recipe, c, watched, &object);
            ZKT_MUST(zkr_ticket_node(t, node, sizeof(node)));
            assert_int_equal(zkt_delete(servers, node), ZKT_OK);
            if (watched) {
                ZKT_BECOMES(zkr_ticket_state(t), ZKR_TICKET_LOST, SOON_MS);
            } else {
                zkt_sleep_ms(QUIET_MS);
                assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_HELD);
            }
            ZKT_RC(zkr_ticket_release(t), watched ? ZKR_ESESSION : ZKR_OK);
            ZKT_MUST(zkr_ticket_destroy(t));
            destroy(recipe, object);
            ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        }
    }
}
