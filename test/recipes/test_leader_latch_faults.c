/* SPDX-License-Identifier: Apache-2.0 */
/* The leader latch on bad days: sessions end, nodes go, lines are cut. */
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "fixture.h"
#include "latches.h"

enum { SESSION_MS = 3000, PATIENCE_MS = 20000, SHORT_MS = 100 };

static void node_of(zkr_leader_latch *l, char node[256])
{
    ZKT_MUST(zkr_leader_latch_node(l, node, 256));
}

/* --- sessions --- */

/* The end of the session is told, and the latch leads again in the next, with a higher token. */
static void a_leader_whose_session_ends_joins_again(void **state)
{
    (void)state;
    struct zkt_told t;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *l = zkt_telling_latch(c, "a", &t, NULL);
    zkt_lead(l);
    ZKT_EVENTUALLY(atomic_load(&t.gains) == 1, PATIENCE_MS);
    int64_t first = atomic_load(&t.token);
    zkt_expire_start(c);
    ZKT_EVENTUALLY(atomic_load(&t.gains) == 2, PATIENCE_MS);
    assert_int_equal(atomic_load(&t.losses), 1);
    /* The server deletes the node first; that event may still reach us. */
    int reason = atomic_load(&t.reason);
    assert_true(reason == ZKR_LOST_SESSION || reason == ZKR_LOST_NODE);
    assert_true(atomic_load(&t.token) > first);
    assert_int_equal(zkt_candidates(), 1);
    assert_int_equal(atomic_load(&t.bad), 0);
    zkt_end_latch(l);
    zkt_close(c);
}

/* Two sessions end in quick succession, again and again: never out of turn, one node at the end. */
static void quick_losses_of_sessions_leave_one_node(void **state)
{
    (void)state;
    struct zkt_told t;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *l = zkt_telling_latch(c, "a", &t, NULL);
    zkt_lead(l);
    for (int i = 0; i < 5; i++) {
        zkt_expire(c);
        ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
        zkt_expire_start(c); /* the next, while the latch is about to join */
        ZKT_EVENTUALLY(zkr_leader_latch_has_leadership(l), PATIENCE_MS);
    }
    ZKT_MUST(zkr_leader_latch_await(l, PATIENCE_MS));
    ZKT_EVENTUALLY(zkt_candidates() == 1, PATIENCE_MS);
    zkt_sleep_ms(SHORT_MS);
    assert_int_equal(zkt_candidates(), 1);
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_NOTIFY));
    assert_int_equal(atomic_load(&t.gains), atomic_load(&t.losses));
    assert_int_equal(atomic_load(&t.bad), 0);
    zkt_end_latch(l);
    zkt_close(c);
}

/* The other one leads then; the old leader reports one loss and gains nothing from its dead node. */
static void the_next_leads_when_a_session_ends(void **state)
{
    (void)state;
    struct zkt_told ta, tb;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *a = zkt_telling_latch(c, "a", &ta, NULL);
    zkr_leader_latch *b = zkt_telling_latch(d, "b", &tb, NULL);
    zkt_lead(a);
    ZKT_EVENTUALLY(atomic_load(&ta.gains) == 1, PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_start(b));
    ZKT_EVENTUALLY(zkt_candidates() == 2, PATIENCE_MS);
    zkt_expire_start(c);
    ZKT_MUST(zkr_leader_latch_await(b, PATIENCE_MS));
    ZKT_EVENTUALLY(zkt_candidates() == 2, PATIENCE_MS);
    ZKT_EVENTUALLY(atomic_load(&tb.gains) == 1, PATIENCE_MS);
    assert_false(zkr_leader_latch_has_leadership(a));
    ZKT_EVENTUALLY(atomic_load(&ta.losses) == 1, PATIENCE_MS);
    assert_int_equal(atomic_load(&ta.gains), 1);
    assert_true(atomic_load(&tb.token) > atomic_load(&ta.token));
    zkt_end_latch(a);
    zkt_end_latch(b);
    zkt_close(c);
    zkt_close(d);
}

/* --- the node is deleted by hand --- */

