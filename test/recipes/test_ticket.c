/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tickets, which are holds without a thread: their place in the queue, how they end, whom they notify, and
 * what is refused.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <zkr/guard.h>

#include "actor.h"
#include "recipes/ticket.h"
#include "tickets.h"

/* --- as a lock --- */

/* Tickets and threads that use one object are served in the order in which they queued. */
ZKT_CASE(tickets_and_threads_are_served_in_order)
{
    enum { PAIRS = 5 };
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    struct zkt_actor actors[PAIRS];
    struct told told[PAIRS] = {0};
    atomic_int turn = 0;
    zkr_ticket *first = queue(m, NULL);
    ZKT_MUST(zkr_ticket_wait(first, PATIENCE_MS));
    for (int i = 0; i < PAIRS; i++) {
        told[i].turns = &turn;
        (void)queue(m, &told[i]);
        zkt_actor_queue(&actors[i], c, m, &turn);
    }
    end(first);
    for (int i = 0; i < PAIRS; i++) {
        ZKT_BECOMES(told[i].held, 1, PATIENCE_MS);
        assert_int_equal(told[i].turn, 2 * i + 1);
        assert_int_equal(atomic_load(&actors[i].acquired), ZKT_NOT_YET);
        end(told[i].t);
        ZKT_MUST(zkt_actor_acquired(&actors[i]));
        assert_int_equal(actors[i].granted_as, 2 * i + 2);
        ZKT_MUST(zkt_actor_end(&actors[i]));
    }
}

/* The owner text is that of the mutex. By default, it names the thread that made the request. */
ZKT_CASE(the_owner_text_is_the_mutexs)
{
    char pid[32];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    zkr_ticket *one = queue(ZKT_MUTEX_WITH(c, .owner = "a ticket"), NULL);
    zkr_ticket *two = queue(m, NULL);
    const zkr_contenders *list = zkt_contenders(m);
    (void)snprintf(pid, sizeof(pid), "/%ld/%ld", (long)getpid(), (long)gettid());
    assert_string_equal(zkr_contenders_get(list, 0)->owner, "a ticket");
    assert_non_null(strstr(zkr_contenders_get(list, 1)->owner, pid));
    end(one);
    end(two);
}

/* --- the place in the queue --- */

static int64_t ahead_of(zkr_ticket *t)
{
    int64_t ahead = -1;
    int rc = zkr_ticket_position(t, &ahead);
    return rc == ZKR_OK ? ahead : -1;
}

/*
 * Two clients queue in turn. The position behind a neighbour is current; the position behind another client is what was
 * seen last.
 */
ZKT_CASE(a_ticket_knows_how_many_are_in_front)
{
    enum { MANY = 6 };
    zkr_client *c[2] = {zkt_client(zkt_servers(), SESSION_MS),
                        zkt_client(zkt_servers(), SESSION_MS)};
    zkr_mutex *m[2] = {zkt_mutex(c[0]), zkt_mutex(c[1])};
    zkr_ticket *t[MANY];
    int64_t ahead;
    for (int i = 0; i < MANY; i++) {
        t[i] = queue(m[i % 4 / 2], NULL); /* clients 0 0 1 1 0 0 */
        ZKT_BECOMES(ahead_of(t[i]), i, PATIENCE_MS);
    }
    ZKT_MUST(zkr_ticket_release(t[0]));
    ZKT_BECOMES(ahead_of(t[1]), 0, PATIENCE_MS);
    ZKT_IN_RANGE(ahead_of(t[3]), 2, 3);
    ZKT_MUST(zkr_ticket_release(t[1]));
    ZKT_BECOMES(ahead_of(t[2]), 0, PATIENCE_MS);
    ZKT_BECOMES(ahead_of(t[3]), 1, PATIENCE_MS);
    ZKT_RC(zkr_ticket_position(t[0], &ahead), ZKR_ESTATE);
    ZKT_RC(zkr_ticket_position(t[1], NULL), ZKR_EINVAL);
    ZKT_RC(zkr_ticket_position(NULL, &ahead), ZKR_EINVAL);
    for (int i = 0; i < MANY; i++) {
        zkt_end_ticket(t[i]);
    }
}

/* Returns the owner text of the contender directly ahead, or the name of the error. */
static const char *nearest_of(zkr_ticket *t, bool holds, bool metadata)
{
    static char text[64];
    zkr_contenders *list = NULL;
    int rc = zkr_ticket_ahead(t, &list);
    const zkr_contender *who = zkr_contenders_get(list, 0);
    if (!who) {
        return zkr_err_name(rc);
    }
    assert_int_equal(zkr_contenders_count(list), 1);
    bool as_told = who->holds == holds && (who->held_since_ms > 0) == metadata;
    (void)snprintf(text, sizeof(text), "%s%s", who->owner, as_told ? "" : "?");
    zkr_contenders_free(list);
    return text;
}

