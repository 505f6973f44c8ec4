/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fault at every request of a multi-lock's cycle, found by search over the request's number: all or
 * none, the lock works afterwards, and no node stays.
 */
#include "multi_locks.h"

enum { PATHS = 3, BUSY = 1 };

/* --- the connection --- */

typedef void (*arm_fn)(zkt_proxy *p, int n);

static void take_and_give_back(zkr_multi_lock *l)
{
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_multi_lock_acquire(l, PATIENCE_MS, &t));
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_HELD);
    assert_int_equal(nodes_of(PATHS), PATHS);
    end(t);
}

/* From missing parents to the confirmed delete; with @held it waits in between. */
static bool one_cycle(arm_fn arm, int n, zkr_mutex *held)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_multi_lock *l = MULTI_LOCK(c, 0, BUSY, 2);
    if (held) {
        ZKT_MUST(zkr_mutex_acquire(held, PATIENCE_MS));
    } else {
        zkt_delete_children(zkt_servers(), zkt_path());
    }
    arm(p, n);
    zkr_ticket *t = ask(l, PATIENCE_MS, NULL);
    if (held) {
        ZKT_BECOMES(nodes_of(PATHS), PATHS + 1, PATIENCE_MS);
        ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_CONNECTED, PATIENCE_MS);
        ZKT_MUST(zkr_mutex_release(held));
    }
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    ZKT_BECOMES(nodes_of(PATHS), PATHS, PATIENCE_MS);
    end(t);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(nodes_of(PATHS), 0);
    bool triggered = zkt_proxy_triggered(p) > 0;
    take_and_give_back(l);
    end_multi_lock(l);
    finish(c, PATHS);
    zkt_proxy_stop(p);
    return triggered;
}

static void search_cycles(arm_fn arm, bool wait)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *held = NULL;
    ZKT_MUST(zkr_mutex_create(&held, c, path_of(BUSY), NULL));
    for (struct zkt_strikes s = {.least = 4}; zkt_next_strike(&s);) {
        s.struck = one_cycle(arm, s.n, wait ? held : NULL);
    }
    zkt_destroy(held);
    zkt_close(c);
}

ZKT_CASE(a_cut_before_any_request_is_survived)
{
    search_cycles(zkt_proxy_cut_before_request, false);
    search_cycles(zkt_proxy_cut_before_request, true);
}

ZKT_CASE(a_cut_after_any_request_is_survived)
{
    search_cycles(zkt_proxy_cut_after_request, false);
    search_cycles(zkt_proxy_cut_after_request, true);
}

ZKT_CASE(any_lost_reply_is_survived)
{
    search_cycles(zkt_proxy_drop_reply, false);
    search_cycles(zkt_proxy_drop_reply, true);
}

/* --- at the server --- */

static int effects; /* of faults at the server */

/* Only when it is empty. */
static void delete_parent(void *unused)
{
    (void)unused;
    effects += zkt_delete(zkt_servers(), path_of(2)) == 0;
}

static void delete_node(void *unused)
{
    char node[2 * PATH_ROOM];
    (void)unused;
    if (nodes_at(2) > 0) {
        last_at(2, node, sizeof(node));
        effects += zkt_delete(zkt_servers(), node) == 0;
    }
}