static void a_deleted_node_is_a_loss_and_the_latch_joins_again(void **state)
{
    (void)state;
    struct zkt_told t;
    char node[256];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *l = zkt_telling_latch(c, "a", &t, NULL);
    zkt_lead(l);
    ZKT_EVENTUALLY(atomic_load(&t.gains) == 1, PATIENCE_MS);
    node_of(l, node);
    zkt_delete(zkt_servers(), node);
    ZKT_EVENTUALLY(atomic_load(&t.gains) == 2, PATIENCE_MS);
    assert_int_equal(atomic_load(&t.losses), 1);
    assert_int_equal(atomic_load(&t.reason), ZKR_LOST_NODE);
    assert_int_equal(atomic_load(&t.bad), 0);
    zkt_end_latch(l);
    zkt_close(c);
}

/* A candidate whose node is deleted while it waits joins again, too. */
static void a_deleted_waiter_is_back_within_a_second(void **state)
{
    (void)state;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *a = zkt_latch(c, "a", NULL), *b = zkt_latch(d, "b", NULL);
    zkr_contenders *list = NULL;
    char path[512];
    zkt_lead(a);
    ZKT_MUST(zkr_leader_latch_start(b));
    ZKT_EVENTUALLY(zkt_candidates() == 2, PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_participants(a, &list));
    (void)snprintf(path, sizeof(path), "%s/%s", zkt_path(),
                   zkr_contenders_get(list, 1)->node);
    zkr_contenders_free(list);
    zkt_delete(zkt_servers(), path);
    ZKT_EVENTUALLY(zkt_candidates() == 2, 1500);
    ZKT_MUST(zkr_leader_latch_stop(a, ZKR_LATCH_SILENT));
    ZKT_MUST(zkr_leader_latch_await(b, PATIENCE_MS));
    zkt_end_latch(a);
    zkt_end_latch(b);
    zkt_close(c);
    zkt_close(d);
}

/* --- lines --- */

/* A short cut: the same session, the same node, and by default nobody is told anything. */
static void a_short_cut_costs_neither_place_nor_term(void **state)
{
    (void)state;
    struct zkt_told t;
    char before[256], after[256];
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_leader_latch *l = zkt_telling_latch(c, "a", &t, NULL);
    zkt_lead(l);
    ZKT_EVENTUALLY(atomic_load(&t.gains) == 1, PATIENCE_MS);
    node_of(l, before);
    zkt_proxy_drop_connections(p);
    ZKT_EVENTUALLY(zkt_reconnects(c) == 1, PATIENCE_MS);
    assert_true(zkr_leader_latch_has_leadership(l)); /* up to the bound */
    zkt_sleep_ms(SESSION_MS / 2);
    node_of(l, after);
    assert_string_equal(after, before);
    assert_int_equal(atomic_load(&t.gains), 1);
    assert_int_equal(atomic_load(&t.losses), 0);
    zkt_end_latch(l);
    zkt_close(c);
    zkt_proxy_stop(p);
}

/* With the option the disconnect itself is a loss, and the same term goes on afterwards. */
static void stepping_down_when_suspended_keeps_the_node(void **state)
{
    (void)state;
    struct zkt_told t;
    char before[256], after[256];
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.step_down_when_suspended = 1;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), 10000);
    zkr_leader_latch *l = zkt_telling_latch(c, "a", &t, &o);
    zkt_lead(l);
    ZKT_EVENTUALLY(atomic_load(&t.gains) == 1, PATIENCE_MS);
    node_of(l, before);
    int64_t token = atomic_load(&t.token);
    zkt_proxy_cut(p);
    ZKT_EVENTUALLY(atomic_load(&t.losses) == 1, PATIENCE_MS);
    assert_int_equal(atomic_load(&t.reason), ZKR_LOST_SUSPENDED);
    assert_false(zkr_leader_latch_has_leadership(l));
    assert_int_equal(zkr_leader_latch_valid_for_ms(l), 0);
    assert_int_equal(zkr_leader_latch_await(l, 0), ZKR_ETIMEDOUT);
    zkt_proxy_heal(p);
    ZKT_MUST(zkr_leader_latch_await(l, PATIENCE_MS));
    ZKT_EVENTUALLY(atomic_load(&t.gains) == 2, PATIENCE_MS);
    node_of(l, after);
    assert_string_equal(after, before);
    assert_int_equal(atomic_load(&t.token), token);
    assert_int_equal(atomic_load(&t.bad), 0);
    zkt_end_latch(l);
    zkt_close(c);
    zkt_proxy_stop(p);
}

