/* SPDX-License-Identifier: Apache-2.0 */
/* Holds and waiters of every kind after the loss of a session, a node, a connection or a server. */
#include <signal.h>
#include <string.h>

#include "actor.h"
#include "fourlw.h"
#include "hold.h"

enum { SESSION_MS = 3000, LONG_MS = 20000, PATIENCE_MS = 30000 };
enum { TICK_MS = 500, SLACK_MS = 10000 };

/*
 * Check that a loss is reported once, by the callback and by all functions, and that the hold can be acquired again
 * long before any timeout. Leaders lead again without a call.
 */
static void expect_lost(struct zkt_hold *h, int gains, int64_t first_token)
{
    int64_t token = 0;
    ZKT_BECOMES(zkt_hold_losses(h), 1, PATIENCE_MS);
    if (zkt_is(ZKT_LEADERS)) {
        ZKT_BECOMES(zkt_hold_gains(h), gains + 1, PATIENCE_MS);
        ZKT_EVENTUALLY(zkt_hold_is_sure(h), PATIENCE_MS);
    } else {
        assert_false(zkt_hold_is_sure(h));
        assert_int_equal(zkt_hold_valid_for_ms(h), 0);
        ZKT_RC(zkt_hold_token(h, &token), ZKR_ESESSION);
        ZKT_RC(zkt_hold_release(h), ZKR_ESESSION);
        ZKT_MUST(zkt_hold_acquire(h, LONG_MS / 4));
    }
    ZKT_MUST(zkt_hold_token(h, &token));
    assert_true(token > first_token);
    ZKT_MUST(zkt_hold_release(h));
    ZKT_MUST(zkr_client_flush(zkt_hold_client(h), PATIENCE_MS));
    assert_int_equal(zkt_hold_nodes(), 0);
    assert_int_equal(zkt_hold_losses(h), 1);
}

/*
 * Returns whether the loss has this reason. When a session ends, the server deletes the node first, and the event of
 * the deletion may arrive before the end of the session is known. A selector reports no reason.
 */
static bool is_reason(const struct zkt_hold *h, int reason)
{
    return zkt_hold_reason(h) == reason || zkt_is(ZKT_BIT(ZKT_SELECTOR)) ||
           (reason == ZKR_LOST_SESSION && zkt_hold_reason(h) == ZKR_LOST_NODE);
}

static int hold(struct zkt_hold *h, int64_t *token)
{
    ZKT_MUST(zkt_hold_acquire(h, PATIENCE_MS));
    ZKT_MUST(zkt_hold_token(h, token));
    if (zkt_is(ZKT_LEADERS)) {
        ZKT_BECOMES(zkt_hold_gains(h), 1, PATIENCE_MS);
    }
    return zkt_hold_gains(h);
}

ZKT_HOLD_CASE(an_expired_session_is_a_loss, ZKT_NONE)
{
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    struct zkt_hold *h = zkt_hold(c);
    int64_t token;
    int gains = hold(h, &token);
    zkt_expire(c);
    ZKT_BECOMES(zkt_hold_losses(h), 1, PATIENCE_MS);
    assert_true(is_reason(h, ZKR_LOST_SESSION));
    expect_lost(h, gains, token);
}

/*
 * Somebody deletes any one node of the hold. The watch reports the loss at once, long before any timeout, and the other
 * nodes are deleted.
 */
ZKT_HOLD_CASE(a_deleted_node_is_a_loss, ZKT_NONE)
{
    for (int n = 0; n < zkt_hold_nodes_of_one(); n++) {
        zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
        struct zkt_hold *h = zkt_hold(c);
        int64_t token;
        int gains = hold(h, &token);
        ZKT_EVENTUALLY(zkt_watches() >= zkt_hold_nodes_of_one() && zkt_all_answered(c),
                       PATIENCE_MS);
        int64_t before = zkt_now_ms();
        assert_true(zkt_hold_delete_nth(n));
        ZKT_BECOMES(zkt_hold_losses(h), 1, PATIENCE_MS);
        ZKT_IN_RANGE(zkt_now_ms() - before, 0, LONG_MS / 4);
        assert_true(is_reason(h, ZKR_LOST_NODE));
        if (!zkt_is(ZKT_LEADERS)) { /* leaders queue again */
            ZKT_BECOMES(zkt_hold_nodes(), 0, PATIENCE_MS);
        }
        expect_lost(h, gains, token);
    }
}

/*
 * With options.watch_node, the loss is noticed at once. Without this option, it is noticed after about a tenth of the
 * session timeout.
 */