/*
 * Two clients queue in turn. The ticket knows the contender ahead and, once this contender has written it, the time of
 * its grant. The ticket sends no request to learn them.
 */
ZKT_CASE(a_ticket_knows_who_is_in_front)
{
    enum { MANY = 4 };
    zkr_client *c[2];
    for (int i = 0; i < 2; i++) {
        c[i] = zkt_client(zkt_servers(), SESSION_MS);
    }
    zkr_mutex *here = ZKT_MUTEX_WITH(c[0], .owner = "here", .tell_queued = 1);
    zkr_mutex *there = ZKT_MUTEX_WITH(c[1], .owner = "there", .tell_queued = 1);
    zkr_mutex *m[MANY] = {here, there, there, here};
    zkr_ticket *t[MANY];
    zkr_contenders *list = NULL;
    for (int i = 0; i < MANY; i++) {
        t[i] = queue(m[i], NULL);
        ZKT_BECOMES(ahead_of(t[i]), i, PATIENCE_MS);
    }
    ZKT_EVENTUALLY(strcmp(nearest_of(t[1], true, true), "here") == 0, PATIENCE_MS);
    assert_string_equal(nearest_of(t[2], false, false), "there");
    assert_string_equal(nearest_of(t[3], false, false), "there");
    ZKT_RC(zkr_ticket_ahead(t[0], &list), ZKR_ESTATE);
    ZKT_RC(zkr_ticket_ahead(t[1], NULL), ZKR_EINVAL);
    ZKT_RC(zkr_ticket_ahead(NULL, &list), ZKR_EINVAL);
    ZKT_MUST(zkr_ticket_release(t[0]));
    ZKT_BECOMES(ahead_of(t[1]), 0, PATIENCE_MS);
    assert_string_equal(nearest_of(t[2], true, true), "there");
    ZKT_MUST(zkr_ticket_release(t[1]));
    ZKT_EVENTUALLY(strcmp(nearest_of(t[3], true, true), "there") == 0, PATIENCE_MS);
    assert_null(list);
    for (int i = 0; i < MANY; i++) {
        zkt_end_ticket(t[i]);
    }
}

struct queued {
    atomic_int calls, state[4]; /* states in the order of the calls */
    int64_t ahead;
};

static void note_queued(zkr_ticket *t, int state, void *ctx)
{
    struct queued *q = ctx;
    if (state == ZKR_TICKET_QUEUED) {
        q->ahead = ahead_of(t);
    }
    q->state[q->calls] = state;
    q->calls++;
}

/* The callback is called with QUEUED only with tell_queued, and only if the ticket has to wait. */
ZKT_CASE(a_callback_hears_that_it_has_to_wait)
{
    zkr_mutex *m =
        ZKT_MUTEX_WITH(zkt_client(zkt_servers(), SESSION_MS), .tell_queued = 1);
    zkr_mutex *theirs = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    struct queued first = {0}, second = {0}, quiet = {0};
    zkr_ticket *t[3];
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, note_queued, &first, &t[0]));
    ZKT_BECOMES(first.calls, 1, PATIENCE_MS);
    assert_int_equal(first.state[0], ZKR_TICKET_HELD);
    ZKT_MUST(zkr_mutex_request(theirs, ZKR_FOREVER, note_queued, &quiet, &t[1]));
    ZKT_BECOMES(ahead_of(t[1]), 1, PATIENCE_MS);
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, note_queued, &second, &t[2]));
    ZKT_BECOMES(second.calls, 1, PATIENCE_MS);
    assert_int_equal(second.state[0], ZKR_TICKET_QUEUED);
    assert_int_equal(second.ahead, 2);
    assert_int_equal(zkr_ticket_state(t[2]), ZKR_TICKET_WAITING);
    ZKT_MUST(zkr_ticket_release(t[0]));
    ZKT_BECOMES(quiet.calls, 1, PATIENCE_MS);
    assert_int_equal(quiet.state[0], ZKR_TICKET_HELD);
    ZKT_MUST(zkr_ticket_release(t[1]));
    ZKT_BECOMES(second.calls, 2, PATIENCE_MS);
    assert_int_equal(second.state[1], ZKR_TICKET_HELD);
    for (int i = 0; i < 3; i++) {
        zkt_end_ticket(t[i]);
    }
}

/* --- release --- */

