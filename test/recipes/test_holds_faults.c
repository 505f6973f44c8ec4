/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fault at each request of a cycle of acquire and release, by a search over the number of the request. Every kind of
 * hold is granted, works afterwards, and leaves no node.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "actor.h"
#include "hold.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000 };

/* The other contenders: none, a holder, or a holder and a waiter behind it. */
enum crowd { ALONE, BEHIND_ONE, BEHIND_TWO, CROWDS };

struct others {
    zkr_client *c;
    struct zkt_hold *holds, *waits;
};

static void stand_in_the_way(struct others *o, enum crowd crowd)
{
    if (crowd != ALONE) {
        ZKT_MUST(zkt_hold_acquire(o->holds, PATIENCE_MS));
    }
    if (crowd == BEHIND_TWO) {
        zkt_hold_queue(o->waits);
    }
}

/* Wait for the grant, and release. The hold may be lost by then. */
static void let_go(struct zkt_hold *h)
{
    int rc = zkt_hold_wait(h);
    rc = rc == ZKR_OK ? zkt_hold_release(h) : rc;
    assert_true(rc == ZKR_OK || rc == ZKR_ESESSION);
}

/* The two waiters may have changed places if the first one lost its node. */
static void get_out_of_the_way(struct others *o, enum crowd crowd, struct zkt_hold *h)
{
    if (crowd != ALONE) {
        (void)zkt_hold_release(o->holds);
    }
    if (crowd == BEHIND_TWO) {
        ZKT_EVENTUALLY(!zkt_hold_waits(o->waits) || !zkt_hold_waits(h), PATIENCE_MS);
        bool second = zkt_hold_waits(o->waits);
        if (second) {
            let_go(h);
        }
        let_go(o->waits);
        if (second) {
            zkt_hold_ask(h, PATIENCE_MS);
        }
    }
}

static void take_and_give_back(struct zkt_hold *h)
{
    ZKT_MUST(zkt_hold_acquire(h, PATIENCE_MS));
    ZKT_MUST(zkt_hold_release(h));
}

/* --- the connection --- */

typedef void (*arm_fn)(zkt_proxy *p, int n);

/*
 * Run a cycle, which starts with missing parents or with a wait, and ends with the confirmed delete. Behind a waiter
 * for permits, the contender queues in PATH/locks and has no lease.
 */
static bool cycle_through(arm_fn arm, int n, struct others *o, enum crowd crowd)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    struct zkt_hold *h = zkt_hold(c);
    if (crowd == ALONE) {
        (void)zkt_delete_children(zkt_servers(), zkt_path());
    }
    stand_in_the_way(o, crowd);
    arm(p, n);
    zkt_hold_queue(h);
    if (crowd != ALONE) {
        ZKT_EVENTUALLY(zkr_client_state(c) == ZKR_STATE_CONNECTED &&
                           zkt_all_answered(c),
                       PATIENCE_MS);
    }
    if (crowd == BEHIND_TWO && zkt_is(ZKT_SEMAPHORES)) {
        ZKT_BECOMES(zkt_hold_nodes(), 2 * zkt_hold_nodes_of_one() + 2, PATIENCE_MS);
    }
    get_out_of_the_way(o, crowd, h);
    ZKT_MUST(zkt_hold_wait(h));
    ZKT_BECOMES(zkt_hold_nodes(), zkt_hold_nodes_of_one(), PATIENCE_MS);
    /* After a cut, the hold is sure once a write is answered. */
    ZKT_EVENTUALLY(zkt_hold_is_sure(h), PATIENCE_MS);
    ZKT_MUST(zkt_hold_release(h));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    ZKT_MUST(zkr_client_flush(o->c, PATIENCE_MS));
    assert_int_equal(zkt_hold_nodes(), 0);
    bool struck = zkt_proxy_triggered(p) > 0;
    take_and_give_back(h);
    zkt_hold_end(h);
    zkt_close(c);
    zkt_proxy_stop(p);
    return struck;
}

static struct others others_of(zkr_client *c)
{
    return (struct others){c, zkt_hold_in_the_way(c), zkt_hold_in_the_way(c)};
}

static void search_connection(arm_fn arm)
{
    struct others o = others_of(zkt_client(zkt_servers(), SESSION_MS));
    for (enum crowd crowd = ALONE; crowd < CROWDS; crowd++) {
        for (struct zkt_strikes s = {.least = 3}; zkt_next_strike(&s);) {
            s.struck = cycle_through(arm, s.n, &o, crowd);
        }
    }
}

/* The connection is cut before the n-th request of a cycle is sent. */
ZKT_HOLD_CASE(a_cut_before_any_request_is_survived, ZKT_NONE)
{
    search_connection(zkt_proxy_cut_before_request);
}

