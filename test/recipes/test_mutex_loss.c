/* SPDX-License-Identifier: Apache-2.0 */
/* What a holder learns, and when, if the lock is taken from it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor.h"
#include "lock.h"

enum { SESSION_MS = 3000, LONG_MS = 20000, PATIENCE_MS = 30000 };

/* Path number @i below that of the case. */
static const char *below(int i)
{
    static char text[160];
    (void)snprintf(text, sizeof(text), "%s/%d", zkt_path(), i);
    return text;
}

/* --- the lost callback --- */

struct losses {
    atomic_int count;
    atomic_int reason;
    _Atomic int64_t token, at_ms;
    atomic_int calls_back; /* codes seen by calls from the callback */
};

static void on_lost(zkr_mutex *m, const zkr_lost *lost, void *ctx)
{
    struct losses *l = ctx;
    atomic_store(&l->reason, (int)lost->reason);
    atomic_store(&l->token, lost->fencing_token);
    atomic_store(&l->at_ms, zkt_now_ms());
    /* Calling back is legal; waiting is refused. */
    bool held = zkt_is_held(m);
    int waited = zkt_acquire(m, 1000);
    int canceled = zkt_cancel(m);
    atomic_store(&l->calls_back, !held && waited == ZKR_ESTATE && canceled == ZKR_OK);
    atomic_fetch_add(&l->count, 1);
}

static zkr_mutex *mutex_with(zkr_client *c, struct losses *l)
{
    zkr_mutex_options options = ZKR_MUTEX_OPTIONS_INIT;
    options.on_lost = on_lost;
    options.on_lost_ctx = l;
    memset(l, 0, sizeof(*l));
    zkt_on_ticket_lost(on_lost, l);
    return zkt_mutex_with(c, &options);
}

/* After a loss: told once, refused re-entry, one release says so, and then all is well. */
static void expect_lost(zkr_mutex *m, struct losses *l, int reason, int64_t token)
{
    ZKT_EVENTUALLY(atomic_load(&l->count) > 0, PATIENCE_MS);
    /* As a session ends the server deletes the node first; that event may still reach us. */
    bool node_of_session =
        reason == ZKR_LOST_SESSION && atomic_load(&l->reason) == ZKR_LOST_NODE;
    assert_true(atomic_load(&l->reason) == reason || node_of_session ||
                zkt_by_ticket());
    assert_int_equal(atomic_load(&l->token), token);
    assert_true(atomic_load(&l->calls_back));
    assert_false(zkt_is_held(m));
    assert_false(zkr_mutex_is_held_in_process(m));
    assert_int_equal(zkt_valid_for_ms(m), 0);
    ZKT_RC(zkt_acquire(m, 0), ZKR_ESESSION);
    ZKT_RC(zkt_fencing_token(m, &token), ZKR_ESESSION);
    assert_int_equal(zkr_mutex_depth(m), zkt_by_ticket() ? 0 : 2);
    ZKT_RC(zkt_release(m), ZKR_ESESSION);
    ZKT_RC(zkt_release(m), ZKR_ENOTOWNER);
    assert_int_equal(zkr_mutex_depth(m), 0);
}

static int64_t hold_twice(zkr_mutex *m)
{
    int64_t token = 0;
    ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
    if (!zkt_by_ticket()) {
        ZKT_MUST(zkt_acquire(m, 0));
    }
    ZKT_MUST(zkt_fencing_token(m, &token));
    return token;
}

/* The session expires while held: told once, and the lock can be had again long before any time-out. */
ZKT_BOTH_CASE(an_expired_session_is_a_loss)
{
    struct losses l;
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    zkr_mutex *m = mutex_with(c, &l);
    for (int i = 1; i <= 3; i++) {
        int64_t token = hold_twice(m);
        zkt_expire(c);
        expect_lost(m, &l, ZKR_LOST_SESSION, token);
        int64_t before = zkt_now_ms();
        ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
        assert_in_range(zkt_now_ms() - before, 0, LONG_MS / 4);
        ZKT_MUST(zkt_release(m));
        assert_int_equal(atomic_load(&l.count), 1);
        atomic_store(&l.count, 0);
    }
}

