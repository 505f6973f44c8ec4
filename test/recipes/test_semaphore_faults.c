/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fault at every request of a semaphore's cycle, found by search over the request's number: permits are had, all
 * or none, the semaphore works afterwards, and no node stays.
 */
#include "semaphores.h"

enum { MAX = 3 };

/* Straight in; inside, when the permits are short; or first at the gate, behind one who waits inside. */
enum way { STRAIGHT, INSIDE, QUEUED, WAYS };

/* One of another client's, who stands in the way. */
struct others {
    zkr_client *c;
    zkr_semaphore *s;
    zkr_ticket *held, *ahead;
};

static void stand_in_the_way(struct others *o, enum way way)
{
    o->held = way == STRAIGHT ? NULL : take(o->s, 2);
    o->ahead = way == QUEUED ? queue_for(o->s, 3, NULL) : NULL;
    if (o->ahead) {
        ZKT_BECOMES(leases(), 5, PATIENCE_MS);
    }
}

static void get_out_of_the_way(struct others *o)
{
    if (o->held) {
        end(o->held);
    }
    if (o->ahead) {
        ZKT_MUST(zkr_ticket_wait(o->ahead, PATIENCE_MS));
        end(o->ahead);
    }
    ZKT_MUST(zkr_client_flush(o->c, PATIENCE_MS));
}

static void take_and_give_back(zkr_semaphore *s)
{
    end(take(s, MAX));
}

/* It waits where it is to wait. */
static bool is_waiting(enum way way)
{
    return way == INSIDE ? leases() == 4 && at_gate() == 1
                         : way == STRAIGHT || (leases() == 5 && at_gate() == 2);
}

/* --- the connection --- */

typedef void (*arm_fn)(zkt_proxy *p, int n);

/* From missing parents, or from a wait, to the confirmed delete. */
static bool one_cycle(arm_fn arm, int n, struct others *o, enum way way)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_semaphore *s = semaphore(c, MAX);
    if (way == STRAIGHT) {
        zkt_delete_children(zkt_servers(), zkt_path());
    }
    stand_in_the_way(o, way);
    arm(p, n);
    zkr_ticket *t = ask_for(s, 2, NULL);
    ZKT_EVENTUALLY(is_waiting(way), PATIENCE_MS);
    get_out_of_the_way(o);
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    ZKT_EVENTUALLY(leases() == 2 && at_gate() <= 0, PATIENCE_MS);
    end(t);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_true(leases() == 0 && at_gate() <= 0);
    bool triggered = zkt_proxy_triggered(p) > 0;
    take_and_give_back(s);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    end_semaphore(s);
    zkt_close(c);
    zkt_proxy_stop(p);
    return triggered;
}

static void search_cycles(arm_fn arm)
{
    for (enum way way = STRAIGHT; way < WAYS; way++) {
        struct others o = {.c = zkt_client(zkt_servers(), SESSION_MS)};
        o.s = semaphore(o.c, MAX);
        for (struct zkt_strikes s = {.least = 4}; zkt_next_strike(&s);) {
            s.struck = one_cycle(arm, s.n, &o, way);
        }
        end_semaphore(o.s);
        zkt_close(o.c);
        (void)zkt_delete_children(zkt_servers(), zkt_path());
    }
}

ZKT_CASE(a_cut_before_any_request_is_survived)
{
    search_cycles(zkt_proxy_cut_before_request);
}

ZKT_CASE(a_cut_after_any_request_is_survived)
{
    search_cycles(zkt_proxy_cut_after_request);
}

ZKT_CASE(any_lost_reply_is_survived)
{
    search_cycles(zkt_proxy_drop_reply);
}

/* --- at the server --- */

static int effects; /* of faults at the server */

static void delete_parent_of(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", zkt_path(), name);
    effects += zkt_delete(zkt_servers(), path) == 0;
}

/* Only when they are empty. */
static void delete_parents(void *unused)
{
    (void)unused;
    delete_parent_of("leases");
    delete_parent_of("locks");
}

/* The newest of them, which is the victim's. */
static void delete_newest(const char *name)
{
    char path[256], node[512] = "";
    zkt_list list = {0};
    (void)snprintf(path, sizeof(path), "%s/%s", zkt_path(), name);
    (void)zkt_children(zkt_servers(), path, &list);
    for (int i = 0; i < list.count; i++) {
        const char *number = list.name[i] + strlen(list.name[i]) - 10;
        if (node[0] == '\0' || strcmp(number, node + strlen(node) - 10) > 0) {
            (void)snprintf(node, sizeof(node), "%s/%s", path, list.name[i]);
        }
    }
    zkt_list_free(&list);
    if (node[0] != '\0') {
        effects += zkt_delete(zkt_servers(), node) == 0;
    }
}

