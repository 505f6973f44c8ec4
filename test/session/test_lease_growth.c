/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease of a session whose timeout grows when it moves to a server with a larger minSessionTimeout. The move loses
 * no hold. The longer timeout does not extend the lease, because the next leader starts with the timeout that was
 * granted when the session was created.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "fourlw.h"

enum { SERVERS = 3, SHORT_MS = 4000, LONG_MS = 12000, PATIENCE_MS = 30000 };

/* A holder behind a proxy, and a waiter behind it at the generous server. */
struct pair {
    const char *path;
    zkt_proxy *proxy;
    zkr_client *c;
    zkr_mutex *m;
    zkr_ticket *next;
    /* The hold was promised until held_ms. The waiter holds from next_ms on. */
    int64_t held_ms;
    int64_t next_ms;
};

struct cluster {
    zkt_ensemble *e;
    zkt_server *leader, *plain, *generous;
};

static void start(struct cluster *k)
{
    const zkt_server_options o = {.max_session_ms = 2 * PATIENCE_MS};
    k->e = zkt_ensemble_start(SERVERS, &o);
    int leader = zkt_ensemble_wait(k->e, PATIENCE_MS);
    k->leader = zkt_ensemble_server(k->e, leader);
    k->plain = zkt_ensemble_server(k->e, (leader + 1) % SERVERS);
    k->generous = zkt_ensemble_server(k->e, (leader + 2) % SERVERS);
    zkt_server_limits(k->generous, LONG_MS, 2 * PATIENCE_MS);
    zkt_server_restart(k->generous, false);
}

static void open_pair(struct cluster *k, struct pair *p)
{
    p->proxy = zkt_proxy_start(zkt_server_host(k->plain));
    p->c = zkt_client(zkt_proxy_host(p->proxy), SHORT_MS);
    p->m = zkt_mutex_at(p->c, p->path, NULL);
    assert_int_equal(zkr_client_session_timeout_ms(p->c), SHORT_MS);
}

/* Returns the session timeout that @server reports, or 0 if it has no connection of the session. */
static long timeout_at(const zkt_server *server, zkr_client *c)
{
    char sid[40];
    (void)snprintf(sid, sizeof(sid), ",sid=0x%llx,",
                   (unsigned long long)zkr_client_session_id(c));
    char *cons = zkt_4lw_text(zkt_server_host(server), "cons", PATIENCE_MS);
    const char *at = cons ? strstr(cons, sid) : NULL;
    at = at ? strstr(at, ",to=") : NULL;
    long timeout = at ? strtol(at + strlen(",to="), NULL, 10) : 0;
    free(cons);
    return timeout;
}

static void move_to_generous(struct cluster *k, struct pair *p)
{
    zkt_proxy_target(p->proxy, zkt_server_host(k->generous));
    zkt_proxy_drop_connections(p->proxy);
    ZKT_BECOMES(timeout_at(k->generous, p->c), LONG_MS, PATIENCE_MS);
}

static void expect_held_for(struct pair *p, int count, int64_t ms)
{
    for (int64_t end = zkt_now_ms() + ms; zkt_now_ms() < end; zkt_sleep_ms(5)) {
        for (int i = 0; i < count; i++) {
            assert_true(zkr_mutex_is_held(p[i].m));
        }
    }
}

static void put_next_in_line(struct cluster *k, struct pair *p)
{
    zkr_client *c = zkt_client(zkt_server_host(k->plain), 2 * PATIENCE_MS);
    ZKT_MUST(zkr_mutex_request(zkt_mutex_at(c, p->path, NULL), ZKR_FOREVER, NULL, NULL,
                               &p->next));
    ZKT_BECOMES(zkr_ticket_state(p->next), ZKR_TICKET_WAITING, PATIENCE_MS);
}

/* Returns false when both the hold and the wait have ended. */
static bool watch(struct pair *p)
{
    int64_t left = zkr_mutex_valid_for_ms(p->m), now = zkt_now_ms();
    p->held_ms = left > 0 && now + left > p->held_ms ? now + left : p->held_ms;
    if (p->next_ms == 0 && zkr_ticket_state(p->next) == ZKR_TICKET_HELD) {
        p->next_ms = now;
    }
    return left > 0 || p->next_ms == 0;
}

static void expect_one_holder(struct pair *p, int count)
{
    const int64_t end = zkt_now_ms() + 4 * PATIENCE_MS; /* two servers elect a leader */
    for (bool go_on = true; go_on; zkt_sleep_ms(1)) {
        go_on = false;
        for (int i = 0; i < count; i++) {
            go_on = watch(&p[i]) || go_on;
        }
        assert_true(zkt_now_ms() < end);
    }
    for (int i = 0; i < count; i++) {
        print_message("%s: sure until %lld ms before the next held\n", p[i].path,
                      (long long)(p[i].next_ms - p[i].held_ms));
    }
    for (int i = 0; i < count; i++) {
        assert_true(p[i].held_ms <= p[i].next_ms);
    }
}

static void end(struct pair *p)
{
    ZKT_MUST(zkr_ticket_release(p->next));
    ZKT_MUST(zkr_ticket_destroy(p->next));
    ZKT_RC(zkr_mutex_release(p->m), ZKR_ESESSION);
    zkt_proxy_heal(p->proxy);
}

/* One client holds when it moves, and the other acquires its lock after the move. Then both are cut off, and the leader
   dies. */
ZKT_CASE(growth_costs_no_hold_and_counts_for_none)
{
    enum { MOVES = 2 };
    struct pair p[MOVES] = {{.path = "/held"}, {.path = "/taken"}};
    struct cluster k;
    start(&k);
    for (int i = 0; i < MOVES; i++) {
        open_pair(&k, &p[i]);
    }
    ZKT_MUST(zkr_mutex_acquire(p[0].m, PATIENCE_MS));
    for (int i = 0; i < MOVES; i++) {
        move_to_generous(&k, &p[i]);
    }
    expect_held_for(p, 1, SHORT_MS + SHORT_MS / 4);
    ZKT_MUST(zkr_mutex_acquire(p[1].m, PATIENCE_MS));
    expect_held_for(p, MOVES, 2 * SHORT_MS);
    for (int i = 0; i < MOVES; i++) {
        put_next_in_line(&k, &p[i]);
        assert_true(zkr_mutex_is_held(p[i].m));
    }
    for (int i = 0; i < MOVES; i++) {
        assert_int_equal(zkr_client_session_timeout_ms(p[i].c), SHORT_MS);
        zkt_proxy_blackhole(p[i].proxy);
    }
    zkt_server_kill(k.leader);
    expect_one_holder(p, MOVES);
    for (int i = 0; i < MOVES; i++) {
        end(&p[i]);
    }
}
