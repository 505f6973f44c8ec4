/* SPDX-License-Identifier: Apache-2.0 */
/* The leader latch on bad days of servers and processes, and without rights. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "fixture.h"
#include "fourlw.h"
#include "latches.h"

enum { SESSION_MS = 3000, PATIENCE_MS = 20000, SHORT_MS = 100 };

/* --- servers --- */

/* Started without a server it leads once there is one; stopped before, it never joins. */
ZKT_CASE(a_latch_may_start_before_the_server)
{
    zkr_client *c = NULL;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkt_proxy_cut(p);
    ZKT_MUST(zkr_client_open(&c, zkt_proxy_host(p), NULL));
    zkr_leader_latch *a = zkt_latch(c, "a", NULL), *b = zkt_latch(c, "b", NULL);
    ZKT_MUST(zkr_leader_latch_start(a));
    ZKT_MUST(zkr_leader_latch_start(b));
    assert_int_equal(zkr_leader_latch_state(a), ZKR_LATCH_WAITING);
    ZKT_RC(zkr_leader_latch_await(a, SHORT_MS), ZKR_ETIMEDOUT);
    ZKT_MUST(zkr_leader_latch_stop(a, ZKR_LATCH_NOTIFY));
    zkt_proxy_heal(p);
    ZKT_MUST(zkr_leader_latch_await(b, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 1);
    zkt_end_latch(a);
    zkt_end_latch(b);
    zkt_close(c);
}

/* --- stop at a bad moment --- */

/* The create is under way when the latch stops: no node stays, whatever became of the reply. */
ZKT_CASE(a_stop_during_the_create_leaves_no_node)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_leader_latch *l = zkt_latch(c, "a", NULL);
    zkt_create_path(zkt_servers(), zkt_path());
    for (int i = 0; i < 4; i++) {
        int direction = i % 2 ? ZKT_TO_CLIENT : ZKT_TO_SERVER;
        zkt_proxy_freeze(p, direction);
        ZKT_MUST(zkr_leader_latch_start(l));
        zkt_sleep_ms(SHORT_MS);
        assert_int_equal(zkr_leader_latch_state(l), ZKR_LATCH_WAITING);
        ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
        if (i >= 2) {
            zkt_proxy_drop_connections(p);
        }
        zkt_proxy_thaw(p, direction);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        assert_int_equal(zkt_reconnects(c), i >= 2 ? i - 1 : 0);
        assert_int_equal(zkt_nodes(), 0);
    }
    /* And the executed create whose reply is lost, with and without a new start. */
    for (int i = 0; i < 2; i++) {
        zkt_proxy_cut_after_request(p, 1);
        ZKT_MUST(zkr_leader_latch_start(l));
        ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
        if (i == 1) {
            zkt_lead(l);
            ZKT_BECOMES(zkt_nodes(), 1, PATIENCE_MS);
            ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
        }
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        assert_int_equal(zkt_proxy_triggered(p), i + 1);
        assert_int_equal(zkt_nodes(), 0);
    }
}

/* --- the process --- */

/* Shared with a forked leader. */
struct leader {
    char hosts[256], path[128];
    atomic_int leads;
    _Atomic int64_t sure_at_ms; /* latest moment at which it was found to lead */
};

/* Leads, and looks as often as it can; ends only by a signal. */
static int lead_for_ever(void *arg)
{
    struct leader *k = arg;
    zkr_client *c = NULL;
    zkr_leader_latch *l = NULL;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    if (zkr_client_open(&c, k->hosts, &o) != ZKR_OK ||
        zkr_leader_latch_create(&l, c, k->path, "forked", NULL) != ZKR_OK ||
        zkr_leader_latch_start(l) != ZKR_OK) {
        return 1;
    }
    for (;;) {
        int64_t before = zkt_now_ms();
        bool leads = zkr_leader_latch_has_leadership(l);
        atomic_store(&k->leads, leads);
        if (leads) {
            atomic_store(&k->sure_at_ms, before);
        }
        zkt_sleep_ms(1);
    }
}

/* The time from @sig for the forked leader until @next leads. */
static int64_t take_over(zkr_leader_latch *next, pid_t pid, struct leader *k, int sig)
{
    ZKT_EVENTUALLY(atomic_load(&k->leads), PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_start(next));
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    zkt_sleep_ms(SHORT_MS);
    int64_t before = zkt_now_ms();
    assert_int_equal(kill(pid, sig), 0);
    ZKT_MUST(zkr_leader_latch_await(next, PATIENCE_MS));
    return zkt_now_ms() - before;
}

