/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client is shut down: functions that wait for the servers end, and leaders are notified. For holds, see
 * test_holds_shutdown.c.
 */
#include <pthread.h>

#include "latches.h"
#include "session/client.h"
#include "tickets.h"

enum { PROMPT_MS = 10000, LONG_MS = 60000, NOT_YET = 1 };

/* --- calls that wait, and threads in them --- */

struct stage {
    zkr_client *c;
    zkr_mutex *m;
    zkr_leader_latch *l;
    struct zkt_told told_of_latch;
};

static void set_up(struct stage *k, const char *hosts, int64_t session_ms)
{
    k->c = ZKT_CLIENT_WITH(hosts, .session_timeout_ms = session_ms,
                           .connect_timeout_ms = LONG_MS);
    k->m = zkt_mutex(k->c);
    k->l = zkt_telling_latch(k->c, "me", &k->told_of_latch, NULL);
}

static int await_leadership(struct stage *k)
{
    return zkr_leader_latch_await(k->l, ZKR_FOREVER);
}

static int read_contenders(struct stage *k)
{
    zkr_contenders *list = NULL;
    int rc = zkr_mutex_contenders(k->m, &list);
    zkr_contenders_free(list);
    return rc;
}

static int read_leader(struct stage *k)
{
    char buf[256];
    return zkr_leader_latch_leader(k->l, buf, sizeof(buf));
}

static int watch(struct stage *k)
{
    return zkr_mutex_watch(k->m, ZKR_FOREVER);
}

static int flush(struct stage *k)
{
    return zkr_client_flush(k->c, ZKR_FOREVER);
}

static int await_connection(struct stage *k)
{
    return zkr_client_wait_connected(k->c, ZKR_FOREVER);
}

struct waiter {
    struct stage *k;
    int (*call)(struct stage *k);
    pthread_t thread;
    atomic_int code;
};

static void *wait_in(void *arg)
{
    struct waiter *w = arg;
    w->code = w->call(w->k);
    return NULL;
}

static void begin(struct waiter *w, struct stage *k, int (*call)(struct stage *k))
{
    *w = (struct waiter){.k = k, .call = call, .code = NOT_YET};
    assert_int_equal(pthread_create(&w->thread, NULL, wait_in, w), 0);
}

/*
 * Check that the calls have not returned, after some time for them to begin. A call that begins later ends the
 * same way.
 */
static void expect_waiting(struct waiter *w, int count)
{
    zkt_sleep_ms(100);
    for (int i = 0; i < count; i++) {
        assert_string_equal(zkr_err_name(w[i].code), zkr_err_name(NOT_YET));
    }
}

static void expect_closed(struct waiter *w, int count)
{
    for (int i = 0; i < count; i++) {
        ZKT_EVENTUALLY(w[i].code != NOT_YET, PROMPT_MS);
        assert_int_equal(pthread_join(w[i].thread, NULL), 0);
        assert_string_equal(zkr_err_name(w[i].code), zkr_err_name(ZKR_ECLOSED));
    }
}

/* A second shutdown changes nothing. */
static void shut_down(struct stage *k)
{
    ZKT_MUST(zkr_client_shutdown(k->c));
    ZKT_MUST(zkr_client_shutdown(k->c));
}

/* --- questions --- */

static void silence_answers(zkt_proxy *p)
{
    zkt_proxy_freeze(p, ZKT_TO_CLIENT);
}

