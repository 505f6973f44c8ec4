/* SPDX-License-Identifier: Apache-2.0 */
/* A client that is shut down: every wait ends, what is held stays until it is released. */
#include <pthread.h>

#include "latches.h"
#include "session/client.h"
#include "tickets.h"

enum { PROMPT_MS = 10000, LONG_MS = 60000, NOT_YET = 1 };

/* --- what there is on a client --- */

struct stage {
    zkr_client *c;
    zkr_mutex *m;
    zkr_leader_latch *l;
    struct zkt_told told_of_latch;
    zkr_ticket *t; /* NULL = none */
    struct told told_of_ticket;
    zkr_leader_selector *s;
    atomic_int rounds, failed_with;  /* of the selector */
    atomic_int waited, valid, go_on; /* in take_leadership() */
};

static void take_leadership(zkr_leadership *lead, void *ctx)
{
    struct stage *k = ctx;
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
    struct stage *k = ctx;
    (void)s;
    k->failed_with = code;
}

static void set_up(struct stage *k, const char *hosts, int64_t session_ms)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    zkr_leader_selector_options so = ZKR_LEADER_SELECTOR_OPTIONS_INIT;
    o.session_timeout_ms = session_ms;
    o.connect_timeout_ms = LONG_MS;
    so.auto_requeue = 1;
    so.on_failed = on_selector_failed;
    *k = (struct stage){.waited = NOT_YET};
    k->c = zkt_client_with(hosts, &o);
    k->m = zkt_mutex(k->c);
    k->l = zkt_telling_latch(k->c, "me", &k->told_of_latch, NULL);
    ZKT_MUST(zkr_leader_selector_create(&k->s, k->c, zkt_path(), "me", take_leadership,
                                        k, &so));
}

static void tear_down(struct stage *k)
{
    k->go_on = 1;
    if (k->t) {
        end(k->t);
    }
    ZKT_MUST(zkr_leader_selector_stop(k->s, PATIENCE_MS));
    ZKT_MUST(zkr_leader_selector_destroy(k->s));
    zkt_end_latch(k->l);
    zkt_destroy(k->m);
    zkt_close(k->c);
}

/* --- calls that wait, and threads in them --- */

static int acquire(struct stage *k)
{
    return zkr_mutex_acquire(k->m, ZKR_FOREVER);
}

static int wait_for_ticket(struct stage *k)
{
    return zkr_ticket_wait(k->t, ZKR_FOREVER);
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

/* They have had time to begin. One that has not is treated alike. */
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

/* Once more is as good as once. */
static void shut_down(struct stage *k)
{
    ZKT_MUST(zkr_client_shutdown(k->c));
    ZKT_MUST(zkr_client_shutdown(k->c));
}

static void expect_ticket_failed(struct stage *k)
{
    ZKT_BECOMES(k->told_of_ticket.failed, 1, PROMPT_MS);
    assert_int_equal(zkr_ticket_state(k->t), ZKR_TICKET_FAILED);
    expect(zkr_ticket_error(k->t), ZKR_ECLOSED);
    assert_int_equal(k->told_of_ticket.held + k->told_of_ticket.wrong, 0);
}

static void expect_nothing_left(struct stage *k, int others)
{
    zkr_stats stats;
    ZKT_BECOMES(zkt_nodes(), others, PATIENCE_MS);
    ZKT_BECOMES(zkr_client_flush(k->c, 0), ZKR_OK, PATIENCE_MS);
    ZKT_MUST(zkr_client_stats(k->c, &stats, sizeof(stats)));
    assert_int_equal(stats.waiting + stats.held, 0);
}

/* What would wait does not begin to. */
static void expect_refusals(struct stage *k)
{
    static const int64_t limits[] = {ZKR_FOREVER, 0, LONG_MS};
    zkr_mutex *other = NULL;
    for (int i = 0; i < 3; i++) {
        expect(zkr_mutex_acquire(k->m, limits[i]), ZKR_ECLOSED);
        zkr_ticket *t = request(k->m, limits[i], NULL);
        assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_FAILED);
        expect(zkr_ticket_error(t), ZKR_ECLOSED);
        expect(zkr_ticket_wait(t, limits[i]), ZKR_ECLOSED);
        end(t);
        expect(zkr_client_wait_connected(k->c, limits[i]), ZKR_ECLOSED);
    }
    (void)zkr_leader_latch_start(k->l);
    expect(await_leadership(k), ZKR_ECLOSED);
    ZKT_RC(zkr_leader_latch_state(k->l), ZKR_ECLOSED);
    expect(watch(k), ZKR_ECLOSED);
    expect(read_contenders(k), ZKR_ECLOSED);
    expect(read_leader(k), ZKR_ECLOSED);
    expect(zkr_mutex_create(&other, k->c, zkt_path(), NULL), ZKR_ECLOSED);
}

/* --- waits --- */

