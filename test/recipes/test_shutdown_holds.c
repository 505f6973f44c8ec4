/* SPDX-License-Identifier: Apache-2.0 */
/* A client that is shut down: what is held stays held, and threads that come meanwhile are told. */
#include <pthread.h>

#include "actor.h"
#include "latches.h"
#include "tickets.h"

enum { SHORT_SESSION_MS = 3000 };

/* --- holds --- */

static int nodes(const char *path)
{
    return zkt_children_count(zkt_servers(), path);
}

/* Longer than a lease that nobody keeps, and the session with it. */
static void outlast_the_lease(void)
{
    zkt_sleep_ms(2 * SHORT_SESSION_MS);
}

static void expect_held(zkr_mutex *m, zkr_ticket *t, zkr_leader_latch *l)
{
    int64_t token = 0;
    assert_true(zkr_mutex_is_held(m));
    assert_true(zkr_mutex_valid_for_ms(m) > 0);
    ZKT_MUST(zkr_mutex_fencing_token(m, &token));
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_HELD);
    assert_true(zkr_ticket_valid_for_ms(t) > 0);
    ZKT_MUST(zkr_ticket_fencing_token(t, &token));
    assert_int_equal(zkr_leader_latch_state(l), ZKR_LATCH_LEADING);
    assert_true(zkr_leader_latch_valid_for_ms(l) > 0);
    ZKT_MUST(zkr_leader_latch_fencing_token(l, &token));
}

/* A thread's, a ticket's and a latch's, each until it is released, and not by lack of a lease. */
ZKT_CASE(what_is_held_stays_held)
{
    struct zkt_actor behind;
    struct told told = {0};
    struct zkt_told told_of_latch;
    const char *path = zkt_unique_path("ticket"), *lead = zkt_unique_path("latch");
    zkr_client *c = zkt_client(zkt_servers(), SHORT_SESSION_MS);
    zkr_mutex *m = zkt_mutex(c), *of_ticket = NULL;
    zkr_leader_latch *l = NULL;
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    o.on_loss = zkt_on_loss;
    o.on_failed = zkt_on_failed;
    o.ctx = &told_of_latch;
    told_of_latch = (struct zkt_told){0};
    ZKT_MUST(zkr_mutex_create(&of_ticket, c, path, NULL));
    ZKT_MUST(zkr_leader_latch_create(&l, c, lead, "me", &o));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    zkr_ticket *t = request(of_ticket, ZKR_FOREVER, &told);
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    zkt_lead(l);
    zkt_actor_queue(&behind, c, m, NULL); /* which waits for this very client */
    ZKT_MUST(zkr_client_shutdown(c));
    zkt_actor_is_refused(&behind, ZKR_ECLOSED);
    expect_held(m, t, l);
    ZKT_MUST(
        zkr_mutex_acquire(m, ZKR_FOREVER)); /* once more, which waits for nothing */
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_leader_latch_await(l, ZKR_FOREVER));
    ZKT_MUST(zkr_ticket_wait(t, ZKR_FOREVER));
    outlast_the_lease();
    expect_held(m, t, l);
    assert_true(nodes(zkt_path()) == 1 && nodes(path) == 1 && nodes(lead) == 1);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_BECOMES(nodes(zkt_path()), 0, PATIENCE_MS);
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_BECOMES(nodes(path), 0, PATIENCE_MS);
    assert_int_equal(nodes(lead), 1);
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
    ZKT_BECOMES(nodes(lead), 0, PATIENCE_MS);
    assert_true(told.held == 1 && told.lost + told.failed + told.wrong == 0);
    assert_true(told_of_latch.losses == 0 && told_of_latch.failures == 0);
    ZKT_MUST(zkr_ticket_destroy(t));
    zkt_destroy_latch(l);
    zkt_destroy(of_ticket);
}

/* What is held is in the way of a close, as ever. */
ZKT_CASE(a_close_follows_a_shutdown)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_client_shutdown(c));
    expect(zkr_mutex_destroy(m), ZKR_EBUSY);
    expect(zkr_client_close(c), ZKR_EBUSY);
    ZKT_MUST(zkr_mutex_release(m));
}

