/* SPDX-License-Identifier: Apache-2.0 */
/* Clients without a dispatch thread: the application calls zkr_client_dispatch(). */
#include <poll.h>
#include <pthread.h>

#include "../recipes/latches.h"
#include "threads.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000 };

/* The observations of the callbacks, including those of the close. Only the dispatching thread uses this struct. */
struct seen {
    pthread_t thread;
    int states, gains, losses, tickets, elsewhere;
    int nested, blocking, closing;
};

static void look(struct seen *s)
{
    s->elsewhere += !pthread_equal(s->thread, pthread_self());
}

static void on_state(zkr_client *c, int state, void *ctx)
{
    struct seen *s = ctx;
    look(s);
    s->states++;
    s->nested = zkr_client_dispatch(c, 0);
    s->blocking = zkr_client_wait_connected(c, 0);
    s->closing = zkr_client_close(c);
}

static zkr_client *open_client(struct seen *s)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.dispatch_by_application = 1;
    o.on_state = on_state;
    o.on_state_ctx = s;
    *s = (struct seen){.thread = pthread_self()};
    return zkt_client_with(zkt_servers(), &o);
}

static bool readable(zkr_client *c)
{
    struct pollfd p = {.fd = zkr_client_event_fd(c), .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static void dispatch_until(zkr_client *c, const int *count, int wanted)
{
    int64_t end = zkt_now_ms() + PATIENCE_MS;
    struct pollfd p = {.fd = zkr_client_event_fd(c), .events = POLLIN};
    while (*count < wanted && zkt_now_ms() < end) {
        (void)poll(&p, 1, 100);
        assert_true(zkr_client_dispatch(c, 0) >= 0);
    }
    assert_true(*count >= wanted);
}

/* Callbacks run only in the thread that dispatches, and only when it dispatches. */
ZKT_CASE(callbacks_run_where_the_application_says)
{
    static struct seen s;
    zkr_client *c = open_client(&s);
    assert_int_equal(zkt_threads_named("zkr-dispatch", NULL, NULL), 0);
    assert_true(readable(c));
    assert_int_equal(s.states, 0);
    assert_int_equal(zkr_client_dispatch(c, 0), 1);
    assert_int_equal(s.states, 1);
    assert_int_equal(s.elsewhere, 0);
    ZKT_RC(s.nested, ZKR_ESTATE);
    ZKT_RC(s.blocking, ZKR_ESTATE);
    ZKT_RC(s.closing, ZKR_ESTATE);
    assert_false(readable(c));
    assert_int_equal(zkr_client_dispatch(c, 0), 0);
    zkt_expire(c);
    dispatch_until(c, &s.states, 4); /* suspended or lost, connecting, connected */
}

ZKT_CASE(a_negative_number_of_callbacks_is_refused)
{
    static struct seen s;
    ZKT_RC(zkr_client_dispatch(open_client(&s), -1), ZKR_EINVAL);
    assert_int_equal(s.states, 0);
}

/* A close runs the queued callbacks. */
ZKT_CASE(a_close_runs_what_waits)
{
    static struct seen s;
    zkr_client *c = open_client(&s);
    zkt_close(c);
    assert_int_equal(s.states, 2); /* connected, closed */
    assert_int_equal(s.elsewhere, 0);
}

static void release_at_once(zkr_ticket *t, int state, void *ctx)
{
    struct seen *s = ctx;
    look(s);
    s->tickets += state == ZKR_TICKET_HELD && zkr_ticket_release(t) == ZKR_OK;
}

static void hold_on(zkr_ticket *t, int state, void *ctx)
{
    struct seen *s = ctx;
    look(s);
    s->tickets += state == ZKR_TICKET_HELD;
}

/* A grant makes the descriptor readable once, whether its callback releases the ticket or not. */
ZKT_CASE(a_grant_leaves_nothing_to_dispatch)
{
    static const zkr_ticket_fn fns[] = {release_at_once, hold_on};
    static struct seen s;
    zkr_client *c = open_client(&s);
    zkr_mutex *m = zkt_mutex(c);
    dispatch_until(c, &s.states, 1);
    for (int i = 0; i < 2; i++) {
        zkr_ticket *t = NULL;
        s.tickets = 0;
        ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, fns[i], &s, &t));
        dispatch_until(c, &s.tickets, 1);
        assert_false(readable(c));
        zkt_end_ticket(t);
    }
    assert_int_equal(s.elsewhere, 0);
}

