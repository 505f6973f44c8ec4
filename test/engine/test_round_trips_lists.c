/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims that need a list share it. No list is sent when sequence numbers show the contenders. The requests of the
 * client are counted.
 */
#include <stdio.h>

#include "actor.h"
#include "base/mem.h"
#include "queue/claim.h"
#include "queue/engine_state.h"
#include "rwlocks.h"

enum { SESSION_MS = 30000, PATIENCE_MS = 20000 };

static void cycle(zkr_mutex *m, zkr_client *c)
{
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
}

/* Returns a mutex of a client that knows the contenders. */
static zkr_mutex *known(zkr_client *c)
{
    zkr_mutex *m = zkt_mutex(c);
    cycle(m, c);
    cycle(m, c);
    return m;
}

static void leave(zkr_ticket *t)
{
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
}

static int lists(void)
{
    return zkt_door_count(ZKR__OP_CHILDREN);
}

/*
 * The first thread gets one list, and all others share another one. The node of a holder proves to the client that the
 * path exists.
 */
ZKT_CASE(threads_that_join_together_need_two_lists)
{
    enum { THREADS = 8 };
    struct zkt_actor actors[THREADS];
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkt_proxy_freeze(p, ZKT_TO_SERVER); /* so that they really come together */
    zkt_door_focus(c);
    for (int i = 0; i < THREADS; i++) {
        zkt_actor_start(&actors[i], m, ZKR_FOREVER, NULL);
    }
    ZKT_BECOMES(zkt_door_count(ZKR__OP_CREATE), THREADS, PATIENCE_MS);
    zkt_proxy_thaw(p, ZKT_TO_SERVER);
    ZKT_MUST(zkr_mutex_release(m));
    for (int i = 0; i < THREADS; i++) {
        atomic_store(&actors[i].let_go, true);
    }
    for (int i = 0; i < THREADS; i++) {
        ZKT_MUST(zkt_actor_end(&actors[i]));
    }
    ZKT_IN_RANGE(lists(), 1, 2);
}

static bool waits_for_the_next_list(zkr_client *c)
{
    zkr__lock(c);
    const struct zkr__engine *engine = c->engine;
    bool waits = engine->directories->later != NULL;
    zkr__unlock(c);
    return waits;
}