ZKT_CASE(a_watched_node_is_missed)
{
    enum { LONGER_MS = 40000, SOON_MS = LONGER_MS / 12, QUIET_MS = 200 };
    zkt_server_options so = ZKR_TEST_SERVER_OPTIONS_INIT;
    so.max_session_ms = LONGER_MS;
    const char *const servers = zkt_server_host(zkt_server_start(&so));
    zkr_client *c = zkt_client(servers, LONGER_MS);
    assert_int_equal(zkr_client_session_timeout_ms(c), LONGER_MS);
    for (int i = 0; i < 2 * ZKT_LATCH; i++) { /* leaders always watch their nodes */
        const enum zkt_kinds kind = (enum zkt_kinds)(i / 2);
        const bool watched = i % 2;
        char node[256];
        if (kind == ZKT_DOWNGRADED && !watched) {
            continue; /* the downgrade sets a watch */
        }
        struct zkt_hold *h =
            watched ? zkt_hold_of_watched(c, kind) : zkt_hold_of(c, kind);
        ZKT_MUST(zkt_hold_acquire(h, PATIENCE_MS));
        ZKT_MUST(zkt_hold_node(h, node, sizeof(node)));
        ZKT_EVENTUALLY(zkt_delete(servers, node) == ZKT_OK, PATIENCE_MS);
        if (watched) {
            ZKT_BECOMES(zkt_hold_losses(h), 1, SOON_MS);
        } else {
            zkt_sleep_ms(QUIET_MS);
            assert_true(zkt_hold_is_sure(h));
        }
        ZKT_RC(zkt_hold_release(h), watched ? ZKR_ESESSION : ZKR_OK);
        zkt_hold_end(h);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
}

/*
 * The loss of its session or node is not reported to a waiter: it queues again, within a second after the loss
 * of a node.
 */
ZKT_HOLD_CASE(who_waits_gets_over_a_loss, ZKT_NONE)
{
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    struct zkt_hold *h = zkt_hold(c);
    struct zkt_hold *other = zkt_hold_in_the_way(zkt_client(zkt_servers(), LONG_MS));
    ZKT_MUST(zkt_hold_acquire(other, PATIENCE_MS));
    zkt_hold_queue(h);
    int nodes = zkt_hold_nodes();
    for (int n = 0; n < (zkt_is(ZKT_BIT(ZKT_MULTI)) ? zkt_hold_nodes_of_one() : 1);
         n++) {
        ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
        assert_true(zkt_hold_delete_nth(n));
        ZKT_BECOMES(zkt_hold_nodes(), nodes, 1500);
    }
    zkt_expire(c);
    ZKT_BECOMES(zkt_hold_nodes(), nodes, PATIENCE_MS);
    assert_true(zkt_hold_waits(h));
    ZKT_MUST(zkt_hold_release(other));
    ZKT_MUST(zkt_hold_wait(h));
    assert_int_equal(zkt_hold_losses(h), 0);
}

/*
 * A connection that breaks and recovers within the session changes nothing: the hold keeps its node, and a waiter keeps
 * its place.
 */
ZKT_HOLD_CASE(a_cut_within_the_session_changes_nothing, ZKT_READERS)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), LONG_MS);
    struct zkt_hold *h = zkt_hold(c), *behind = zkt_hold_beside(h);
    char before[256], after[256];
    int64_t token, same;
    (void)hold(h, &token);
    ZKT_MUST(zkt_hold_node(h, before, sizeof(before)));
    zkt_hold_queue(behind);
    ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
    int nodes = zkt_hold_nodes(), reconnects = (int)zkt_reconnects(c);
    for (int i = 0; i < 3; i++) {
        zkt_proxy_drop_connections(p);
        ZKT_BECOMES(zkt_reconnects(c), reconnects + i + 1, PATIENCE_MS);
        assert_true(zkt_hold_is_sure(h) && zkt_hold_waits(behind));
        assert_int_equal(zkt_hold_nodes(), nodes);
    }
    ZKT_MUST(zkt_hold_node(h, after, sizeof(after)));
    assert_string_equal(before, after);
    ZKT_MUST(zkt_hold_token(h, &same));
    assert_int_equal(same, token);
    ZKT_MUST(zkt_hold_release(h));
    ZKT_MUST(zkt_hold_wait(behind));
    assert_int_equal(zkt_hold_losses(h), 0);
}

/* --- cases that take long: all kinds at the same time --- */

static void hold_each(zkr_client *c, struct zkt_hold *h[ZKT_KINDS])
{
    for (int kind = 0; kind < ZKT_KINDS; kind++) {
        h[kind] = zkt_hold_of(c, (enum zkt_kinds)kind);
        ZKT_MUST(zkt_hold_acquire(h[kind], PATIENCE_MS));
    }
}