/* A release in any state, and repeated, returns ZKR_OK unless the hold was lost, and leaves no node. */
ZKT_CASE(a_release_is_right_in_every_state)
{
    struct told told = {0};
    char node[256];
    int64_t token;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    zkr_ticket *held = request(m, 5000, NULL);
    ZKT_MUST(zkr_ticket_wait(held, PATIENCE_MS));
    zkr_ticket *waits = queue(m, &told);
    zkr_ticket *failed = request(m, 0, NULL);
    expect(zkr_ticket_wait(failed, PATIENCE_MS), ZKR_ETIMEDOUT);
    zkr_ticket *early = request(m, ZKR_FOREVER, NULL); /* before it has a node */
    expect(zkr_ticket_destroy(held), ZKR_EBUSY);
    expect(zkr_ticket_destroy(waits), ZKR_EBUSY);
    for (int i = 0; i < 3; i++) {
        ZKT_MUST(zkr_ticket_release(early));
        ZKT_MUST(zkr_ticket_release(waits));
        ZKT_MUST(zkr_ticket_release(failed));
    }
    expect(zkr_ticket_error(waits), ZKR_ECANCELED);
    expect(zkr_ticket_wait(waits, PATIENCE_MS), ZKR_ECANCELED);
    expect(zkr_ticket_error(failed), ZKR_ETIMEDOUT);
    ZKT_BECOMES(zkt_nodes(), 1, PATIENCE_MS);
    ZKT_MUST(zkr_ticket_release(held));
    ZKT_MUST(zkr_ticket_release(held));
    ZKT_MUST(zkr_ticket_error(held));
    expect(zkr_ticket_wait(held, 0), ZKR_ECANCELED);
    assert_int_equal(zkr_ticket_state(held), ZKR_TICKET_RELEASED);
    assert_int_equal(zkr_ticket_valid_for_ms(held), 0);
    expect(zkr_ticket_fencing_token(held, &token), ZKR_ESTATE);
    expect(zkr_ticket_node(held, node, sizeof(node)), ZKR_ESTATE);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
    assert_int_equal(told.held + told.failed + told.lost, 0);
    end(early);
    end(held);
    end(waits);
    end(failed);
}

/* zkr_mutex_cancel() affects threads, not tickets. */
ZKT_CASE(a_cancel_reaches_no_ticket)
{
    struct zkt_actor actor;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    zkr_ticket *held = request(m, 5000, NULL);
    ZKT_MUST(zkr_ticket_wait(held, PATIENCE_MS));
    zkt_actor_queue(&actor, c, m, NULL);
    zkr_ticket *waits = queue(m, NULL);
    ZKT_MUST(zkr_mutex_cancel(m));
    zkt_actor_is_refused(&actor, ZKR_ECANCELED);
    assert_int_equal(zkr_ticket_state(held), ZKR_TICKET_HELD);
    ZKT_MUST(zkr_ticket_release(held));
    ZKT_MUST(zkr_ticket_wait(waits, PATIENCE_MS));
    end(held);
    end(waits);
}

/* --- waiting --- */

struct waiter {
    pthread_t thread;
    zkr_ticket *t;
    atomic_int code; /* 1 = the wait has not returned */
};

static void *wait_for(void *arg)
{
    struct waiter *w = arg;
    w->code = zkr_ticket_wait(w->t, ZKR_FOREVER);
    return NULL;
}

static bool is_waited_on(zkr_ticket *t)
{
    return zkr_ticket_destroy(t) == ZKR_EBUSY;
}

static void start_waiters(struct waiter *w, int count, zkr_ticket *t)
{
    for (int i = 0; i < count; i++) {
        w[i] = (struct waiter){.t = t, .code = 1};
        assert_int_equal(pthread_create(&w[i].thread, NULL, wait_for, &w[i]), 0);
    }
}

static void join_waiters(struct waiter *w, int count, int code)
{
    for (int i = 0; i < count; i++) {
        assert_int_equal(pthread_join(w[i].thread, NULL), 0);
        assert_string_equal(zkr_err_name(w[i].code), zkr_err_name(code));
    }
}