/* A claim that leaves before its list is sent does not need it. */
ZKT_CASE(who_leaves_asks_for_no_list)
{
    zkr_ticket *first, *waits;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_client *other = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *ahead = sides_of(other).w, *writer = sides_of(c).w;
    ZKT_MUST(zkr_mutex_acquire(ahead, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_request(writer, ZKR_FOREVER, NULL, NULL, &waits));
    ZKT_BECOMES(zkt_waiting(c), 1, PATIENCE_MS);
    ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
    zkt_door_focus(c);
    zkt_proxy_freeze(p, ZKT_TO_SERVER);
    ZKT_MUST(zkr_mutex_request(writer, ZKR_FOREVER, NULL, NULL, &first));
    ZKT_BECOMES(lists(), 1, PATIENCE_MS);
    /* The waiter now needs a list, which will be the next one. */
    ZKT_MUST(zkr_mutex_release(ahead));
    ZKT_EVENTUALLY(waits_for_the_next_list(c), PATIENCE_MS);
    ZKT_MUST(zkr_ticket_release(waits));
    zkt_proxy_thaw(p, ZKT_TO_SERVER);
    ZKT_BECOMES(zkr_ticket_state(first), ZKR_TICKET_HELD, PATIENCE_MS);
    ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
    assert_int_equal(lists(), 1);
    leave(first);
    ZKT_MUST(zkr_ticket_destroy(waits));
}

/* The same crowd on a lock that the client knows: the sequence numbers give the places. */
ZKT_CASE(threads_that_come_again_need_none)
{
    enum { THREADS = 8 };
    struct zkt_actor actors[THREADS];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = known(c);
    atomic_int turn = 0;
    zkt_door_focus(c);
    for (int i = 0; i < THREADS; i++) {
        zkt_actor_start(&actors[i], m, ZKR_FOREVER, &turn);
        atomic_store(&actors[i].let_go, true);
    }
    for (int i = 0; i < THREADS; i++) {
        ZKT_MUST(zkt_actor_end(&actors[i]));
    }
    assert_int_equal(atomic_load(&turn), THREADS);
    assert_int_equal(lists(), 0);
    assert_int_equal(zkt_door_count(ZKR__OP_CREATE), THREADS);
    ZKT_IN_RANGE(zkt_door_count(ZKR__OP_GET), 0, THREADS); /* gets of their own nodes */
    ZKT_IN_RANGE(zkt_door_total(), 2 * THREADS, 3 * THREADS);
}

/* However many contenders come at once through several sessions, each session sends a few lists. */
ZKT_CASE(a_crowd_of_ten_sessions_costs_a_few_lists_each)
{
    enum { SESSIONS = 10, EACH = 60, FEW = 4 };
    static zkr_ticket *tickets[SESSIONS][EACH];
    zkr_client *clients[SESSIONS];
    zkr_mutex *mutexes[SESSIONS];
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    for (int i = 0; i < SESSIONS; i++) {
        clients[i] = zkt_client(zkt_proxy_host(p), SESSION_MS);
        mutexes[i] = zkt_mutex(clients[i]);
    }
    for (int counted = 0; counted < SESSIONS; counted += SESSIONS - 1) {
        for (int i = 0; i < SESSIONS; i++) { /* makes the path exist */
            ZKT_MUST(
                zkr_mutex_request(mutexes[i], ZKR_FOREVER, NULL, NULL, &tickets[i][0]));
            ZKT_EVENTUALLY(zkt_all_answered(clients[i]), PATIENCE_MS);
        }
        zkt_door_focus(clients[counted]);
        /* All the others come before the first answer. */
        zkt_proxy_freeze(p, ZKT_TO_CLIENT);
        for (int k = 1; k < EACH; k++) {
            for (int i = 0; i < SESSIONS; i++) {
                ZKT_MUST(zkr_mutex_request(mutexes[i], ZKR_FOREVER, NULL, NULL,
                                           &tickets[i][k]));
            }
        }
        ZKT_BECOMES(zkt_nodes(), SESSIONS * EACH, PATIENCE_MS);
        zkt_proxy_thaw(p, ZKT_TO_CLIENT);
        for (int i = 0; i < SESSIONS; i++) {
            ZKT_BECOMES(zkt_waiting(clients[i]),
                        EACH - (zkr_ticket_state(tickets[i][0]) == ZKR_TICKET_HELD),
                        PATIENCE_MS);
        }
        ZKT_IN_RANGE(lists(), 1, FEW);
        for (int i = 0; i < SESSIONS; i++) {
            for (int k = EACH - 1; k >= 0; k--) {
                (void)zkr_ticket_release(tickets[i][k]);
                ZKT_MUST(zkr_ticket_destroy(tickets[i][k]));
            }
            ZKT_MUST(zkr_client_flush(clients[i], PATIENCE_MS));
        }
    }
}

/* A foreign contender in between makes the sequence number skip, which costs one more list and round trip, once. */
ZKT_CASE(a_stranger_in_between_costs_a_list)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *other = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = known(c), *theirs = zkt_mutex(other);
    ZKT_MUST(zkr_mutex_acquire(theirs, PATIENCE_MS));
    zkt_door_focus(c);
    ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ETIMEDOUT);
    assert_int_equal(lists(), 1);
    ZKT_MUST(zkr_mutex_release(theirs));
    ZKT_MUST(zkr_client_flush(other, PATIENCE_MS));
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    /* A list is sent along with the create until no other contender joins in between. */
    for (int i = 0; i < 2; i++) {
        cycle(m, c);
    }
    assert_int_equal(lists(), 3);
    cycle(m, c);
    assert_int_equal(lists(), 3);
}

/*
 * A directory that was created again counts from 0, and may assign the expected number. The watch on the directory
 * shows the difference.
 */
ZKT_CASE(a_directory_made_again_is_another_one)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/x-lock-0000000001", zkt_path());
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    cycle(m, c);
    cycle(m, c); /* the next number is 2 */
    assert_int_equal(zkt_delete(zkt_servers(), zkt_path()), 0);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    assert_int_equal(zkt_create(zkt_servers(), path, "", 0), 0);
    (void)snprintf(path, sizeof(path), "%s/gone", zkt_path());
    assert_int_equal(zkt_create(zkt_servers(), path, "", 0), 0);
    ZKT_RC(zkr_mutex_acquire(m, 0), ZKR_ETIMEDOUT);
}

/* The client's knowledge ends with the session, and so does the watch on the directory. */
ZKT_CASE(a_new_session_knows_nothing)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = known(c);
    zkt_expire(c);
    zkt_door_focus(c);
    cycle(m, c); /* the first node of the new session in this directory */
    assert_int_equal(lists(), 1);
    assert_int_equal(zkt_door_count(ZKR__OP_GET), 0);
    cycle(m, c);
    assert_int_equal(lists(), 2);
    assert_int_equal(zkt_door_count(ZKR__OP_GET), 1);
    cycle(m, c);
    assert_int_equal(lists(), 2);
}

