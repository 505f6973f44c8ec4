/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fault at every request of a semaphore's cycle, found by search over the request's number: permits are had, all
 * or none, the semaphore works afterwards, and no node stays.
 */
#include "semaphores.h"

enum { MAX = 3, STEPS_MAX = 80 };

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
        ZKT_EVENTUALLY(leases() == 5, PATIENCE_MS);
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
    ZKT_MUST(zkr_semaphore_destroy(s));
    zkt_close(c);
    zkt_proxy_stop(p);
    return triggered;
}

static void search_cycles(arm_fn arm)
{
    for (enum way way = STRAIGHT; way < WAYS; way++) {
        struct others o = {.c = zkt_client(zkt_servers(), SESSION_MS)};
        int n = 0;
        o.s = semaphore(o.c, MAX);
        do {
            assert_true(n < STEPS_MAX);
        } while (one_cycle(arm, ++n, &o, way));
        assert_true(n > 4); /* the faults did happen */
        done(o.s, o.c);
    }
}

static void a_cut_before_any_request_is_survived(void **state)
{
    (void)state;
    search_cycles(zkt_proxy_cut_before_request);
}

static void a_cut_after_any_request_is_survived(void **state)
{
    (void)state;
    search_cycles(zkt_proxy_cut_after_request);
}

static void any_lost_reply_is_survived(void **state)
{
    (void)state;
    search_cycles(zkt_proxy_drop_reply);
}

/* --- at the server --- */

struct victim {
    int64_t id;
    unsigned char password[16];
};

static void expire(void *ctx)
{
    const struct victim *v = ctx;
    zkt_expire_session(zkt_servers(), v->id, v->password);
}

static void delete_parent_of(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", zkt_path(), name);
    (void)zkt_delete(zkt_servers(), path);
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
        (void)zkt_delete(zkt_servers(), node);
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

static void search_door(void (*fault)(void *ctx), enum way way)
{
    bool fired = true;
    for (int n = 1; fired; n++) {
        assert_true(n < STEPS_MAX);
        struct others o = {.c = zkt_client(zkt_servers(), SESSION_MS)};
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        zkr_semaphore *s = semaphore(c, MAX);
        struct victim victim;
        o.s = semaphore(o.c, MAX);
        stand_in_the_way(&o, way);
        zkt_door_session(c, &victim.id, victim.password);
        zkt_door_focus(c);
        zkt_door_before(n, fault, &victim);
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
        if (o.ahead) {
            ZKT_MUST(zkr_ticket_wait(o.ahead, PATIENCE_MS));
            (void)zkr_ticket_release(o.ahead);
            ZKT_MUST(zkr_ticket_destroy(o.ahead));
        }
        ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
        int rc = zkr_ticket_release(t);
        assert_true(rc == ZKR_OK || rc == ZKR_ESESSION);
        ZKT_MUST(zkr_ticket_destroy(t));
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        fired = zkt_door_fired();
        zkt_door_focus(NULL);
        take_and_give_back(s);
        ZKT_MUST(zkr_client_flush(o.c, PATIENCE_MS));
        ZKT_MUST(zkr_semaphore_destroy(o.s));
        zkt_close(o.c);
        done(s, c);
    }
}

static void an_expiry_at_any_request_is_survived(void **state)
{
    (void)state;
    search_door(expire, STRAIGHT);
    search_door(expire, INSIDE);
    search_door(expire, QUEUED);
}

static void parents_may_vanish_at_any_request(void **state)
{
    (void)state;
    search_door(delete_parents, STRAIGHT);
    search_door(delete_parents, INSIDE);
}

/* One that was told of its permits may lose them, one that waits goes on. */
static void a_node_may_vanish_at_any_request(void **state)
{
    (void)state;
    search_door(delete_lease, INSIDE);
    search_door(delete_at_gate, INSIDE);
    search_door(delete_at_gate, QUEUED);
}

/* A server that is gone for longer than the wait: the deadline holds, and nothing stays. */
static void a_deadline_holds_without_a_server(void **state)
{
    (void)state;
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
        ZKT_EVENTUALLY(zkr_client_state(c) == ZKR_STATE_CONNECTED, PATIENCE_MS);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        assert_true(leases() <= 0 && at_gate() <= 0);
        take_and_give_back(s);
    }
    done(s, c);
    zkt_proxy_stop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ZKT_TEST(a_cut_before_any_request_is_survived),
        ZKT_TEST(a_cut_after_any_request_is_survived),
        ZKT_TEST(any_lost_reply_is_survived),
        ZKT_TEST(an_expiry_at_any_request_is_survived),
        ZKT_TEST(parents_may_vanish_at_any_request),
        ZKT_TEST(a_node_may_vanish_at_any_request),
        ZKT_TEST(a_deadline_holds_without_a_server),
    };
    return cmocka_run_group_tests(tests, zkt_group_setup, zkt_group_teardown);
}