/* A lease that was lost is lost: no new claim is made for it. */
ZKT_CASE(a_latch_that_loses_comes_not_back)
{
    struct zkt_told told;
    zkr_client *c = zkt_client(zkt_servers(), SHORT_SESSION_MS);
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
    (void)t;
    told->code = state == ZKR_TICKET_HELD ? zkr_client_shutdown(c) : ZKR_ESTATE;
}

/* By the holder's own callback: it holds on, and who waits hears of it. */
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

/* --- while waits begin --- */

struct busy {
    zkr_client *c;
    zkr_mutex *m;
    zkr_leader_latch *l;
};

static int lock_and_unlock(const struct busy *b)
{
    int rc = zkr_mutex_acquire(b->m, ZKR_FOREVER);
    return rc == ZKR_OK ? zkr_mutex_release(b->m) : rc;
}

static int hold_a_ticket(const struct busy *b)
{
    zkr_ticket *t = NULL;
    int rc = zkr_mutex_request(b->m, ZKR_FOREVER, NULL, NULL, &t);
    if (rc == ZKR_OK) {
        rc = zkr_ticket_wait(t, ZKR_FOREVER);
        (void)zkr_ticket_release(t);
        int gone = zkr_ticket_destroy(t);
        rc = rc == ZKR_OK ? gone : rc;
    }
    return rc;
}

static int lead_for_a_moment(const struct busy *b)
{
    int rc = zkr_leader_latch_start(b->l);
    if (rc == ZKR_OK) {
        rc = zkr_leader_latch_await(b->l, ZKR_FOREVER);
        int stopped = zkr_leader_latch_stop(b->l, ZKR_LATCH_SILENT);
        rc = rc == ZKR_OK ? stopped : rc;
    }
    return rc;
}

static int read_contenders(const struct busy *b)
{
    zkr_contenders *list = NULL;
    int rc = zkr_mutex_contenders(b->m, &list);
    zkr_contenders_free(list);
    return rc;
}

static int watch(const struct busy *b)
{
    return zkr_mutex_watch(b->m, ZKR_FOREVER);
}

struct worker {
    const struct busy *b;
    int (*call)(const struct busy *b);
    pthread_t thread;
    atomic_int code;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    int rc;
    do {
        rc = w->call(w->b);
    } while (rc == ZKR_OK);
    w->code = rc;
    return NULL;
}

/* Threads that are about to wait, or have just been granted, end with the others. */
ZKT_CASE(waits_that_begin_meanwhile_end)
{
    enum { KINDS = 5, WORKERS = 2 * KINDS, ROUNDS = 10 };
    static int (*const calls[KINDS])(const struct busy *b) = {
        lock_and_unlock, hold_a_ticket, lead_for_a_moment, read_contenders, watch};
    struct worker w[WORKERS];
    for (int round = 0; round < ROUNDS; round++) {
        struct busy b[2];
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        for (int i = 0; i < 2; i++) {
            b[i] = (struct busy){.c = c, .m = zkt_mutex(c)};
            b[i].l = zkt_latch(c, "me", NULL);
        }
        for (int i = 0; i < WORKERS; i++) {
            w[i] = (struct worker){
                .b = &b[i / KINDS], .call = calls[i % KINDS], .code = 1};
            assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
        }
        zkt_sleep_ms(round * 5);
        ZKT_MUST(zkr_client_shutdown(c));
        for (int i = 0; i < WORKERS; i++) {
            ZKT_EVENTUALLY(w[i].code != 1, PATIENCE_MS);
            assert_int_equal(pthread_join(w[i].thread, NULL), 0);
            assert_string_equal(zkr_err_name(w[i].code), zkr_err_name(ZKR_ECLOSED));
        }
        ZKT_EVENTUALLY(zkt_nodes() <= 0, PATIENCE_MS);
        for (int i = 0; i < 2; i++) {
            zkt_destroy_latch(b[i].l);
            zkt_destroy(b[i].m);
        }
        zkt_close(c);
    }
}