/* A change of the directory's data triggers the watch. The watch is set again, and until then, the client lists. */
ZKT_CASE(a_directory_that_changes_is_watched_again)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = known(c);
    zkt_door_focus(c);
    assert_int_equal(zkt_set(zkt_servers(), zkt_path(), "x"), 0);
    cycle(m, c); /* the event arrives during this cycle at the latest */
    cycle(m, c);
    ZKT_IN_RANGE(lists(), 1, 2);
    assert_int_equal(zkt_door_count(ZKR__OP_GET), 1);
    int before = lists();
    cycle(m, c);
    assert_int_equal(lists(), before);
    assert_int_equal(zkt_door_count(ZKR__OP_GET), 1);
}

/* --- others --- */

enum { QUEUE = 4 };

/*
 * Clients, each behind its own proxy. All of them have held the lock before. The first one holds it, and the others
 * wait in their order.
 */
struct queue {
    zkt_proxy *p[QUEUE];
    zkr_client *c[QUEUE];
    zkr_mutex *m[QUEUE];
    zkr_ticket *t[QUEUE];
};

static zkr_ticket *line_up(struct queue *q, int i)
{
    zkr_ticket *t = NULL;
    int nodes = zkt_nodes();
    ZKT_MUST(zkr_mutex_request(q->m[i], ZKR_FOREVER, NULL, NULL, &t));
    ZKT_BECOMES(zkt_nodes(), nodes + 1, PATIENCE_MS);
    return t;
}

static void begin_queue(struct queue *q)
{
    for (int i = 0; i < QUEUE; i++) {
        q->p[i] = zkt_proxy_start(zkt_servers());
        zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
        o.session_timeout_ms = SESSION_MS;
        /* The list of a look ahead lacks the contenders behind the claim. */
        o.look_ahead = -1;
        q->c[i] = zkt_client_with(zkt_proxy_host(q->p[i]), &o);
        q->m[i] = known(q->c[i]);
    }
    ZKT_MUST(zkr_mutex_request(q->m[0], ZKR_FOREVER, NULL, NULL, &q->t[0]));
    ZKT_MUST(zkr_ticket_wait(q->t[0], PATIENCE_MS));
    for (int i = 1; i < QUEUE; i++) {
        q->t[i] = line_up(q, i);
    }
}

/* Let the first contender release. Its client has requested again before that. */
static void turn(struct queue *q, int first, int next)
{
    zkr_ticket *again = line_up(q, first);
    leave(q->t[first]);
    q->t[first] = again;
    ZKT_MUST(zkr_ticket_wait(q->t[next], PATIENCE_MS));
}

/* Make several turns, after which the list shows no newcomers. */
static void turn_on(struct queue *q, int turns)
{
    for (int i = 0; i < turns; i++) {
        turn(q, i % QUEUE, (i + 1) % QUEUE);
    }
}

static void leave_at(struct queue *q, int i)
{
    leave(q->t[i]);
    q->t[i] = NULL;
}

static void end_queue(struct queue *q)
{
    for (int i = 0; i < QUEUE; i++) {
        if (q->t[i]) {
            leave_at(q, i);
        }
        ZKT_MUST(zkr_client_flush(q->c[i], PATIENCE_MS));
    }
}

/* Let the third contender release and request again at once, before its delete is answered. */
static void come_again(struct queue *q)
{
    zkt_proxy_freeze(q->p[2], ZKT_TO_CLIENT);
    leave(q->t[2]);
    ZKT_MUST(zkr_mutex_request(q->m[2], ZKR_FOREVER, NULL, NULL, &q->t[2]));
    zkt_proxy_thaw(q->p[2], ZKT_TO_CLIENT);
    ZKT_BECOMES(zkt_waiting(q->c[2]), 1, PATIENCE_MS);
    /* The claim watches the last node and, if the wait is long, also its own node. */
    ZKT_EVENTUALLY(zkt_door_count(ZKR__OP_GET) >= 1, PATIENCE_MS);
    assert_int_equal(lists(), 1);
}

/*
 * The list that grants shows the waiters behind the holder. A holder that releases and requests again at once queues
 * behind them.
 */