static void search_door(void (*fault)(void *ctx), bool wait)
{
    effects = 0;
    zkr_client *other = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *held = zkt_mutex_at(other, path_of(BUSY), NULL);
    for (struct zkt_strikes s = {.least = 4}; zkt_next_strike(&s);) {
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        zkr_multi_lock *l = MULTI_LOCK(c, 0, BUSY, 2);
        if (wait) {
            ZKT_MUST(zkr_mutex_acquire(held, PATIENCE_MS));
        }
        zkt_create_path(zkt_servers(), path_of(2)); /* empty, until ours is there */
        zkt_note_session(c);
        zkt_door_focus(c);
        zkt_door_before(s.n, fault, NULL);
        zkr_ticket *t = ask(l, PATIENCE_MS, NULL);
        if (wait) {
            ZKT_BECOMES(nodes_of(PATHS), PATHS + 1, PATIENCE_MS);
            ZKT_MUST(zkr_mutex_release(held));
        }
        ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
        int rc = zkr_ticket_release(t);
        assert_true(rc == ZKR_OK || rc == ZKR_ESESSION);
        ZKT_MUST(zkr_ticket_destroy(t));
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        s.struck = zkt_door_fired();
        if (s.struck && fault == zkt_expire_noted) {
            zkt_await_next_session(c);
            effects++;
        }
        zkt_door_focus(NULL);
        ZKT_BECOMES(nodes_of(PATHS), 0, PATIENCE_MS);
        take_and_give_back(l);
        end_multi_lock(l);
        finish(c, PATHS);
    }
    assert_true(effects > 0);
    zkt_destroy(held);
    zkt_close(other);
}

ZKT_CASE(an_expiry_at_any_request_is_survived)
{
    search_door(zkt_expire_noted, false);
    search_door(zkt_expire_noted, true);
}

ZKT_CASE(a_parent_may_vanish_at_any_request)
{
    search_door(delete_parent, false);
    search_door(delete_parent, true);
}

ZKT_CASE(a_node_may_vanish_at_any_request)
{
    search_door(delete_node, false);
    search_door(delete_node, true);
}

/* A server that is gone for longer than the wait: the deadline holds, and nothing stays. */
ZKT_CASE(a_deadline_holds_without_a_server)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_multi_lock *l = MULTI_LOCK(c, 0, 1, 2);
    zkr_ticket *t = NULL;
    for (int way = 0; way < 3; way++) {
        if (way == 0) {
            zkt_proxy_cut(p);
        } else {
            zkt_proxy_freeze(p, way == 1 ? ZKT_TO_SERVER : ZKT_TO_CLIENT);
        }
        int64_t before = zkt_now_ms();
        expect(zkr_multi_lock_acquire(l, 300, &t), ZKR_ENOANSWER);
        assert_in_range(zkt_now_ms() - before, 299, 300 + SOON_MS);
        zkt_proxy_heal(p);
        ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_CONNECTED, PATIENCE_MS);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        assert_int_equal(nodes_of(PATHS), 0);
        take_and_give_back(l);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
    expect_nothing_left(c, PATHS);
}

/* --- the credentials --- */

/*
 * A refusal ends the handle at any moment, and libzookeeper does not survive that while it packs a transaction. So none
 * is sent before the credentials are taken.
 */
ZKT_CASE(refused_credentials_end_large_requests)
{
    enum { RUNS = 30, TICKETS = 10, LARGE = 20 };
    const char *paths[LARGE];
    for (int i = 0; i < LARGE; i++) {
        paths[i] = path_of(i);
    }
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.auth_scheme = "no-such-scheme";
    o.auth_cert = "x";
    o.auth_cert_len = 1;
    for (int run = 0; run < RUNS; run++) {
        zkr_client *c = NULL;
        zkr_ticket *tickets[TICKETS];
        ZKT_MUST(zkr_client_open(&c, zkt_servers(), &o));
        zkr_multi_lock *l = NULL;
        ZKT_MUST(zkr_multi_lock_create(&l, c, paths, LARGE, NULL));
        for (int i = 0; i < TICKETS; i++) {
            tickets[i] = ask(l, PATIENCE_MS, NULL);
        }
        for (int i = 0; i < TICKETS; i++) {
            ZKT_RC(zkr_ticket_wait(tickets[i], PATIENCE_MS), ZKR_EAUTH);
            ZKT_MUST(zkr_ticket_destroy(tickets[i]));
        }
        ZKT_MUST(zkr_multi_lock_destroy(l));
        zkt_close(c);
    }
}