/* A long cut: lost at the lease bound, before the session can end, and back when it heals. */
static void a_silent_line_is_a_loss_before_the_session_ends(void **state)
{
    (void)state;
    struct zkt_told t;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *l = zkt_telling_latch(c, "a", &t, NULL);
    zkr_leader_latch *next = zkt_latch(d, "b", NULL);
    zkt_lead(l);
    ZKT_EVENTUALLY(atomic_load(&t.gains) == 1, PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_start(next));
    ZKT_EVENTUALLY(zkt_candidates() == 2, PATIENCE_MS);
    zkt_proxy_blackhole(p);
    ZKT_MUST(zkr_leader_latch_await(next, PATIENCE_MS));
    int64_t taken = zkt_now_ms();
    assert_false(zkr_leader_latch_has_leadership(l));
    assert_int_equal(atomic_load(&t.losses), 1);
    assert_true(atomic_load(&t.lost_at_ms) < taken);
    zkt_proxy_heal(p);
    ZKT_MUST(zkr_leader_latch_stop(next, ZKR_LATCH_SILENT));
    ZKT_MUST(zkr_leader_latch_await(l, PATIENCE_MS));
    ZKT_EVENTUALLY(atomic_load(&t.gains) == 2, PATIENCE_MS);
    assert_int_equal(zkt_candidates(), 1);
    zkt_end_latch(l);
    zkt_end_latch(next);
    zkt_close(c);
    zkt_close(d);
    zkt_proxy_stop(p);
}

/* Back after the lease bound, but within the session: it leads on in its old place. */
static void a_late_return_costs_the_term_but_not_the_place(void **state)
{
    enum { LONG_SESSION_MS = 8000 };
    (void)state;
    struct zkt_told ta, tb;
    char before[256], after[256];
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), LONG_SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), LONG_SESSION_MS);
    zkr_leader_latch *a = zkt_telling_latch(c, "a", &ta, NULL);
    zkr_leader_latch *b = zkt_telling_latch(d, "b", &tb, NULL);
    zkt_lead(a);
    ZKT_MUST(zkr_leader_latch_start(b));
    ZKT_EVENTUALLY(zkt_candidates() == 2 && atomic_load(&ta.gains) == 1, PATIENCE_MS);
    node_of(a, before);
    int64_t token = atomic_load(&ta.token);
    /* A new session's first bound is the session's own end: wait for one of the probes. */
    ZKT_EVENTUALLY(zkr_leader_latch_valid_for_ms(a) < LONG_SESSION_MS * 3 / 4,
                   PATIENCE_MS);
    zkt_proxy_cut(p);
    ZKT_EVENTUALLY(atomic_load(&ta.losses) == 1, PATIENCE_MS);
    assert_int_equal(atomic_load(&ta.reason), ZKR_LOST_LEASE);
    assert_int_equal(zkr_leader_latch_state(a), ZKR_LATCH_WAITING);
    zkt_proxy_heal(p);
    ZKT_EVENTUALLY(atomic_load(&ta.gains) == 2, PATIENCE_MS);
    node_of(a, after);
    assert_string_equal(after, before);
    assert_int_equal(atomic_load(&ta.token), token);
    assert_int_equal(atomic_load(&tb.gains), 0);
    assert_int_equal(atomic_load(&ta.bad), 0);
    zkt_end_latch(b);
    zkt_end_latch(a);
    zkt_close(c);
    zkt_close(d);
    zkt_proxy_stop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ZKT_TEST(a_leader_whose_session_ends_joins_again),
        ZKT_TEST(quick_losses_of_sessions_leave_one_node),
        ZKT_TEST(the_next_leads_when_a_session_ends),
        ZKT_TEST(a_deleted_node_is_a_loss_and_the_latch_joins_again),
        ZKT_TEST(a_deleted_waiter_is_back_within_a_second),
        ZKT_TEST(a_short_cut_costs_neither_place_nor_term),
        ZKT_TEST(stepping_down_when_suspended_keeps_the_node),
        ZKT_TEST(a_silent_line_is_a_loss_before_the_session_ends),
        ZKT_TEST(a_late_return_costs_the_term_but_not_the_place),
    };
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}
