/* SPDX-License-Identifier: Apache-2.0 */
/* The leader latch under faults: sessions end, nodes are lost, connections are cut. */
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

/* Two sessions end in quick succession, five times. Callbacks stay in order, and one node is left at the end. */
ZKT_CASE(quick_losses_of_sessions_leave_one_node)
{
    struct zkt_told t;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *l = zkt_telling_latch(c, "a", &t, NULL);
    zkt_lead(l);
    for (int i = 0; i < 5; i++) {
        zkt_expire(c);
        ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
        /* The next session ends while the latch is about to join. */
        zkt_expire_start(c);
        ZKT_EVENTUALLY(zkr_leader_latch_has_leadership(l), PATIENCE_MS);
    }
    ZKT_MUST(zkr_leader_latch_await(l, PATIENCE_MS));
    ZKT_BECOMES(zkt_nodes(), 1, PATIENCE_MS);
    zkt_sleep_ms(SHORT_MS);
    assert_int_equal(zkt_nodes(), 1);
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_NOTIFY));
    assert_int_equal(atomic_load(&t.gains), atomic_load(&t.losses));
    assert_int_equal(atomic_load(&t.bad), 0);
}

/* --- connections --- */

/* With step_down_when_suspended, a disconnect is a loss, and the same term continues after the reconnect. */
ZKT_CASE(stepping_down_when_suspended_keeps_the_node)
{
    struct zkt_told t;
    char before[256], after[256];
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.step_down_when_suspended = 1;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), 10000);
    zkr_leader_latch *l = zkt_telling_latch(c, "a", &t, &o);
    zkt_lead(l);
    ZKT_BECOMES(atomic_load(&t.gains), 1, PATIENCE_MS);
    node_of(l, before);
    int64_t token = atomic_load(&t.token);
    zkt_proxy_cut(p);
    ZKT_BECOMES(atomic_load(&t.losses), 1, PATIENCE_MS);
    assert_int_equal(atomic_load(&t.reason), ZKR_LOST_SUSPENDED);
    assert_false(zkr_leader_latch_has_leadership(l));
    assert_int_equal(zkr_leader_latch_valid_for_ms(l), 0);
    ZKT_RC(zkr_leader_latch_await(l, 0), ZKR_ETIMEDOUT);
    zkt_proxy_heal(p);
    ZKT_MUST(zkr_leader_latch_await(l, PATIENCE_MS));
    ZKT_BECOMES(atomic_load(&t.gains), 2, PATIENCE_MS);
    node_of(l, after);
    assert_string_equal(after, before);
    assert_int_equal(atomic_load(&t.token), token);
    assert_int_equal(atomic_load(&t.bad), 0);
}

/*
 * The client reconnects after the end of the lease, but within the session. The latch leads again with the same node.
 */
ZKT_CASE(a_late_return_costs_the_term_but_not_the_place)
{
    enum { LONG_SESSION_MS = 8000 };
    struct zkt_told ta, tb;
    char before[256], after[256];
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), LONG_SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), LONG_SESSION_MS);
    zkr_leader_latch *a = zkt_telling_latch(c, "a", &ta, NULL);
    zkr_leader_latch *b = zkt_telling_latch(d, "b", &tb, NULL);
    zkt_lead(a);
    ZKT_MUST(zkr_leader_latch_start(b));
    ZKT_EVENTUALLY(zkt_nodes() == 2 && atomic_load(&ta.gains) == 1, PATIENCE_MS);
    node_of(a, before);
    int64_t token = atomic_load(&ta.token);
    /* Wait for the bound of a probe, because the first bound of a new session is the end of the session. */
    ZKT_EVENTUALLY(zkr_leader_latch_valid_for_ms(a) < LONG_SESSION_MS * 3 / 4,
                   PATIENCE_MS);
    zkt_proxy_cut(p);
    ZKT_BECOMES(atomic_load(&ta.losses), 1, PATIENCE_MS);
    assert_int_equal(atomic_load(&ta.reason), ZKR_LOST_LEASE);
    assert_int_equal(zkr_leader_latch_state(a), ZKR_LATCH_WAITING);
    zkt_proxy_heal(p);
    ZKT_BECOMES(atomic_load(&ta.gains), 2, PATIENCE_MS);
    node_of(a, after);
    assert_string_equal(after, before);
    assert_int_equal(atomic_load(&ta.token), token);
    assert_int_equal(atomic_load(&tb.gains), 0);
    assert_int_equal(atomic_load(&ta.bad), 0);
}

/* The latch cannot find out whether its node still exists. The candidacy fails, and the node is deleted. */
ZKT_CASE(a_leader_in_doubt_that_may_not_read_its_node_is_no_candidate)
{
    enum { LONG_SESSION_MS = 8000 };
    struct zkt_told told;
    char node[256];
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), LONG_SESSION_MS);
    zkr_leader_latch *l = zkt_telling_latch(c, "a", &told, NULL);
    zkt_lead(l);
    node_of(l, node);
    ZKT_EVENTUALLY(zkr_leader_latch_valid_for_ms(l) < LONG_SESSION_MS * 3 / 4,
                   PATIENCE_MS);
    zkt_proxy_cut(p);
    ZKT_BECOMES(atomic_load(&told.losses), 1, PATIENCE_MS);
    assert_int_equal(zkt_set_acl(zkt_servers(), node, ZKT_ALL & ~ZKT_READ), ZKT_OK);
    zkt_proxy_heal(p);
    ZKT_BECOMES(atomic_load(&told.failures), 1, PATIENCE_MS);
    ZKT_RC(zkr_leader_latch_await(l, 0), ZKR_EAUTH);
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
    assert_int_equal(atomic_load(&told.bad), 0);
}