static void delete_lease(void *unused)
{
    (void)unused;
    delete_newest("leases");
}

static void delete_at_gate(void *unused)
{
    (void)unused;
    delete_newest("locks");
}

/* One whose node at the gate is deleted enters anew, and the other may be first then. */
static bool is_second(zkr_ticket *t, zkr_ticket *other)
{
    ZKT_EVENTUALLY(zkr_ticket_state(t) != ZKR_TICKET_WAITING ||
                       zkr_ticket_state(other) != ZKR_TICKET_WAITING,
                   PATIENCE_MS);
    return zkr_ticket_state(t) == ZKR_TICKET_WAITING;
}

/* It is granted, and may be lost by now. */
static void let_go(zkr_ticket *t)
{
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    int rc = zkr_ticket_release(t);
    assert_true(rc == ZKR_OK || rc == ZKR_ESESSION);
    ZKT_MUST(zkr_ticket_destroy(t));
}

static void search_door(void (*fault)(void *ctx), enum way way)
{
    effects = 0;
    for (struct zkt_strikes k = {.least = 4}; zkt_next_strike(&k);) {
        struct others o = {.c = zkt_client(zkt_servers(), SESSION_MS)};
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        zkr_semaphore *s = semaphore(c, MAX);
        o.s = semaphore(o.c, MAX);
        take_and_give_back(o.s); /* makes the parents */
        ZKT_MUST(zkr_client_flush(o.c, PATIENCE_MS));
        stand_in_the_way(&o, way);
        zkt_note_session(c);
        zkt_door_focus(c);
        zkt_door_before(k.n, fault, NULL);
        zkr_ticket *t = ask_for(s, 2, NULL);
        if (!zkt_door_fired()) {
            ZKT_EVENTUALLY(is_waiting(way) || zkt_door_fired(), PATIENCE_MS);
        }
        (void)zkr_ticket_wait(t, way == STRAIGHT ? PATIENCE_MS : 0);
        if (o.held) {
            (void)zkr_ticket_release(
                o.held); /* it may have been the one whose node went */
            ZKT_MUST(zkr_ticket_destroy(o.held));
        }
        bool second = o.ahead && is_second(o.ahead, t);
        if (o.ahead && !second) {
            let_go(o.ahead);
        }
        let_go(t);
        if (second) {
            let_go(o.ahead);
        }
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        k.struck = zkt_door_fired();
        if (k.struck && fault == zkt_expire_noted) {
            zkt_await_next_session(c);
            effects++;
        }
        zkt_door_focus(NULL);
        take_and_give_back(s);
        ZKT_MUST(zkr_client_flush(o.c, PATIENCE_MS));
        end_semaphore(o.s);
        zkt_close(o.c);
        end_semaphore(s);
        zkt_close(c);
        (void)zkt_delete_children(zkt_servers(),
                                  zkt_path()); /* the next one makes them */
    }
    assert_true(effects > 0);
}

ZKT_CASE(an_expiry_at_any_request_is_survived)
{
    search_door(zkt_expire_noted, STRAIGHT);
    search_door(zkt_expire_noted, INSIDE);
    search_door(zkt_expire_noted, QUEUED);
}

ZKT_CASE(parents_may_vanish_at_any_request)
{
    search_door(delete_parents, STRAIGHT);
    search_door(delete_parents, INSIDE);
}

/* One that was told of its permits may lose them, one that waits goes on. */
ZKT_CASE(a_node_may_vanish_at_any_request)
{
    search_door(delete_lease, INSIDE);
    search_door(delete_at_gate, INSIDE);
    search_door(delete_at_gate, QUEUED);
}

/* A server that is gone for longer than the wait: the deadline holds, and nothing stays. */
ZKT_CASE(a_deadline_holds_without_a_server)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_semaphore *s = semaphore(c, MAX);
    zkr_ticket *t = NULL;
    for (int way = 0; way < 3; way++) {
        if (way == 0) {
            zkt_proxy_cut(p);
        } else {
            zkt_proxy_freeze(p, way == 1 ? ZKT_TO_SERVER : ZKT_TO_CLIENT);
        }
        int64_t before = zkt_now_ms();
        expect(zkr_semaphore_acquire(s, 2, 300, &t), ZKR_ENOANSWER);
        assert_in_range(zkt_now_ms() - before, 299, 300 + SOON_MS);
        zkt_proxy_heal(p);
        ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_CONNECTED, PATIENCE_MS);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        assert_true(leases() <= 0 && at_gate() <= 0);
        take_and_give_back(s);
    }
}