/* Somebody deletes the node of a holder: told at once, long before any time-out. */
ZKT_BOTH_CASE(a_deleted_node_is_a_loss)
{
    struct losses l;
    char node[256];
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    zkr_mutex *m = mutex_with(c, &l);
    int64_t token = hold_twice(m);
    ZKT_MUST(zkt_node_of(m, node, sizeof(node)));
    ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS); /* on its own node */
    int64_t before = zkt_now_ms();
    assert_int_equal(zkt_delete(zkt_servers(), node), 0);
    expect_lost(m, &l, ZKR_LOST_NODE, token);
    assert_in_range(atomic_load(&l.at_ms) - before, 0, LONG_MS / 4);
    ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkt_release(m));
}

/* Even before the watch is there, a lease probe notices. */
ZKT_BOTH_CASE(a_probe_notices_a_deleted_node)
{
    struct losses l;
    char node[256];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = mutex_with(c, &l);
    int64_t token = hold_twice(m);
    ZKT_MUST(zkt_node_of(m, node, sizeof(node)));
    assert_int_equal(zkt_delete(zkt_servers(), node), 0);
    expect_lost(m, &l, ZKR_LOST_NODE, token);
}

/* The node of a waiter is deleted: it queues again at the tail, within a second. */
ZKT_BOTH_CASE(a_waiter_whose_node_is_deleted_queues_again)
{
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    zkr_client *other = zkt_client(zkt_servers(), LONG_MS);
    zkr_mutex *held = zkt_mutex(other);
    zkr_mutex *m = zkt_mutex(c);
    zkr_mutex *last = zkt_mutex(other);
    struct zkt_actor waiter, third;
    atomic_int turn = 0;
    ZKT_MUST(zkt_acquire(held, PATIENCE_MS));
    zkt_actor_queue(&waiter, c, m, &turn);
    zkt_actor_queue(&third, other, last, &turn);
    zkr_contenders *list = NULL;
    ZKT_MUST(zkr_mutex_contenders(held, &list));
    char node[256];
    (void)snprintf(node, sizeof(node), "%s/%s", zkt_path(),
                   zkr_contenders_get(list, 1)->node);
    zkr_contenders_free(list);
    assert_int_equal(zkt_delete(zkt_servers(), node), 0);
    ZKT_BECOMES(zkt_nodes(), 3, 1500);
    ZKT_MUST(zkt_release(held));
    zkt_actor_is_served(&third);
    ZKT_MUST(zkt_actor_acquired(&waiter));
    assert_int_equal(waiter.granted_as, 2);
    ZKT_MUST(zkt_actor_end(&waiter));
}

/* --- the lease --- */

/* Cut off while holding: valid_for reaches 0, and the callback comes, before the server deletes
 * the node. */
ZKT_BOTH_CASE(the_lease_ends_before_the_node_does)
{
    struct losses l;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = mutex_with(c, &l);
    int64_t token = hold_twice(m);
    zkt_sleep_ms(
        SESSION_MS); /* some probes, so that the bound is not that of the beginning */
    assert_true(zkt_is_held(m));
    zkt_proxy_blackhole(p);
    ZKT_EVENTUALLY(!zkt_is_held(m), PATIENCE_MS);
    assert_int_equal(zkt_nodes(), 1);
    ZKT_BECOMES(atomic_load(&l.count), 1, PATIENCE_MS);
    assert_int_equal(zkt_nodes(), 1);
    expect_lost(m, &l, ZKR_LOST_LEASE, token);
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
    zkt_proxy_heal(p);
    ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkt_release(m));
    assert_int_equal(atomic_load(&l.count), 1);
}

/* A healthy holder stays sure for as long as it holds, a thread as well as a ticket. */
ZKT_CASE(a_healthy_lease_never_runs_out)
{
    enum { HEALTHY_MS = 6000 }; /* a server may stand still for half of it */
    zkr_client *c = zkt_client(zkt_servers(), HEALTHY_MS);
    zkr_mutex *m = zkt_mutex(c), *other = zkt_mutex_at(c, below(0), NULL);
    zkr_ticket *t = NULL;
    int64_t least = INT64_MAX;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_request(other, PATIENCE_MS, NULL, NULL, &t));
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    for (int64_t end = zkt_now_ms() + HEALTHY_MS * 3 / 2; zkt_now_ms() < end;) {
        int64_t left = zkr_mutex_valid_for_ms(m), too = zkr_ticket_valid_for_ms(t);
        left = too < left ? too : left;
        least = left < least ? left : least;
        zkt_sleep_ms(5);
    }
    assert_true(least > 0);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
}