/* Several threads may wait on one ticket, and all of them return when it is granted, released or fails. */
ZKT_CASE(all_who_wait_on_a_ticket_hear)
{
    enum { WAITERS = 8 };
    struct waiter w[WAITERS];
    zkr_mutex *m = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    for (int way = 0; way < 3; way++) {
        zkr_ticket *t = request(m, way == 2 ? 300 : ZKR_FOREVER, NULL);
        start_waiters(w, WAITERS, t);
        zkt_sleep_ms(50);
        for (int i = 0; i < WAITERS; i++) {
            assert_int_equal(w[i].code, 1);
        }
        assert_true(is_waited_on(t));
        if (way == 0) {
            ZKT_MUST(zkr_ticket_release(t));
        } else if (way == 1) {
            ZKT_MUST(zkr_mutex_release(m));
        }
        join_waiters(w, WAITERS,
                     way == 0   ? ZKR_ECANCELED
                     : way == 1 ? ZKR_OK
                                : ZKR_ETIMEDOUT);
        end(t);
        if (way == 1) {
            ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        }
    }
    ZKT_MUST(zkr_mutex_release(m));
}

static bool has_waiters(zkr_ticket *t)
{
    zkr__lock(t->c);
    bool has = t->waiters != NULL;
    zkr__unlock(t->c);
    return has;
}

/* A ticket cannot be destroyed while woken threads are still in zkr_ticket_wait(). The caller gets ZKR_EBUSY. */
ZKT_CASE(a_destroy_spares_those_who_wait)
{
    enum { ROUNDS = 200 };
    struct waiter w;
    int early = 0;
    zkr_mutex *m = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    for (int i = 0; i < ROUNDS; i++) {
        zkr_ticket *t = request(m, ZKR_FOREVER, NULL);
        start_waiters(&w, 1, t);
        ZKT_EVENTUALLY(has_waiters(t), PATIENCE_MS);
        ZKT_MUST(zkr_ticket_release(t));
        bool busy = zkr_ticket_destroy(t) == ZKR_EBUSY;
        join_waiters(&w, 1, ZKR_ECANCELED);
        if (busy) {
            ZKT_MUST(zkr_ticket_destroy(t));
        }
        early += busy;
    }
    assert_true(early > 0);
    ZKT_MUST(zkr_mutex_release(m));
}

/* --- callbacks --- */

struct chain {
    zkr_mutex *m;
    atomic_int left, wrong;
};

/* Release the ticket, request another one, and destroy the ticket whose callback this is. */
static void go_on(zkr_ticket *t, int state, void *ctx)
{
    struct chain *chain = ctx;
    zkr_ticket *next = NULL;
    chain->wrong += state != ZKR_TICKET_HELD;
    chain->wrong += zkr_ticket_release(t) != ZKR_OK;
    if (chain->left > 1) {
        chain->wrong +=
            zkr_mutex_request(chain->m, ZKR_FOREVER, go_on, chain, &next) != ZKR_OK;
    }
    chain->wrong += zkr_ticket_destroy(t) != ZKR_OK;
    chain->left--;
}

/* A callback may release and destroy its own ticket, and request the next one. */
ZKT_CASE(a_callback_may_end_its_ticket)
{
    struct chain chain = {.m = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS)),
                          .left = 50};
    zkr_ticket *t = NULL;
    ZKT_MUST(zkr_mutex_request(chain.m, ZKR_FOREVER, go_on, &chain, &t));
    ZKT_BECOMES(chain.left, 0, PATIENCE_MS);
    assert_int_equal(chain.wrong, 0);
}

static void stay(zkr_ticket *t, int state, struct told *told)
{
    told->in_callback = true;
    while (!told->go_on) {
        zkt_sleep_ms(1);
    }
    told->in_callback = false;
}

static void *let_go_on(void *arg)
{
    struct told *told = arg;
    zkt_sleep_ms(100);
    told->go_on = true;
    return NULL;
}

/* A release does not wait for a running callback, but a destroy does. */
ZKT_CASE(a_destroy_waits_for_a_running_callback)
{
    pthread_t thread;
    struct told told = {.then = stay};
    zkr_mutex *m = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    (void)request(m, 5000, &told);
    ZKT_EVENTUALLY(told.in_callback, PATIENCE_MS);
    ZKT_MUST(zkr_ticket_release(told.t));
    assert_true(told.in_callback);
    assert_int_equal(pthread_create(&thread, NULL, let_go_on, &told), 0);
    ZKT_MUST(zkr_ticket_destroy(told.t));
    assert_false(told.in_callback);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* @out is set before the callback can run. */
ZKT_CASE(the_ticket_is_known_before_it_is_told_of)
{
    enum { MANY = 3000 };
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    zkt_proxy_cut(p);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    for (int i = 0; i < MANY; i++) {
        struct told told = {0};
        zkr_ticket *t = request(m, 0, &told); /* fails at once */
        ZKT_BECOMES(told.failed, 1, PATIENCE_MS);
        assert_int_equal(told.wrong, 0);
        end(t);
    }
    zkt_proxy_heal(p);
    ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_CONNECTED, PATIENCE_MS);
}