/* The connection is cut after the server has received the n-th request: it is executed, but not answered. */
ZKT_HOLD_CASE(a_cut_after_any_request_is_survived, ZKT_NONE)
{
    search_connection(zkt_proxy_cut_after_request);
}

/* The n-th answer is lost, which may be the answer to the create or to the delete. */
ZKT_HOLD_CASE(any_lost_reply_is_survived, ZKT_NONE)
{
    search_connection(zkt_proxy_drop_reply);
}

/* --- at the server --- */

static int effects; /* number of faults that changed something at the server */

static void delete_last(void *unused)
{
    effects += zkt_hold_delete_last();
}

static void delete_parents(void *unused)
{
    zkt_hold_delete_parents();
    effects++;
}

static void expire(void *unused)
{
    zkt_expire_noted(unused);
    effects++;
}

static bool cycle_at_the_door(void (*fault)(void *ctx), int n, enum crowd crowd)
{
    struct others o = others_of(zkt_client(zkt_servers(), SESSION_MS));
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct zkt_hold *h = zkt_hold(c);
    stand_in_the_way(&o, crowd);
    zkt_note_session(c);
    zkt_door_focus(c);
    zkt_door_before(n, fault, NULL);
    zkt_hold_queue(h);
    if (crowd != ALONE) {
        ZKT_EVENTUALLY(zkt_door_fired() || zkt_all_answered(c), PATIENCE_MS);
    }
    get_out_of_the_way(&o, crowd, h);
    let_go(h);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    bool struck = zkt_door_fired();
    if (struck && fault == expire) {
        zkt_await_next_session(c);
    }
    zkt_door_focus(NULL);
    ZKT_MUST(zkr_client_flush(o.c, PATIENCE_MS));
    ZKT_BECOMES(zkt_hold_nodes(), 0, PATIENCE_MS);
    take_and_give_back(h);
    zkt_hold_end(h);
    zkt_close(c);
    zkt_hold_end(o.waits);
    zkt_hold_end(o.holds);
    zkt_close(o.c);
    /* The next cycle creates the parents again. */
    (void)zkt_delete_children(zkt_servers(), zkt_path());
    return struck;
}

static void search_door(void (*fault)(void *ctx))
{
    effects = 0;
    for (enum crowd crowd = ALONE; crowd < CROWDS; crowd++) {
        for (struct zkt_strikes s = {.least = 3}; zkt_next_strike(&s);) {
            s.struck = cycle_at_the_door(fault, s.n, crowd);
        }
    }
    assert_true(effects > 0);
}

/* The session ends when the n-th request is sent. The wait goes on in the next session. */
ZKT_HOLD_CASE(an_expiry_at_any_request_is_survived, ZKT_NONE)
{
    search_door(expire);
}

/* Somebody else deletes the last node of the queue. A holder may lose its hold, and a waiter queues again. */
ZKT_HOLD_CASE(a_node_may_vanish_at_any_request, ZKT_NONE)
{
    search_door(delete_last);
}

/* Somebody else deletes the parents of the nodes while they are empty. */
ZKT_HOLD_CASE(parents_may_vanish_at_any_request, ZKT_NONE)
{
    search_door(delete_parents);
}

/* --- the caller --- */

struct canceler {
    struct zkt_hold *h;
    sem_t now;
    pthread_t thread;
    atomic_bool over;
};

/*
 * Cancel repeatedly if a cancel stops only waiting calls, because the first request may be a probe that was sent before
 * the wait.
 */
static void *cancel_when_told(void *arg)
{
    struct canceler *k = arg;
    while (sem_wait(&k->now) != 0) {
    }
    do {
        zkt_hold_cancel(k->h);
        zkt_sleep_ms(1);
    } while (zkt_is(ZKT_BY_THREAD | ZKT_BIT(ZKT_LATCH)) && !atomic_load(&k->over));
    return NULL;
}

static void post(void *ctx)
{
    sem_post(&((struct canceler *)ctx)->now);
}

/* A cancel at any request of a wait leaves no node, and the object remains usable. */
ZKT_HOLD_CASE(a_cancel_at_any_request_leaves_nothing, ZKT_NONE)
{
    enum { REQUESTS = 4 };
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    struct zkt_hold *other = zkt_hold_in_the_way(c), *h = zkt_hold(c);
    ZKT_MUST(zkt_hold_acquire(other, PATIENCE_MS));
    int nodes = zkt_hold_nodes();
    for (int n = 1; n <= REQUESTS; n++) {
        struct canceler k = {.h = h};
        sem_init(&k.now, 0, 0);
        assert_int_equal(pthread_create(&k.thread, NULL, cancel_when_told, &k), 0);
        zkt_door_focus(c);
        zkt_door_before(n, post, &k);
        int rc = zkt_hold_acquire(h, n == REQUESTS ? 200 : PATIENCE_MS);
        assert_true(rc == ZKR_ECANCELED || (n == REQUESTS && zkt_timed_out(rc)));
        atomic_store(&k.over, true);
        sem_post(&k.now);
        pthread_join(k.thread, NULL);
        sem_destroy(&k.now);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        assert_int_equal(zkt_hold_nodes(), nodes);
    }
}