/* With probes off nothing is claimed, and nothing is taken away before the session's end. */
ZKT_BOTH_CASE(without_probes_validity_is_unknown)
{
    zkr_client_options options = ZKR_CLIENT_OPTIONS_INIT;
    options.session_timeout_ms = 1000;
    options.lease_probe_ms = -1;
    zkr_client *c = zkt_client_with(zkt_servers(), &options);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
    zkt_sleep_ms(1500);
    assert_int_equal(zkt_valid_for_ms(m), ZKR_UNKNOWN);
    assert_true(zkt_is_held(m));
    zkr_stats stats;
    ZKT_MUST(zkr_client_stats(c, &stats, sizeof(stats)));
    assert_int_equal(stats.probes, 0);
    ZKT_MUST(zkt_release(m));
}

/* Cut and healed within the session: still held, by the same node; and the waiter behind keeps
 * its place. */
ZKT_BOTH_CASE(a_cut_within_the_session_changes_nothing)
{
    struct losses l;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), LONG_MS);
    zkr_client *w = zkt_client(zkt_proxy_host(p), LONG_MS);
    zkr_mutex *m = mutex_with(c, &l);
    zkr_mutex *waits = zkt_mutex(w);
    struct zkt_actor actor;
    char before[256], after[256];
    (void)hold_twice(m);
    ZKT_MUST(zkt_node_of(m, before, sizeof(before)));
    zkt_actor_queue(&actor, w, waits, NULL);
    zkr_contenders *list = NULL;
    ZKT_MUST(zkr_mutex_contenders(m, &list));
    char queued[256];
    (void)snprintf(queued, sizeof(queued), "%s/%s", zkt_path(),
                   zkr_contenders_get(list, 1)->node);
    zkr_contenders_free(list);
    for (int i = 0; i < 5; i++) {
        zkt_proxy_drop_connections(p);
        ZKT_BECOMES(zkt_reconnects(c), i + 1, PATIENCE_MS);
        ZKT_BECOMES(zkt_reconnects(w), i + 1, PATIENCE_MS);
        assert_true(zkt_is_held(m));
        assert_int_equal(zkt_nodes(), 2);
    }
    ZKT_MUST(zkt_node_of(m, after, sizeof(after)));
    assert_string_equal(before, after);
    for (int depth = zkt_by_ticket() ? 1 : 2; depth > 0; depth--) {
        ZKT_MUST(zkt_release(m));
    }
    ZKT_MUST(zkt_actor_acquired(&actor));
    assert_string_equal(actor.node, queued);
    ZKT_MUST(zkt_actor_end(&actor));
    assert_int_equal(atomic_load(&l.count), 0);
}

/* --- a stopped process --- */

struct child {
    char hosts[128];
    bool asks_by_acquire; /* the first call is a re-entrant acquire, else is_held */
    pid_t pid;
    atomic_int held;  /* it holds */
    atomic_int over;  /* its session, while it is stopped: the next call is the first */
    atomic_int first; /* what it saw first after it was continued: 1 held, 2 not */
    atomic_int after; /* code of its release */
};

static int hold_and_watch(void *arg)
{
    struct child *k = arg;
    zkr_client_options options = ZKR_CLIENT_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    zkr_client *c = NULL;
    zkr_mutex *m = NULL;
    if (zkr_client_open(&c, k->hosts, &options) != ZKR_OK ||
        zkr_mutex_create(&m, c, below(k->asks_by_acquire), NULL) != ZKR_OK ||
        zkt_acquire(m, PATIENCE_MS) != ZKR_OK) {
        return 1;
    }
    atomic_store(&k->held, 1);
    while (!atomic_load(&k->over)) {
    }
    bool refused =
        k->asks_by_acquire ? zkt_acquire(m, 0) == ZKR_ESESSION : !zkt_is_held(m);
    atomic_store(&k->first, refused ? 2 : 1);
    atomic_store(&k->after, zkt_release(m));
    return zkr_mutex_destroy(m) == ZKR_OK && zkr_client_close(c) == ZKR_OK ? 0 : 2;
}

static void expect_it_knew(struct child *k, zkr_client *c)
{
    zkr_mutex *m = zkt_mutex_at(c, below(k->asks_by_acquire), NULL);
    ZKT_MUST(zkt_acquire(m, PATIENCE_MS)); /* when the session is over */
    atomic_store(&k->over, 1);
    kill(k->pid, SIGCONT);
    ZKT_EVENTUALLY(atomic_load(&k->first) != 0, PATIENCE_MS);
    assert_int_equal(atomic_load(&k->first), 2);
    assert_int_equal(zkt_join(k->pid, PATIENCE_MS), 0);
    ZKT_RC(atomic_load(&k->after), ZKR_ESESSION);
    ZKT_MUST(zkt_release(m));
}