static int sure_of(struct zkt_hold *h[ZKT_KINDS])
{
    int sure = 0;
    for (int kind = 0; kind < ZKT_KINDS; kind++) {
        sure += zkt_hold_is_sure(h[kind]);
    }
    return sure;
}

static bool leads(int kind)
{
    return (ZKT_BIT(kind) & ZKT_LEADERS) != 0;
}

static void release_each(struct zkt_hold *h[ZKT_KINDS], int wanted)
{
    for (int kind = 0; kind < ZKT_KINDS; kind++) {
        ZKT_RC(zkt_hold_release(h[kind]), leads(kind) ? ZKR_OK : wanted);
    }
}

/* A healthy hold remains sure as long as it is held, beyond the end of a lease that is not renewed. */
ZKT_CASE(a_healthy_lease_never_runs_out)
{
    enum { HEALTHY_MS = 6000 }; /* a server may stall for half of this time */
    struct zkt_hold *h[ZKT_KINDS];
    hold_each(zkt_client(zkt_servers(), HEALTHY_MS), h);
    for (int64_t end = zkt_now_ms() + HEALTHY_MS * 3 / 2; zkt_now_ms() < end;) {
        assert_int_equal(sure_of(h), ZKT_KINDS);
        zkt_sleep_ms(5);
    }
    release_each(h, ZKR_OK);
}

/*
 * Without a connection, all holds end and are reported before the server deletes a node. Later, all of them can be
 * acquired again.
 */
ZKT_CASE(the_lease_ends_before_the_node_does)
{
    struct zkt_hold *h[ZKT_KINDS];
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    hold_each(c, h);
    /* Wait for the bound of a probe, because the first bound of a session is the end of the session. */
    ZKT_EVENTUALLY(zkr_client_valid_for_ms(c) < SESSION_MS * 3 / 4, PATIENCE_MS);
    assert_int_equal(sure_of(h), ZKT_KINDS);
    zkt_proxy_blackhole(p);
    ZKT_BECOMES(sure_of(h), 0, PATIENCE_MS);
    for (int kind = 0; kind < ZKT_KINDS; kind++) {
        ZKT_BECOMES(zkt_hold_losses(h[kind]), 1, PATIENCE_MS);
        assert_int_equal(zkt_hold_valid_for_ms(h[kind]), 0);
    }
    assert_int_equal(zkt_hold_nodes(), zkt_hold_nodes_of_each());
    ZKT_BECOMES(zkt_hold_nodes(), 0, PATIENCE_MS);
    zkt_proxy_heal(p);
    release_each(h, ZKR_ESESSION);
    for (int kind = 0; kind < ZKT_KINDS; kind++) {
        ZKT_MUST(zkt_hold_acquire(h[kind], PATIENCE_MS));
        assert_int_equal(zkt_hold_losses(h[kind]), 1);
    }
}

/* Without probes, validity is unknown, and no hold is lost before the end of the session. */
ZKT_CASE(without_probes_validity_is_unknown)
{
    zkr_client *c = ZKT_CLIENT_WITH(zkt_servers(), .session_timeout_ms = SESSION_MS,
                                    .lease_probe_ms = -1);
    struct zkt_hold *h[ZKT_KINDS];
    hold_each(c, h);
    zkt_sleep_ms(SESSION_MS * 3 / 2);
    /* A selector reports its validity only to take_leadership(). */
    for (int kind = 0; kind < ZKT_SELECTOR; kind++) {
        assert_int_equal(zkt_hold_valid_for_ms(h[kind]), ZKR_UNKNOWN);
    }
    assert_int_equal(sure_of(h), ZKT_KINDS);
    assert_int_equal(zkt_stats(c).probes, 0);
    release_each(h, ZKR_OK);
}

struct stopped {
    /* true = the first call is a re-entrant acquire; false = it asks whether a hold is held. */
    bool asks_by_acquire;
    pid_t pid;
    atomic_int holds; /* all kinds are held */
    atomic_int over;  /* the session is over; the next call is the first */
    /* Number of holds that were reported as held; -1 = not known yet. */
    atomic_int sure;
};

/*
 * Hold with all kinds, and count the holds that are still reported after the session is over. Leaders may lead again by
 * then, so their holds are not counted.
 */