/*
 * The request is canceled while the first requests are held up, or are not answered. In two of four rounds, the
 * connection breaks as well.
 */
ZKT_HOLD_CASE(a_cancel_in_the_dark_leaves_nothing, ZKT_NONE)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    struct zkt_hold *h = zkt_hold(c);
    for (int way = 0; way < 4; way++) {
        int direction = way % 2 ? ZKT_TO_CLIENT : ZKT_TO_SERVER;
        zkt_door_focus(c);
        zkt_proxy_freeze(p, direction);
        zkt_hold_ask(h, ZKR_FOREVER);
        ZKT_EVENTUALLY(zkt_door_total() > 0, PATIENCE_MS);
        zkt_hold_cancel(h);
        ZKT_RC(zkt_hold_wait(h), ZKR_ECANCELED);
        if (way >= 2) {
            zkt_proxy_drop_connections(p);
        }
        zkt_proxy_thaw(p, direction);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        ZKT_BECOMES(zkt_hold_nodes(), 0, PATIENCE_MS);
        take_and_give_back(h);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
}

/*
 * A request that is made before a server can be reached is granted once there is a server. A request that was canceled
 * before never joins the queue.
 */
ZKT_HOLD_CASE(a_server_may_come_later, ZKT_NONE)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = NULL;
    zkt_proxy_cut(p);
    ZKT_MUST(zkr_client_open(&c, zkt_proxy_host(p), NULL));
    struct zkt_hold *h = zkt_hold(c), *canceled = zkt_hold(c);
    zkt_hold_ask(canceled, ZKR_FOREVER);
    ZKT_EVENTUALLY(zkt_waiting(c) > 0, PATIENCE_MS);
    int64_t before = zkt_now_ms();
    zkt_hold_cancel(canceled);
    ZKT_RC(zkt_hold_wait(canceled), ZKR_ECANCELED);
    ZKT_IN_RANGE(zkt_now_ms() - before, 0, 1000); /* does not wait for a server */
    zkt_hold_ask(h, ZKR_FOREVER);
    ZKT_EVENTUALLY(zkt_waiting(c) > 0, PATIENCE_MS);
    zkt_proxy_heal(p);
    ZKT_MUST(zkt_hold_wait(h));
    ZKT_BECOMES(zkt_hold_nodes(), zkt_hold_nodes_of_one(), PATIENCE_MS);
    zkt_hold_end(h);
    zkt_hold_end(canceled);
    ZKT_MUST(zkr_client_close(c));
}

/* A timeout at any moment of a wait leaves no node. */
ZKT_HOLD_CASE(a_time_out_at_any_moment_leaves_nothing, ZKT_NONE)
{
    enum { LONGEST_MS = 40, STEP_MS = 3 };
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *slow = zkt_client(zkt_proxy_host(p), SESSION_MS);
    struct zkt_hold *h = zkt_hold(slow);
    struct zkt_hold *other = zkt_hold_in_the_way(zkt_client(zkt_servers(), SESSION_MS));
    ZKT_MUST(zkt_hold_acquire(other, PATIENCE_MS));
    int nodes = zkt_hold_nodes();
    zkt_proxy_delay(p, ZKT_TO_SERVER, 5);
    zkt_proxy_delay(p, ZKT_TO_CLIENT, 5);
    for (int ms = 1; ms <= LONGEST_MS; ms += STEP_MS) {
        int rc = zkt_hold_acquire(h, ms);
        assert_true(zkt_timed_out(rc));
    }
    ZKT_MUST(zkr_client_flush(slow, PATIENCE_MS));
    assert_int_equal(zkt_hold_nodes(), nodes);
}

/*
 * A client is closed while claims are being removed. The end of the session deletes the nodes long before the
 * session timeout.
 */
ZKT_HOLD_CASE(a_close_takes_all_nodes_along, ZKT_NONE)
{
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    for (int i = 0; i < 5; i++) {
        zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
        struct zkt_hold *h = zkt_hold(c);
        zkt_proxy_delay(p, ZKT_TO_SERVER, 2 * i);
        zkt_proxy_delay(p, ZKT_TO_CLIENT, 2 * i);
        (void)zkt_hold_acquire(h, (int64_t)i * 4);
        zkt_hold_end(h);
        zkt_close(c);
        ZKT_BECOMES(zkt_hold_nodes(), 0, SESSION_MS / 2);
        zkt_proxy_heal(p);
    }
}
