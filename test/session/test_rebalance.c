/* SPDX-License-Identifier: Apache-2.0 */
/* Clients that move to another server of their list, within the same session. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "fixture.h"
#include "fourlw.h"
#include "server.h"
#include "session/client.h"

/* A move begins within 10 s. */
enum { SERVERS = 3, SESSION_MS = 10000, PATIENCE_MS = 60000 };

/* Returns which server of the ensemble has the connection of the session, or -1 if none has. */
static int server_of(const zkt_ensemble *e, zkr_client *c)
{
    char sid[40];
    int found = -1;
    (void)snprintf(sid, sizeof(sid), ",sid=0x%llx,",
                   (unsigned long long)zkr_client_session_id(c));
    for (int i = 0; i < SERVERS; i++) {
        char *cons =
            zkt_4lw_text(zkt_server_host(zkt_ensemble_server(e, i)), "cons", 1000);
        found = cons && strstr(cons, sid) ? i : found;
        free(cons);
    }
    return found;
}

static bool is_elsewhere(const zkt_ensemble *e, zkr_client *c, int home)
{
    int at = zkt_reconnects(c) > 0 ? server_of(e, c) : -1;
    return at >= 0 && at != home && zkr_client_state(c) == ZKR_STATE_CONNECTED;
}

/* Plan a move in @in_ms instead of after a random pause. @first chooses the server; -1 = a random one. */
static void plan(zkr_client *c, int64_t in_ms, int first)
{
    ZKT_MUST(zkr_client_rebalance(c));
    zkr__lock(c);
    c->rebalance.at = zkr__now(c) + in_ms * ZKR__MS;
    c->rebalance.first = first < 0 ? c->rebalance.first : (size_t)first;
    zkr__wake_by(c, c->rebalance.at);
    zkr__unlock(c);
}

static void rebalance_now(zkr_client *c)
{
    plan(c, 0, -1);
}

static bool is_planned(zkr_client *c)
{
    zkr__lock(c);
    bool planned = c->rebalance.at != 0;
    zkr__unlock(c);
    return planned;
}

struct holder {
    zkr_client *c;
    zkr_mutex *m;
    int64_t session, token;
    int home;
};