ZKT_CASE(who_comes_again_at_once_needs_no_list_to_join)
{
    struct queue q;
    begin_queue(&q);
    turn_on(&q, 2 * QUEUE + 1);
    zkt_door_focus(q.c[2]);
    turn(&q, 1, 2);
    assert_int_equal(lists(), 1);
    come_again(&q);
    zkt_door_focus(q.c[2]);
    for (int i = 3; i < 3 + QUEUE - 1;
         i++) { /* q.t[2] waits until each of these tickets has left */
        assert_int_equal(zkr_ticket_state(q.t[2]), ZKR_TICKET_WAITING);
        ZKT_MUST(zkr_ticket_wait(q.t[i % QUEUE], PATIENCE_MS));
        leave_at(&q, i % QUEUE);
    }
    ZKT_MUST(zkr_ticket_wait(q.t[2], PATIENCE_MS));
    assert_int_equal(lists(), 1);
    end_queue(&q);
}

/* The name of a contender that joined in between is unknown, so the claim lists after all. */
ZKT_CASE(a_newcomer_in_between_costs_a_list)
{
    struct queue q;
    begin_queue(&q);
    turn_on(&q, 2 * QUEUE + 2);
    zkr_ticket *more = line_up(&q, 3);
    zkt_door_focus(q.c[2]);
    come_again(&q);
    leave_at(&q, 3);
    leave_at(&q, 0);
    leave_at(&q, 1);
    ZKT_MUST(zkr_ticket_wait(more, PATIENCE_MS));
    assert_int_equal(zkr_ticket_state(q.t[2]), ZKR_TICKET_WAITING);
    leave(more);
    ZKT_MUST(zkr_ticket_wait(q.t[2], PATIENCE_MS));
    end_queue(&q);
}

/* The known waiters may have left since. Then a try does not fail because of them, and a wait does not continue. */
ZKT_CASE(who_is_known_may_be_gone)
{
    static const int64_t timeouts[] = {0, PATIENCE_MS};
    for (int k = 0; k < 2; k++) {
        struct queue q;
        begin_queue(&q);
        turn(&q, 0, 1);
        turn(&q, 1, 2);
        for (int i = 0; i < QUEUE; i++) {
            if (i != 2) {
                leave_at(&q, i);
                ZKT_MUST(zkr_client_flush(q.c[i], PATIENCE_MS));
            }
        }
        leave_at(&q, 2);
        ZKT_MUST(zkr_mutex_acquire(q.m[2], timeouts[k]));
        ZKT_MUST(zkr_mutex_release(q.m[2]));
        end_queue(&q);
    }
}

/*
 * A try does not fail because of such a waiter, either, if a claim of this client is directly ahead of the try and
 * leaves.
 */
ZKT_CASE(a_try_fails_by_nobody_who_may_be_gone)
{
    struct queue q;
    struct zkt_actor a;
    begin_queue(&q);
    turn_on(&q, 2 * QUEUE + 2);
    zkr_ticket *ours = line_up(&q, 2);
    for (int i = 2; i < 2 + QUEUE - 1; i++) {
        leave_at(&q, i % QUEUE);
        ZKT_MUST(zkr_ticket_wait(q.t[(i + 1) % QUEUE], PATIENCE_MS));
    }
    zkt_door_focus(q.c[2]);
    /* The client must not learn that the last waiter has left. */
    zkt_proxy_freeze(q.p[2], ZKT_TO_CLIENT);
    leave_at(&q, 1);
    ZKT_MUST(zkr_client_flush(q.c[1], PATIENCE_MS));
    zkt_actor_start(&a, q.m[2], 0, NULL);
    ZKT_BECOMES(zkt_door_count(ZKR__OP_CREATE), 1, PATIENCE_MS);
    assert_int_equal(lists(), 0);
    leave(ours);
    zkt_proxy_thaw(q.p[2], ZKT_TO_CLIENT);
    zkt_actor_is_served(&a);
    end_queue(&q);
}

static atomic_long allocations;

static bool count_allocation(void)
{
    atomic_fetch_add(&allocations, 1);
    return true;
}

/*
 * A hold allocates the claim, its entry in a table, and three objects for the holding thread. Requests
 * allocate nothing.
 */
ZKT_CASE(requests_take_no_memory_once_there_have_been_some)
{
    enum { CYCLES = 100, PER_HOLD = 5 };
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    for (int i = 0; i < 3; i++) {
        cycle(m, c);
    }
    zkt_door_focus(c);
    zkr__mem_set_gate(count_allocation);
    for (int i = 0; i < CYCLES; i++) {
        cycle(m, c);
    }
    zkr__mem_set_gate(NULL);
    assert_int_equal(zkt_door_total(), 2 * CYCLES);
    ZKT_IN_RANGE(atomic_load(&allocations), 0, PER_HOLD * CYCLES);
}