static int hold_and_watch(void *arg)
{
    struct stopped *k = arg;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct zkt_hold *h[ZKT_KINDS];
    hold_each(c, h);
    atomic_store(&k->holds, 1);
    while (!atomic_load(&k->over)) {
    }
    int sure = k->asks_by_acquire && zkt_hold_acquire(h[ZKT_MUTEX], 0) != ZKR_ESESSION;
    for (int kind = 0; kind < ZKT_LATCH; kind++) {
        sure += zkt_hold_is_sure(h[kind]);
    }
    atomic_store(&k->sure, sure);
    for (int kind = 0; kind < ZKT_KINDS; kind++) {
        ZKT_RC(zkt_hold_release(h[kind]), leads(kind) ? ZKR_OK : ZKR_ESESSION);
        zkt_hold_end(h[kind]);
    }
    zkt_close(c);
    return 0;
}

/* A process is stopped until its session is over. Its first call of any function reports that. */
ZKT_CASE(a_stopped_holder_knows_with_its_first_call)
{
    struct stopped *k = zkt_shared(sizeof(*k));
    for (int i = 0; i < 2; i++) {
        *k = (struct stopped){.asks_by_acquire = i, .sure = -1};
        k->pid = zkt_fork(hold_and_watch, k);
        ZKT_EVENTUALLY(atomic_load(&k->holds), PATIENCE_MS);
        int64_t before = zkt_now_ms();
        (void)kill(k->pid, SIGSTOP);
        zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
        struct zkt_hold *h[ZKT_KINDS];
        /* These holds are granted after the end of the session and a tick of the server. */
        hold_each(c, h);
        ZKT_IN_RANGE(zkt_now_ms() - before, 0, SESSION_MS + TICK_MS + SLACK_MS);
        atomic_store(&k->over, 1);
        (void)kill(k->pid, SIGCONT);
        ZKT_EVENTUALLY(atomic_load(&k->sure) >= 0, PATIENCE_MS);
        assert_int_equal(atomic_load(&k->sure), 0);
        assert_int_equal(zkt_join(k->pid, PATIENCE_MS), 0);
        for (int kind = ZKT_KINDS - 1; kind >= 0; kind--) {
            zkt_hold_end(h[kind]);
        }
        zkt_close(c);
    }
}

/* The server of a client is killed. The client goes on at the other servers, in the same session or in a new one. */
ZKT_CASE(a_killed_server_is_left)
{
    enum { SERVERS = 3, SERVER_PATIENCE_MS = 60000 };
    zkt_ensemble *e = zkt_ensemble_start(SERVERS, NULL);
    zkr_client *c = zkt_client(zkt_ensemble_hosts(e), LONG_MS);
    struct zkt_hold *h[ZKT_KINDS];
    int killed = 0;
    hold_each(c, h);
    for (int i = 0; i < SERVERS && !killed; i++) {
        zkt_server *s = zkt_ensemble_server(e, i);
        if (zkt_cons_received(zkt_server_host(s), zkr_client_session_id(c)) >= 0) {
            zkt_server_kill(s);
            killed++;
        }
    }
    assert_int_equal(killed, 1);
    ZKT_EVENTUALLY(zkt_stats(c).reconnects + zkt_stats(c).sessions > 1,
                   SERVER_PATIENCE_MS);
    for (int kind = 0; kind < ZKT_KINDS; kind++) {
        int rc = zkt_hold_release(h[kind]);
        assert_true(rc == ZKR_OK || rc == ZKR_ESESSION);
        ZKT_MUST(zkt_hold_acquire(h[kind], SERVER_PATIENCE_MS));
    }
}

/* A server restarts without its data. Waiters and later holders go on without a call. */
ZKT_CASE(an_empty_server_is_gone_on_with)
{
    zkt_server *s = zkt_server_start(NULL);
    zkr_client *c = zkt_client(zkt_server_host(s), 2 * SESSION_MS);
    struct zkt_hold *h[ZKT_KINDS], *behind[ZKT_KINDS];
    hold_each(c, h);
    for (int kind = 0; kind < ZKT_KINDS; kind++) {
        behind[kind] = zkt_hold_of(c, (enum zkt_kinds)kind);
        zkt_hold_ask(behind[kind], ZKR_FOREVER);
    }
    assert_int_equal(zkt_create(zkt_server_host(s), "/forgotten", "", 0), ZKT_OK);
    zkt_server_restart(s, true);
    assert_false(zkt_exists(zkt_server_host(s), "/forgotten"));
    for (int kind = 0; kind < ZKT_KINDS; kind++) {
        ZKT_BECOMES(zkt_hold_losses(h[kind]), 1, PATIENCE_MS);
    }
    release_each(h, ZKR_ESESSION);
    for (int kind = 0; kind < ZKT_KINDS; kind++) {
        ZKT_MUST(zkt_hold_wait(behind[kind]));
    }
}