static void begin_holder(struct holder *h, const zkt_ensemble *e, const char *path)
{
    h->c = zkt_client(zkt_ensemble_hosts(e), SESSION_MS);
    h->m = zkt_mutex_at(h->c, path, NULL);
    h->session = zkr_client_session_id(h->c);
    ZKT_MUST(zkr_mutex_acquire(h->m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_fencing_token(h->m, &h->token));
    h->home = server_of(e, h->c);
    assert_int_equal(zkt_reconnects(h->c), 0);
}

static void expect_still_held(const struct holder *h)
{
    int64_t token;
    assert_int_equal(zkr_client_session_id(h->c), h->session);
    assert_true(zkr_mutex_is_held(h->m));
    ZKT_MUST(zkr_mutex_fencing_token(h->m, &token));
    assert_int_equal(token, h->token);
}

/* Returns whether all clients have moved. None may have lost its hold meanwhile. */
static bool all_moved(const zkt_ensemble *e, const struct holder *h, int count)
{
    int moved = 0;
    for (int i = 0; i < count; i++) {
        expect_still_held(&h[i]);
        moved += is_elsewhere(e, h[i].c, h[i].home);
    }
    return moved == count;
}

/* Each client moves once, and keeps its session, its hold and its place in the queue. */
ZKT_CASE(clients_move_with_what_they_hold)
{
    enum { HOLDERS = 4 };
    zkt_ensemble *e = zkt_ensemble_start(SERVERS, NULL);
    struct holder h[HOLDERS], w = {.c = zkt_client(zkt_ensemble_hosts(e), SESSION_MS)};
    char path[HOLDERS][20];
    for (int i = 0; i < HOLDERS; i++) {
        (void)snprintf(path[i], sizeof(path[i]), "/held-%d", i);
        begin_holder(&h[i], e, path[i]);
    }
    zkr_ticket *next = zkt_ticket(zkt_mutex_at(w.c, path[0], NULL));
    ZKT_BECOMES(zkr_ticket_state(next), ZKR_TICKET_WAITING, PATIENCE_MS);
    w.home = server_of(e, w.c);
    for (int i = 0; i < HOLDERS; i++) {
        ZKT_MUST(zkr_client_rebalance(h[i].c));
        /* Has no effect, because a move is planned already. */
        ZKT_MUST(zkr_client_rebalance(h[i].c));
    }
    ZKT_MUST(zkr_client_rebalance(w.c));
    ZKT_EVENTUALLY(all_moved(e, h, HOLDERS), PATIENCE_MS);
    ZKT_EVENTUALLY(is_elsewhere(e, w.c, w.home), PATIENCE_MS);
    for (int i = 0; i < HOLDERS; i++) {
        assert_int_equal(zkt_reconnects(h[i].c), 1);
        ZKT_MUST(zkr_mutex_release(h[i].m));
    }
    ZKT_BECOMES(zkr_ticket_state(next), ZKR_TICKET_HELD, PATIENCE_MS);
    zkt_end_ticket(next);
}

/* A frozen server accepts connections, but answers none. The hold outlives the attempt, and the client reaches the
   third server. */
ZKT_CASE(a_frozen_server_is_passed_over)
{
    zkt_ensemble *e = zkt_ensemble_start(SERVERS, NULL);
    struct holder h;
    begin_holder(&h, e, "/held");
    int leader = zkt_ensemble_wait(e, PATIENCE_MS), frozen = 0;
    while (frozen == leader || frozen == h.home) {
        frozen++;
    }
    zkt_server_freeze(zkt_ensemble_server(e, frozen));
    for (int i = 0; i < 2; i++) { /* the next server is a random one */
        h.home = 3 - frozen - h.home;
        int64_t before = zkt_reconnects(h.c);
        rebalance_now(h.c);
        ZKT_EVENTUALLY(zkt_reconnects(h.c) > before && server_of(e, h.c) == h.home,
                       PATIENCE_MS);
        expect_still_held(&h);
    }
    zkt_server_thaw(zkt_ensemble_server(e, frozen));
    ZKT_MUST(zkr_mutex_release(h.m));
}

/* --- two proxies stand for two servers of one ensemble --- */

static zkt_proxy *first, *second;
static char both[200];

static bool is_at(zkr_client *c, zkt_proxy *p)
{
    return zkr_client_state(c) == ZKR_STATE_CONNECTED &&
           zkt_proxy_counters(p).open == 1;
}

/* Open a client, and name its server @first. */
static zkr_client *begin(void)
{
    first = zkt_proxy_start(zkt_servers());
    second = zkt_proxy_start(zkt_servers());
    (void)snprintf(both, sizeof(both), "%s,%s", zkt_proxy_host(first),
                   zkt_proxy_host(second));
    zkr_client *c = zkt_client(both, SESSION_MS);
    if (is_at(c, second)) {
        zkt_proxy *p = first;
        first = second;
        second = p;
    }
    return c;
}

/* If no other server answers, the session continues at the old server. The client moves to the other server when it
   must. */
ZKT_CASE(a_client_stays_where_nobody_else_answers)
{
    zkr_client *c = begin();
    zkr_mutex *m = zkt_mutex(c);
    int64_t id = zkr_client_session_id(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_proxy_cut(second);
    rebalance_now(c);
    ZKT_BECOMES(zkt_reconnects(c), 1, PATIENCE_MS);
    assert_true(is_at(c, first));
    assert_true(zkr_mutex_is_held(m));
    zkt_proxy_heal(second);
    zkt_proxy_cut(first);
    ZKT_EVENTUALLY(is_at(c, second), PATIENCE_MS);
    assert_int_equal(zkr_client_session_id(c), id);
    assert_true(zkr_mutex_is_held(m));
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
}

/* After a move that succeeded, the handle has all servers again, too. */
ZKT_CASE(after_a_move_every_server_counts)
{
    zkr_client *c = begin();
    int64_t id = zkr_client_session_id(c);
    rebalance_now(c);
    ZKT_EVENTUALLY(is_at(c, second), PATIENCE_MS);
    zkt_proxy_cut(second);
    ZKT_EVENTUALLY(is_at(c, first), PATIENCE_MS);
    assert_int_equal(zkr_client_session_id(c), id);
}

/* The old server confirms the client's delete. */
ZKT_CASE(a_client_may_end_during_a_move)
{
    zkr_mutex *m;
    zkr_client *c = begin();
    ZKT_MUST(zkr_mutex_create(&m, c, zkt_path(), NULL));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_proxy_blackhole(second);
    rebalance_now(c);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_mutex_destroy(m));
    ZKT_MUST(zkr_client_finish(c, PATIENCE_MS));
}

/* The new list replaces the only server that the handle has at that moment. */
ZKT_CASE(the_list_may_change_during_a_move)
{
    zkr_client *c = begin();
    zkr_mutex *m = zkt_mutex(c);
    int64_t id = zkr_client_session_id(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_proxy_blackhole(second);
    rebalance_now(c);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    ZKT_MUST(zkr_client_set_servers(c, zkt_servers()));
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_CONNECTED, PATIENCE_MS);
    ZKT_EVENTUALLY(zkt_proxy_counters(first).open == 0, PATIENCE_MS);
    ZKT_BECOMES(is_planned(c), false, PATIENCE_MS);
    assert_int_equal(zkr_client_session_id(c), id);
    assert_true(zkr_mutex_is_held(m));
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
}

/* --- the choice, and its time --- */

enum { PROXIES = 3 };

static int at_which(zkr_client *c, zkt_proxy *const *p)
{
    int i = 0;
    while (i < PROXIES && !is_at(c, p[i])) {
        i++;
    }
    return i;
}

/* The server behind the old one in the list must not be preferred. */
ZKT_CASE(each_other_server_is_as_likely)
{
    zkt_proxy *p[PROXIES];
    int moves[PROXIES] = {0};
    for (int i = 0; i < PROXIES; i++) {
        p[i] = zkt_proxy_start(zkt_servers());
    }
    (void)snprintf(both, sizeof(both), "%s,%s,%s", zkt_proxy_host(p[0]),
                   zkt_proxy_host(p[1]), zkt_proxy_host(p[2]));
    zkr_client *c = zkt_client(both, SESSION_MS);
    for (int i = 0; i < 2 * PROXIES; i++) {
        int home = at_which(c, p), now = PROXIES;
        plan(c, 0, i);
        ZKT_EVENTUALLY((now = at_which(c, p)) != home && now < PROXIES, PATIENCE_MS);
        ZKT_BECOMES(is_planned(c), false, PATIENCE_MS);
        moves[(now - home + PROXIES) % PROXIES]++;
    }
    assert_int_equal(moves[1], PROXIES);
    assert_int_equal(moves[2], PROXIES);
}

/* The state of the connection matters only at the time of the move, also for a client that has moved before. */
ZKT_CASE(a_connection_may_break_before_the_move)
{
    zkr_client *c = begin();
    for (int i = 0; i < 2; i++) {
        zkt_proxy *home = i == 0 ? first : second, *other = i == 0 ? second : first;
        int64_t before = zkt_reconnects(c);
        plan(c, INT32_MAX, -1);
        zkt_proxy_cut(other);
        zkt_proxy_cut(home);
        ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
        zkt_proxy_heal(home);
        ZKT_EVENTUALLY(zkt_reconnects(c) > before && is_at(c, home), PATIENCE_MS);
        assert_true(is_planned(c));
        zkt_proxy_heal(other);
        plan(c, 0, -1);
        ZKT_EVENTUALLY(is_at(c, other), PATIENCE_MS);
        ZKT_BECOMES(is_planned(c), false, PATIENCE_MS);
    }
}

/* The pause spreads clients over 10 s. A client with one server does not move. */
ZKT_CASE(a_client_with_one_server_stays)
{
    enum { TRIES = 1000, PAUSE_MS = 10000 };
    zkr_client *c =
        zkt_client(zkt_proxy_host(zkt_proxy_start(zkt_servers())), SESSION_MS);
    int64_t least = ZKR__NEVER, most = 0;
    for (int i = 0; i < TRIES; i++) {
        int64_t before = zkr__now(c);
        ZKT_MUST(zkr_client_rebalance(c));
        zkr__lock(c);
        least = zkr__sooner(least, c->rebalance.at - zkr__now(c));
        most = zkr__later(most, c->rebalance.at - before);
        c->rebalance.at = 0;
        zkr__unlock(c);
    }
    assert_true(least < PAUSE_MS / 10 * ZKR__MS);
    assert_true(most > PAUSE_MS / 10 * 9 * ZKR__MS);
    rebalance_now(c);
    ZKT_BECOMES(is_planned(c), false, PATIENCE_MS);
    assert_int_equal(zkt_reconnects(c), 0);
}

static void *read_root(void *c)
{
    zkr_node node;
    int rc = zkr_client_get(c, "/", NULL, 0, &node, sizeof(node));
    return (void *)(intptr_t)rc;
}

/* The old server answers a request in flight. Only then does the client move. */
ZKT_CASE(a_request_in_flight_is_waited_for)
{
    enum { LATE_MS = 2000 };
    pthread_t thread;
    void *rc;
    zkr_client *c = begin();
    zkt_proxy_delay(first, ZKT_TO_CLIENT, LATE_MS);
    int64_t before = zkt_proxy_counters(first).requests;
    assert_int_equal(pthread_create(&thread, NULL, read_root, c), 0);
    ZKT_EVENTUALLY(zkt_proxy_counters(first).requests > before, PATIENCE_MS);
    rebalance_now(c);
    assert_int_equal(pthread_join(thread, &rc), 0);
    ZKT_RC((int)(intptr_t)rc, ZKR_OK);
    ZKT_EVENTUALLY(is_at(c, second), PATIENCE_MS);
    assert_int_equal(zkt_reconnects(c), 1);
}