/* Calls end while requests or answers are held up, or the connection is cut. Later calls fail at once. */
ZKT_CASE(questions_end)
{
    static void (*const faults[])(zkt_proxy * p) = {zkt_proxy_blackhole,
                                                    silence_answers, zkt_proxy_cut};
    static int (*const calls[])(struct stage * k) = {
        flush, read_contenders, read_leader, watch, await_connection};
    enum { CALLS = sizeof(calls) / sizeof(calls[0]) };
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        bool connected = faults[i] != zkt_proxy_cut;
        int waits = connected ? CALLS - 1 : CALLS;
        struct waiter w[CALLS];
        struct stage k;
        zkt_proxy *p = zkt_proxy_start(zkt_servers());
        set_up(&k, zkt_proxy_host(p), 3 * SESSION_MS);
        ZKT_MUST(zkr_mutex_acquire(k.m, PATIENCE_MS));
        faults[i](p);
        if (!connected) {
            ZKT_BECOMES(zkr_client_state(k.c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
        }
        ZKT_MUST(zkr_mutex_release(k.m)); /* flush will wait for the delete */
        for (int n = 0; n < waits; n++) {
            begin(&w[n], &k, calls[n]);
        }
        expect_waiting(w, waits);
        shut_down(&k);
        expect_closed(w, waits);
        for (int n = 1; n < CALLS; n++) {
            expect(calls[n](&k), ZKR_ECLOSED);
        }
        zkt_proxy_heal(p);
        ZKT_BECOMES(zkr_client_flush(k.c, 0), ZKR_OK, PATIENCE_MS);
    }
}

/* The queue does not change, so only the shutdown can end the watches. */
ZKT_CASE(a_watch_ends)
{
    struct waiter w[2];
    struct stage k;
    set_up(&k, zkt_servers(), SESSION_MS);
    begin(&w[0], &k, watch);
    begin(&w[1], &k, watch);
    expect_waiting(w, 2);
    shut_down(&k);
    expect_closed(w, 2);
}

/* --- leaders --- */

/* A leadership in doubt is a hold: a wait for it ends, and the leadership goes on when it is confirmed. */
ZKT_CASE(an_await_in_doubt_ends)
{
    struct waiter w;
    struct stage k;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    set_up(&k, zkt_proxy_host(p), 3 * SESSION_MS);
    zkt_lead(k.l);
    ZKT_BECOMES(k.told_of_latch.gains, 1, PATIENCE_MS);
    int64_t session = zkr_client_session_id(k.c);
    silence_answers(p);
    zkr__lock(k.c);
    zkt_door_stop_clock(k.c->lease.until);
    zkr__unlock(k.c);
    assert_int_equal(zkr_leader_latch_valid_for_ms(k.l), 0);
    ZKT_BECOMES(k.told_of_latch.losses, 1, PATIENCE_MS);
    assert_int_equal(k.told_of_latch.reason, ZKR_LOST_LEASE);
    begin(&w, &k, await_leadership);
    expect_waiting(&w, 1);
    shut_down(&k);
    expect_closed(&w, 1);
    zkt_door_stop_clock(0);
    zkt_proxy_heal(p);
    ZKT_BECOMES(k.told_of_latch.gains, 2, PATIENCE_MS);
    assert_int_equal(zkr_client_session_id(k.c), session);
}

struct leader {
    atomic_int rounds, failed_with, waited, valid, go_on;
};

static void take_leadership(zkr_leadership *lead, void *ctx)
{
    struct leader *k = ctx;
    k->rounds++;
    int rc = zkr_leadership_wait(lead, ZKR_FOREVER);
    k->valid =
        zkr_leadership_valid_for_ms(lead) > 0 && zkr_leadership_fencing_token(lead) > 0;
    k->waited = rc;
    while (!k->go_on) {
        zkt_sleep_ms(1);
    }
}

static void on_selector_failed(zkr_leader_selector *s, int code, void *ctx)
{
    struct leader *k = ctx;
    k->failed_with = code;
}

/* The leader's wait ends. It leads until its function returns, and does not requeue. */
ZKT_CASE(a_wait_of_a_leader_ends)
{
    struct leader k = {.waited = NOT_YET};
    zkr_leader_selector *s = NULL;
    zkr_leader_selector_options o = ZKR_LEADER_SELECTOR_OPTIONS_INIT;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    o.auto_requeue = 1;
    o.on_failed = on_selector_failed;
    ZKT_MUST(
        zkr_leader_selector_create(&s, c, zkt_path(), "me", take_leadership, &k, &o));
    ZKT_MUST(zkr_leader_selector_start(s));
    ZKT_BECOMES(k.rounds, 1, PATIENCE_MS);
    zkt_sleep_ms(50);
    assert_int_equal(k.waited, NOT_YET);
    ZKT_MUST(zkr_client_shutdown(c));
    ZKT_EVENTUALLY(k.waited != NOT_YET, PROMPT_MS);
    ZKT_RC(k.waited, ZKR_ECLOSED);
    assert_int_equal(k.valid, 1);
    assert_true(zkr_leader_selector_has_leadership(s));
    assert_int_equal(zkt_nodes(), 1);
    k.go_on = 1;
    ZKT_BECOMES(k.failed_with, ZKR_ECLOSED, PROMPT_MS);
    assert_int_equal(k.rounds, 1);
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
    ZKT_MUST(zkr_leader_selector_stop(s, PATIENCE_MS));
    ZKT_MUST(zkr_leader_selector_destroy(s));
}

/* After a lost leadership, the latch does not queue again. */
ZKT_CASE(a_latch_that_loses_comes_not_back)
{
    struct zkt_told told;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *l = zkt_telling_latch(c, "me", &told, NULL);
    zkt_lead(l);
    ZKT_BECOMES(told.gains, 1, PATIENCE_MS);
    ZKT_MUST(zkr_client_shutdown(c));
    zkt_expire(c);
    ZKT_EVENTUALLY(told.losses == 1 && told.failures == 1, PATIENCE_MS);
    ZKT_RC(told.code, ZKR_ECLOSED);
    assert_int_equal(told.bad, 0);
    expect(zkr_leader_latch_await(l, ZKR_FOREVER), ZKR_ECLOSED);
}

/* --- from a callback --- */

static zkr_client *client_of_callback;

static void shut_down_inside(zkr_ticket *t, int state, struct told *told)
{
    zkr_client *c = client_of_callback;
    told->code = state == ZKR_TICKET_HELD ? zkr_client_shutdown(c) : ZKR_ESTATE;
}

/* The holder's own callback shuts the client down. The hold remains, and the waiter fails. */
ZKT_CASE(a_callback_shuts_down)
{
    struct told told = {0}, next = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    told.then = shut_down_inside;
    client_of_callback = c;
    told.code = 1;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkr_ticket *t = queue(m, &told), *behind = queue(m, &next);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_BECOMES(next.failed, 1, PATIENCE_MS);
    ZKT_MUST(told.code);
    expect(zkr_ticket_error(behind), ZKR_ECLOSED);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_HELD);
    assert_true(told.held == 1 && told.lost + told.failed + told.wrong == 0);
    end(t);
    end(behind);
}