/* Behind another client: all ways to stand in a queue at once. */
ZKT_CASE(waits_behind_another_end)
{
    enum { WAITERS = 4 };
    struct waiter w[WAITERS];
    struct stage k;
    zkr_mutex *theirs = zkt_mutex(zkt_client(zkt_servers(), SESSION_MS));
    ZKT_MUST(zkr_mutex_acquire(theirs, PATIENCE_MS));
    set_up(&k, zkt_servers(), SESSION_MS);
    k.t = request(k.m, ZKR_FOREVER, &k.told_of_ticket);
    ZKT_MUST(zkr_leader_latch_start(k.l));
    ZKT_MUST(zkr_leader_selector_start(k.s));
    begin(&w[0], &k, acquire);
    begin(&w[1], &k, wait_for_ticket);
    begin(&w[2], &k, wait_for_ticket);
    begin(&w[3], &k, await_leadership);
    ZKT_BECOMES(zkt_nodes(), 5, PATIENCE_MS);
    expect_waiting(w, WAITERS);
    shut_down(&k);
    expect_closed(w, WAITERS);
    expect_ticket_failed(&k);
    ZKT_BECOMES(k.told_of_latch.failures, 1, PROMPT_MS);
    ZKT_RC(k.told_of_latch.code, ZKR_ECLOSED);
    ZKT_BECOMES(k.failed_with, ZKR_ECLOSED, PROMPT_MS);
    ZKT_RC(zkr_leader_selector_state(k.s), ZKR_ECLOSED);
    expect_nothing_left(&k, 1);
    expect_refusals(&k);
    expect_nothing_left(&k, 1);
    ZKT_MUST(zkr_mutex_release(theirs));
    tear_down(&k);
}

static void silence_answers(zkt_proxy *p)
{
    zkt_proxy_freeze(p, ZKT_TO_CLIENT);
}

/* Servers that say nothing, and none at all. What was sent may have made nodes: they go as well. */
static void end_without_servers(void (*fault)(zkt_proxy *p), bool connected)
{
    enum { WAITERS = 8 };
    struct waiter w[WAITERS];
    struct stage k;
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    set_up(&k, zkt_proxy_host(p), 3 * SESSION_MS);
    ZKT_MUST(zkr_mutex_acquire(k.m, PATIENCE_MS));
    fault(p);
    if (!connected) {
        ZKT_BECOMES(zkr_client_state(k.c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
    }
    ZKT_MUST(zkr_mutex_release(k.m));
    k.t = request(k.m, ZKR_FOREVER, &k.told_of_ticket);
    ZKT_MUST(zkr_leader_latch_start(k.l));
    begin(&w[0], &k, acquire);
    begin(&w[1], &k, wait_for_ticket);
    begin(&w[2], &k, wait_for_ticket);
    begin(&w[3], &k, await_leadership);
    begin(&w[4], &k, flush);
    begin(&w[5], &k, read_contenders);
    begin(&w[6], &k, read_leader);
    begin(&w[7], &k, connected ? watch : await_connection);
    expect_waiting(w, WAITERS);
    shut_down(&k);
    expect_closed(w, WAITERS);
    expect_ticket_failed(&k);
    expect_refusals(&k);
    zkt_proxy_heal(p);
    expect_nothing_left(&k, 0);
    tear_down(&k);
    zkt_proxy_stop(p);
}

ZKT_CASE(waits_for_silent_servers_end)
{
    end_without_servers(zkt_proxy_blackhole, true);
}

ZKT_CASE(waits_for_lost_answers_end)
{
    end_without_servers(silence_answers, true);
}

ZKT_CASE(waits_for_a_connection_end)
{
    end_without_servers(zkt_proxy_cut, false);
}

/* With a queue that is as it was, so that nothing but the shutdown ends it. */
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
    tear_down(&k);
}

/* A lead that is in doubt is a hold: who awaits it is told, and it goes on when it is proved. */
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
    tear_down(&k);
}

/* The leader is told, leads on until it returns, and queues up no more. */
ZKT_CASE(a_wait_of_a_leader_ends)
{
    struct stage k;
    set_up(&k, zkt_servers(), SESSION_MS);
    ZKT_MUST(zkr_leader_selector_start(k.s));
    ZKT_BECOMES(k.rounds, 1, PATIENCE_MS);
    zkt_sleep_ms(50);
    assert_int_equal(k.waited, NOT_YET);
    shut_down(&k);
    ZKT_EVENTUALLY(k.waited != NOT_YET, PROMPT_MS);
    ZKT_RC(k.waited, ZKR_ECLOSED);
    assert_int_equal(k.valid, 1);
    assert_true(zkr_leader_selector_has_leadership(k.s));
    assert_int_equal(zkt_nodes(), 1);
    k.go_on = 1;
    ZKT_BECOMES(k.failed_with, ZKR_ECLOSED, PROMPT_MS);
    assert_int_equal(k.rounds, 1);
    expect_nothing_left(&k, 0);
    tear_down(&k);
}