/* Killed: the next leads after the session time-out and less than a tick. Frozen: not sooner than
   the old leader is unsure, which it never is again before the next has stopped. */
ZKT_CASE(the_next_leads_after_a_kill_or_a_freeze)
{
    enum { TICK_MS = 500, SLACK_MS = 250 };
    struct leader *k = zkt_shared(sizeof(*k)), *f = zkt_shared(sizeof(*f));
    (void)snprintf(k->hosts, sizeof(k->hosts), "%s", zkt_servers());
    (void)snprintf(k->path, sizeof(k->path), "%s", zkt_path());
    *f = *k;
    pid_t killed = zkt_fork(lead_for_ever, k);
    ZKT_EVENTUALLY(atomic_load(&k->leads), PATIENCE_MS);
    pid_t frozen = zkt_fork(lead_for_ever, f);
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);

    int64_t before = zkt_now_ms();
    assert_int_equal(kill(killed, SIGKILL), 0);
    ZKT_EVENTUALLY(atomic_load(&f->leads), PATIENCE_MS);
    int64_t took = zkt_now_ms() - before;
    print_message("killed: %lld ms\n", (long long)took);
    assert_true(took < SESSION_MS + TICK_MS + SLACK_MS);
    (void)zkt_join(killed, PATIENCE_MS);

    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *l = zkt_latch(c, "a", NULL);
    took = take_over(l, frozen, f, SIGSTOP);
    print_message("frozen: %lld ms\n", (long long)took);
    assert_true(took < SESSION_MS + TICK_MS + SLACK_MS);
    int64_t taken = zkt_now_ms();
    assert_int_equal(kill(frozen, SIGCONT), 0);
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS); /* it is back, behind us */
    ZKT_EVENTUALLY(!atomic_load(&f->leads), PATIENCE_MS);
    assert_true(atomic_load(&f->sure_at_ms) < taken);
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
    ZKT_EVENTUALLY(atomic_load(&f->leads), PATIENCE_MS);
    assert_int_equal(kill(frozen, SIGKILL), 0);
    (void)zkt_join(frozen, PATIENCE_MS);
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
    zkt_end_latch(l);
    zkt_close(c);
    zkt_shared_free(k, sizeof(*k));
    zkt_shared_free(f, sizeof(*f));
}

/* The member that has the session's connection. */
static int server_of(const zkt_ensemble *e, int64_t session)
{
    for (int i = 0; i < zkt_ensemble_size(e); i++) {
        if (zkt_cons_received(zkt_server_host(zkt_ensemble_server(e, i)), session) >=
            0) {
            return i;
        }
    }
    return -1;
}

/* Connected anew, in its session or in another. */
static bool has_moved(zkr_client *c)
{
    zkr_stats s;
    ZKT_MUST(zkr_client_stats(c, &s, sizeof(s)));
    return s.reconnects + s.sessions > 1;
}

static int count_leaders(zkr_leader_latch *const *l, int n)
{
    int leaders = 0;
    for (int i = 0; i < n; i++) {
        leaders += zkr_leader_latch_has_leadership(l[i]);
    }
    assert_true(leaders <= 1);
    return leaders;
}

/* The server of the leader is killed: its session moves, and it leads on or one other does. */
ZKT_CASE(the_server_of_the_leader_is_killed)
{
    enum { N = 3, SERVER_PATIENCE_MS = 60000 };
    zkt_ensemble *e = zkt_ensemble_start(N, NULL);
    zkr_client *c[N];
    zkr_leader_latch *l[N];
    for (int i = 0; i < N; i++) {
        c[i] = zkt_client(zkt_ensemble_hosts(e), SESSION_MS);
        l[i] = zkt_latch(c[i], "x", NULL);
        ZKT_MUST(zkr_leader_latch_start(l[i]));
        ZKT_BECOMES(zkt_children_count(zkt_ensemble_hosts(e), zkt_path()), i + 1,
                    PATIENCE_MS);
    }
    ZKT_MUST(zkr_leader_latch_await(l[0], PATIENCE_MS));
    int server = server_of(e, zkr_client_session_id(c[0]));
    assert_true(server >= 0);
    zkt_server_kill(zkt_ensemble_server(e, server));
    ZKT_EVENTUALLY(count_leaders(l, N) <= 1 && has_moved(c[0]), PATIENCE_MS);
    assert_int_not_equal(server_of(e, zkr_client_session_id(c[0])), server);
    ZKT_BECOMES(count_leaders(l, N), 1, SERVER_PATIENCE_MS);
    for (int i = 0; i < N; i++) {
        zkt_end_latch(l[i]);
        zkt_close(c[i]);
    }
}