static void on_gain(zkr_leader_latch *l, int64_t token, void *ctx)
{
    struct seen *s = ctx;
    look(s);
    s->gains++;
}

static void on_loss(zkr_leader_latch *l, const zkr_lost *lost, void *ctx)
{
    struct seen *s = ctx;
    look(s);
    s->losses++;
}

/* A stop reports the loss before it returns, although the thread that calls it is the only one that dispatches. */
ZKT_CASE(a_latch_is_stopped_by_the_thread_that_dispatches)
{
    static struct seen s;
    zkr_client *c = open_client(&s);
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.on_gain = on_gain;
    o.on_loss = on_loss;
    o.ctx = &s;
    zkr_leader_latch *l = zkt_latch(c, "me", &o);
    ZKT_MUST(zkr_leader_latch_start(l));
    ZKT_MUST(zkr_leader_latch_await(l, PATIENCE_MS));
    assert_int_equal(s.gains, 0);
    dispatch_until(c, &s.gains, 1);
    assert_false(readable(c));
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_NOTIFY));
    assert_int_equal(s.losses, 1);
    assert_int_equal(s.elsewhere, 0);
}

static void end_at_loss(zkr_leader_latch *l, const zkr_lost *lost, void *ctx)
{
    on_loss(l, lost, ctx);
    pthread_exit(NULL);
}

static void *stop_latch(void *l)
{
    (void)zkr_leader_latch_stop(l, ZKR_LATCH_NOTIFY);
    return NULL;
}

/* A callback may end the thread that called the stop. Nothing is left behind, and other threads may dispatch. */
ZKT_CASE(a_stop_may_end_its_thread)
{
    static struct seen s;
    pthread_t stopping;
    zkr_client *c = open_client(&s);
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    zkr_leader_latch *l = NULL;
    o.on_gain = on_gain;
    o.on_loss = end_at_loss;
    o.ctx = &s;
    ZKT_MUST(zkr_leader_latch_create(&l, c, zkt_path(), "me", &o));
    ZKT_MUST(zkr_leader_latch_start(l));
    ZKT_MUST(zkr_leader_latch_await(l, PATIENCE_MS));
    dispatch_until(c, &s.gains, 1);
    assert_int_equal(pthread_create(&stopping, NULL, stop_latch, l), 0);
    (void)pthread_join(stopping, NULL);
    assert_int_equal(s.losses, 1);
    assert_true(zkr_client_dispatch(c, 0) >= 0);
    ZKT_MUST(zkr_leader_latch_destroy(l));
    zkt_close(c);
}

static void on_ticket(zkr_ticket *t, int state, void *ctx)
{
    struct seen *s = ctx;
    s->tickets++;
}

/* The callbacks of a released ticket are neither called nor counted. */
ZKT_CASE(only_what_was_told_is_counted)
{
    static struct seen s;
    zkr_client *c = open_client(&s);
    zkr_mutex *m = zkt_mutex(c);
    zkr_ticket *t = NULL;
    assert_int_equal(zkr_client_dispatch(c, 0), 1); /* connected */
    ZKT_MUST(zkr_mutex_request(m, ZKR_FOREVER, on_ticket, &s, &t));
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    assert_true(readable(c));
    ZKT_MUST(zkr_ticket_release(t));
    assert_int_equal(zkr_client_dispatch(c, 0), s.tickets);
    assert_int_equal(s.tickets, 0);
    ZKT_MUST(zkr_ticket_destroy(t));
}