/* A holder that is stopped past its session knows it with its first call, whichever it is. */
ZKT_BOTH_CASE(a_stopped_holder_knows_with_its_first_call)
{
    struct child *k = zkt_shared(2 * sizeof(*k));
    for (int i = 0; i < 2; i++) {
        k[i].asks_by_acquire = i;
        (void)snprintf(k[i].hosts, sizeof(k[i].hosts), "%s", zkt_servers());
        k[i].pid = zkt_fork(hold_and_watch, &k[i]);
    }
    for (int i = 0; i < 2; i++) {
        ZKT_EVENTUALLY(atomic_load(&k[i].held), PATIENCE_MS);
        kill(k[i].pid, SIGSTOP);
    }
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    for (int i = 0; i < 2; i++) {
        expect_it_knew(&k[i], c);
    }
    zkt_shared_free(k, 2 * sizeof(*k));
}

/* A server that comes back empty: waiters and the next holders go on by themselves. */
ZKT_BOTH_CASE(an_empty_server_is_gone_on_with)
{
    zkt_server *s = zkt_server_start(NULL);
    zkr_client *c = zkt_client(zkt_server_host(s), 1000);
    zkr_mutex *m = zkt_mutex(c);
    struct zkt_actor actor;
    ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
    zkt_actor_start(&actor, m, ZKR_FOREVER, NULL);
    ZKT_BECOMES(zkt_waiting(c), 1, PATIENCE_MS);
    assert_int_equal(zkt_create(zkt_server_host(s), "/forgotten", "", 0), ZKT_OK);
    zkt_server_restart(s, true);
    assert_false(zkt_exists(zkt_server_host(s), "/forgotten"));
    ZKT_MUST(zkt_actor_acquired(&actor));
    ZKT_RC(zkt_release(m), ZKR_ESESSION);
    ZKT_MUST(zkt_actor_end(&actor));
}

/* Held and lost are one question, also where less than a whole millisecond is left. */
ZKT_BOTH_CASE(what_is_not_held_is_lost_at_the_release)
{
    static const struct {
        int64_t left_us;
        bool held;
        bool ask_token; /* instead */
    } ends[] = {{500, true, false}, {0, false, false}, {0, false, true}};
    int64_t token;
    zkr_client *c = zkt_client(zkt_servers(), LONG_MS);
    zkr_mutex *m = zkt_mutex(c);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        ZKT_MUST(zkt_acquire(m, PATIENCE_MS));
        zkr__lock(c);
        zkt_door_stop_clock(c->lease.until - ends[i].left_us * 1000);
        zkr__unlock(c);
        if (ends[i].ask_token) {
            ZKT_RC(zkt_fencing_token(m, &token), ZKR_ESESSION);
        } else {
            assert_int_equal(zkt_valid_for_ms(m), 0);
            assert_int_equal(zkt_is_held(m), ends[i].held);
        }
        zkt_door_stop_clock(0); /* as when a probe is answered now, after all */
        ZKT_RC(zkt_release(m), ends[i].held ? ZKR_OK : ZKR_ESESSION);
    }
}

/* Granted when the waiter's own bound has all but come: it starts with a new one. */
ZKT_BOTH_CASE(a_grant_never_comes_with_its_end)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.look_ahead = -1; /* which would see that there is always enough left */
    zkr_client *b = zkt_client_with(zkt_servers(), &o);
    zkr_mutex *ma = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS)),
              *mb = zkt_mutex(b);
    struct zkt_actor waiter;
    ZKT_MUST(zkt_acquire(ma, PATIENCE_MS));
    zkt_actor_queue(&waiter, b, mb, NULL);
    ZKT_EVENTUALLY(zkr_client_valid_for_ms(b) < SESSION_MS / 8, PATIENCE_MS);
    ZKT_MUST(zkt_release(ma));
    ZKT_MUST(zkt_actor_acquired(&waiter));
    assert_true(zkr_client_valid_for_ms(b) > SESSION_MS / 6);
    ZKT_MUST(zkt_actor_end(&waiter));
}
