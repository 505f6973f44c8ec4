/* SPDX-License-Identifier: Apache-2.0 */
/* The leader latch without faults: leadership, callbacks and costs. */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "fourlw.h"
#include "latches.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 20000, SHORT_MS = 50 };

/* --- starting, leading, stopping --- */

/* The event alone makes the next latch the leader, without a request, in less than 50 ms. */
ZKT_CASE(a_clean_hand_over_costs_nothing_and_is_quick)
{
    zkr_client *c[2] = {zkt_client(zkt_servers(), SESSION_MS),
                        zkt_client(zkt_servers(), SESSION_MS)};
    zkr_leader_latch *l[2] = {zkt_latch(c[0], "a", NULL), zkt_latch(c[1], "b", NULL)};
    int quick = 0;
    zkt_lead(l[0]);
    for (int i = 0; i < 10; i++) {
        zkr_leader_latch *from = l[i % 2], *to = l[(i + 1) % 2];
        zkt_door_focus(c[(i + 1) % 2]);
        ZKT_MUST(zkr_leader_latch_start(to));
        /* The latch sends a create, a list and two watches, and sometimes a watch on the directory. */
        ZKT_EVENTUALLY(zkt_door_total() >= 4 && zkt_all_answered(c[(i + 1) % 2]),
                       PATIENCE_MS);
        int requests = zkt_door_total();
        ZKT_IN_RANGE(requests, 4, 5);
        int64_t stopped = zkt_now_ms();
        ZKT_MUST(zkr_leader_latch_stop(from, ZKR_LATCH_SILENT));
        ZKT_MUST(zkr_leader_latch_await(to, PATIENCE_MS));
        quick += zkt_now_ms() - stopped < 50;
        assert_int_equal(zkt_door_total(), requests);
    }
    /* Allows for delays on a busy machine. The speed of servers that others use is not checked. */
    assert_true(quick >= 8 || !zkt_servers_private());
}

/* --- waiting for leadership --- */

static void *stop_soon(void *l)
{
    zkt_sleep_ms(SHORT_MS);
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
    return NULL;
}

/* await returns the outcome of the candidacy. */
ZKT_CASE(await_returns_what_happened)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *a = zkt_latch(c, "a", NULL), *b = zkt_latch(c, "b", NULL);
    ZKT_RC(zkr_leader_latch_await(a, PATIENCE_MS), ZKR_ESTATE);
    ZKT_MUST(zkr_leader_latch_start(a));
    ZKT_RC(zkr_leader_latch_start(a), ZKR_ESTATE);
    ZKT_MUST(zkr_leader_latch_await(a, PATIENCE_MS));
    ZKT_MUST(zkr_leader_latch_await(a, 0));
    ZKT_MUST(zkr_leader_latch_start(b));
    ZKT_RC(zkr_leader_latch_await(b, 0), ZKR_ETIMEDOUT);
    int64_t before = zkt_now_ms();
    ZKT_RC(zkr_leader_latch_await(b, SHORT_MS), ZKR_ETIMEDOUT);
    assert_true(zkt_now_ms() - before >= SHORT_MS);
    pthread_t stopper;
    assert_int_equal(pthread_create(&stopper, NULL, stop_soon, b), 0);
    ZKT_RC(zkr_leader_latch_await(b, ZKR_FOREVER), ZKR_ECANCELED);
    pthread_join(stopper, NULL);
}

/* --- fitness --- */

/* An unfit latch is no candidate, before the start and after it. Its place depends on when it becomes fit. */
ZKT_CASE(who_is_not_fit_is_no_candidate)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *a = zkt_latch(c, "a", NULL), *b = zkt_latch(c, "b", NULL);
    ZKT_MUST(zkr_leader_latch_set_fit(a, 1)); /* it is fit already */
    ZKT_MUST(zkr_leader_latch_set_fit(a, 0));
    ZKT_MUST(zkr_leader_latch_start(a));
    ZKT_RC(zkr_leader_latch_start(a), ZKR_ESTATE);
    assert_int_equal(zkr_leader_latch_state(a), ZKR_LATCH_WAITING);
    ZKT_RC(zkr_leader_latch_await(a, 0), ZKR_ETIMEDOUT);
    ZKT_RC(zkr_leader_latch_await(a, SHORT_MS), ZKR_ETIMEDOUT);
    assert_non_null(strstr(zkr_last_error()->message, "not fit"));
    assert_int_equal(zkt_nodes(), 0);
    zkt_lead(b);
    ZKT_MUST(zkr_leader_latch_set_fit(a, 1));
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_set_fit(a, 0)); /* while it is queued */
    ZKT_MUST(zkr_leader_latch_set_fit(a, 0));
    ZKT_BECOMES(zkt_nodes(), 1, PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_stop(b, ZKR_LATCH_SILENT));
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
    assert_false(zkr_leader_latch_has_leadership(a));
    ZKT_MUST(zkr_leader_latch_set_fit(a, 1));
    ZKT_MUST(zkr_leader_latch_await(a, PATIENCE_MS));
    ZKT_MUST(zkr_leader_latch_set_fit(a, 0));
    ZKT_MUST(zkr_leader_latch_stop(a, ZKR_LATCH_SILENT));
    ZKT_MUST(zkr_leader_latch_set_fit(a, 1)); /* it joins at the next start */
    assert_int_equal(zkr_leader_latch_state(a), ZKR_LATCH_STOPPED);
    zkt_lead(a);
    ZKT_RC(zkr_leader_latch_set_fit(NULL, 1), ZKR_EINVAL);
}

static void *make_fit_soon(void *latch)
{
    zkt_sleep_ms(SHORT_MS);
    ZKT_MUST(zkr_leader_latch_set_fit(latch, 1));
    return NULL;
}

/* A failed latch can be started again, and no longer reports the failure. */
ZKT_CASE(a_failure_is_over_with_the_next_start)
{
    struct zkt_told told;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *leader = zkt_latch(c, "a", NULL);
    zkr_leader_latch *l = zkt_telling_latch(c, "b", &told, NULL);
    zkt_lead(leader);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL & ~ZKT_CREATE),
                     ZKT_OK);
    ZKT_MUST(zkr_leader_latch_start(l));
    ZKT_BECOMES(atomic_load(&told.failures), 1, PATIENCE_MS);
    ZKT_RC(zkr_leader_latch_await(l, 0), ZKR_EAUTH);
    assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL), ZKT_OK);
    ZKT_MUST(zkr_leader_latch_start(l));
    ZKT_RC(zkr_leader_latch_await(l, 0), ZKR_ETIMEDOUT);
    zkt_end_latch(l);
}

/* Setting the same fitness again changes nothing. */
ZKT_CASE(a_fit_leader_leads_on)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *l = zkt_latch(c, "a", NULL);
    int64_t token = 0, after = 0;
    zkt_lead(l);
    ZKT_MUST(zkr_leader_latch_fencing_token(l, &token));
    ZKT_MUST(zkr_leader_latch_set_fit(l, 1));
    assert_int_equal(zkr_leader_latch_state(l), ZKR_LATCH_LEADING);
    ZKT_MUST(zkr_leader_latch_fencing_token(l, &after));
    assert_true(after == token);
    assert_int_equal(zkt_nodes(), 1);
}

/* A leader that becomes unfit gets on_loss, the next candidate leads, and a wait for leadership continues. */
ZKT_CASE(a_leader_that_is_not_fit_steps_down)
{
    struct zkt_told told, next;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *a = zkt_telling_latch(c, "a", &told, NULL);
    zkr_leader_latch *b = zkt_telling_latch(c, "b", &next, NULL);
    zkt_lead(a);
    ZKT_BECOMES(atomic_load(&told.gains), 1, PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_start(b));
    ZKT_MUST(zkr_leader_latch_set_fit(a, 0));
    assert_false(zkr_leader_latch_has_leadership(a));
    ZKT_BECOMES(atomic_load(&told.losses), 1, PATIENCE_MS);
    assert_int_equal(atomic_load(&told.reason), ZKR_LOST_STOPPED);
    ZKT_BECOMES(atomic_load(&next.gains), 1, PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_stop(b, ZKR_LATCH_SILENT));
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, make_fit_soon, a), 0);
    ZKT_MUST(zkr_leader_latch_await(a, PATIENCE_MS));
    pthread_join(other, NULL);
    ZKT_BECOMES(atomic_load(&told.gains), 2, PATIENCE_MS);
    assert_int_equal(atomic_load(&told.bad), 0);
    assert_int_equal(atomic_load(&told.failures), 0);
    ZKT_RC(zkr_leader_latch_destroy(a), ZKR_EBUSY);
    ZKT_MUST(zkr_leader_latch_set_fit(a, 0));
    ZKT_RC(zkr_leader_latch_destroy(a), ZKR_EBUSY); /* it is started all the same */
    zkt_end_latch(a);
    zkt_end_latch(b);
}

/* --- terms --- */

/* A slow on_loss: the application takes time to end its work as leader. */
struct ending {
    struct zkt_told told;
    atomic_int begun, may_end;
    atomic_int
        leads; /* during on_loss, the latch reported leadership or a remaining time */
};

static void lose_slowly(zkr_leader_latch *l, const zkr_lost *lost, void *ctx)
{
    struct ending *e = ctx;
    int calls = atomic_load(&e->told.losses) + 1;
    atomic_store(&e->begun, calls);
    ZKT_EVENTUALLY(atomic_load(&e->may_end) >= calls, PATIENCE_MS);
    atomic_fetch_add(&e->leads,
                     zkr_leader_latch_has_leadership(l) ||
                         zkr_leader_latch_valid_for_ms(l) != 0 ||
                         zkr_leader_latch_term_valid_for_ms(l, lost->fencing_token));
    zkt_on_loss(l, lost, &e->told);
}

static void gain_of_ending(zkr_leader_latch *l, int64_t token, void *ctx)
{
    zkt_on_gain(l, token, &((struct ending *)ctx)->told);
}

/* Until on_loss has returned, only the function that takes a token reports leadership in the next term. */
ZKT_CASE(a_term_that_is_over_gets_no_answer_of_the_next)
{
    struct ending e = {.may_end = 0};
    int64_t first = 0, next = 0;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *a = ZKT_LATCH_WITH(c, "a", .on_gain = gain_of_ending,
                                         .on_loss = lose_slowly, .ctx = &e);
    zkr_leader_latch *b = zkt_latch(d, "b", NULL);
    zkt_lead(a);
    ZKT_BECOMES(atomic_load(&e.told.gains), 1, PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_fencing_token(a, &first));
    assert_true(zkr_leader_latch_term_valid_for_ms(a, first) > 0);
    assert_int_equal(zkr_leader_latch_term_valid_for_ms(a, first + 1), 0);
    assert_int_equal(zkr_leader_latch_term_valid_for_ms(a, 0), 0);
    ZKT_MUST(zkr_leader_latch_set_fit(a, 0));
    ZKT_BECOMES(atomic_load(&e.begun), 1, PATIENCE_MS);
    zkt_lead(b);
    ZKT_MUST(zkr_leader_latch_set_fit(a, 1));
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    assert_int_equal(zkr_leader_latch_term_valid_for_ms(a, first), 0);
    ZKT_MUST(zkr_leader_latch_stop(b, ZKR_LATCH_SILENT));
    ZKT_MUST(zkr_leader_latch_await(a, PATIENCE_MS));

    assert_int_equal(zkr_leader_latch_valid_for_ms(a), 0);
    assert_false(zkr_leader_latch_has_leadership(a));
    assert_int_equal(zkr_leader_latch_state(a), ZKR_LATCH_WAITING);
    assert_int_equal(zkr_leader_latch_term_valid_for_ms(a, first), 0);
    ZKT_MUST(zkr_leader_latch_fencing_token(a, &next));
    assert_true(next > first);
    assert_true(zkr_leader_latch_term_valid_for_ms(a, next) > 0);
    atomic_store(&e.may_end, 1);
    ZKT_BECOMES(atomic_load(&e.told.gains), 2, PATIENCE_MS);
    assert_true(zkr_leader_latch_valid_for_ms(a) > 0);
    assert_true(zkr_leader_latch_has_leadership(a));
    assert_int_equal(zkr_leader_latch_term_valid_for_ms(a, first), 0);
    assert_true(zkr_leader_latch_term_valid_for_ms(a, next) > 0);
    atomic_store(&e.may_end, 2);
    zkt_end_latch(a);
    assert_int_equal(atomic_load(&e.leads), 0);
    assert_int_equal(atomic_load(&e.told.bad), 0);
}

/* --- misuse --- */

/* Functions fail if the state is wrong or the buffer is too small. */
ZKT_CASE(calls_at_the_wrong_time_are_refused)
{
    char text[8];
    int64_t token;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *l = zkt_latch(c, "long enough", NULL);
    ZKT_RC(zkr_leader_latch_fencing_token(l, &token), ZKR_ENOTOWNER);
    ZKT_RC(zkr_leader_latch_node(l, text, sizeof(text)), ZKR_ENOTOWNER);
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_NOTIFY)); /* it was never started */
    zkt_lead(l);
    ZKT_RC(zkr_leader_latch_leader(l, text, sizeof(text)), ZKR_EINVAL);
    ZKT_RC(zkr_leader_latch_node(l, text, sizeof(text)), ZKR_EINVAL);
    ZKT_RC(zkr_leader_latch_destroy(l), ZKR_EBUSY);
    ZKT_RC(zkr_client_close(c), ZKR_EBUSY);
    zkt_end_latch(l);
}

/* --- callbacks --- */

/* Ten leaders stop one after the other, seven of them with notification: ten gains, seven losses. */
ZKT_CASE(only_those_who_ask_are_told_of_their_stop)
{
    enum { N = 10, SILENT = 3 };
    struct zkt_told told[N];
    zkr_leader_latch *l[N];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    for (int i = 0; i < N; i++) {
        l[i] = zkt_telling_latch(c, "x", &told[i], NULL);
        ZKT_MUST(zkr_leader_latch_start(l[i]));
        /* A latch that finds no parent sends its create again, and could end up behind later starts. */
        ZKT_BECOMES(zkt_nodes(), i + 1, PATIENCE_MS);
    }
    for (int i = 0; i < N; i++) {
        ZKT_MUST(zkr_leader_latch_await(l[i], PATIENCE_MS));
        ZKT_BECOMES(atomic_load(&told[i].gains), 1, PATIENCE_MS);
        bool silent = i < SILENT;
        ZKT_MUST(
            zkr_leader_latch_stop(l[i], silent ? ZKR_LATCH_SILENT : ZKR_LATCH_NOTIFY));
        assert_int_equal(atomic_load(&told[i].losses), silent ? 0 : 1);
        assert_true(silent || atomic_load(&told[i].reason) == ZKR_LOST_STOPPED);
        assert_int_equal(atomic_load(&told[i].bad), 0);
    }
    for (int i = 0; i < N; i++) {
        zkt_end_latch(l[i]);
        assert_int_equal(atomic_load(&told[i].gains), 1);
    }
}

/* A callback that is still running when the stop begins. */
struct slow {
    atomic_int begun, stopped, over;
};

static void gain_slowly(zkr_leader_latch *l, int64_t token, void *ctx)
{
    struct slow *k = ctx;
    int turn = atomic_fetch_add(&k->begun, 1) + 1;
    ZKT_BECOMES(atomic_load(&k->stopped), turn, PATIENCE_MS);
    zkt_sleep_ms(SHORT_MS);
    atomic_fetch_add(&k->over, 1);
}

ZKT_CASE(a_stop_waits_for_the_callback_that_runs)
{
    static const int modes[] = {ZKR_LATCH_SILENT, ZKR_LATCH_NOTIFY};
    struct slow k = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *l = ZKT_LATCH_WITH(c, "a", .on_gain = gain_slowly, .ctx = &k);
    for (int i = 0; i < 2; i++) {
        ZKT_MUST(zkr_leader_latch_start(l));
        ZKT_BECOMES(atomic_load(&k.begun), i + 1, PATIENCE_MS);
        atomic_fetch_add(&k.stopped, 1);
        ZKT_MUST(zkr_leader_latch_stop(l, modes[i]));
        assert_int_equal(atomic_load(&k.over), i + 1);
    }
}

/* A callback may call every function. Functions that would wait fail with ZKR_ESTATE. */
struct caller {
    atomic_int done;
    atomic_int rc[16];
};

static void call_all(zkr_leader_latch *l, struct caller *k)
{
    char text[128];
    int64_t token;
    zkr_contenders *list;
    int n = 0;
    atomic_store(&k->rc[n++], zkr_leader_latch_await(l, 1000));
    atomic_store(&k->rc[n++], zkr_leader_latch_leader(l, text, sizeof(text)));
    atomic_store(&k->rc[n++], zkr_leader_latch_participants(l, &list));
    atomic_store(&k->rc[n++], zkr_leader_latch_watch(l, 1000));
    atomic_store(&k->rc[n++], zkr_leader_latch_fencing_token(l, &token));
    atomic_store(&k->rc[n++], zkr_leader_latch_node(l, text, sizeof(text)));
    atomic_store(&k->rc[n++], zkr_leader_latch_has_leadership(l) ? ZKR_OK : 1);
    atomic_store(&k->rc[n++], zkr_leader_latch_valid_for_ms(l) > 0 ? ZKR_OK : 1);
    atomic_store(&k->rc[n++], zkr_leader_latch_start(l));
    atomic_store(&k->rc[n++], zkr_leader_latch_destroy(l));
}

static void gain_calls_all(zkr_leader_latch *l, int64_t token, void *ctx)
{
    struct caller *k = ctx;
    call_all(l, k);
    atomic_store(&k->rc[10], zkr_leader_latch_stop(l, ZKR_LATCH_NOTIFY));
    atomic_store(&k->done, 1);
}

static void loss_destroys(zkr_leader_latch *l, const zkr_lost *lost, void *ctx)
{
    struct caller *k = ctx;
    atomic_store(&k->rc[11], (int)lost->reason);
    atomic_store(&k->rc[12], zkr_leader_latch_start(l));
    atomic_store(&k->rc[13], zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
    zkt_unkeep(l);
    atomic_store(&k->rc[14], zkr_leader_latch_destroy(l));
    atomic_store(&k->done, 2);
}

ZKT_CASE(callbacks_may_call_every_function)
{
    static const int expected[15] = {
        ZKR_ESTATE, ZKR_ESTATE,       ZKR_ESTATE, ZKR_ESTATE, ZKR_OK,
        ZKR_OK,     ZKR_OK,           ZKR_OK,     ZKR_ESTATE, ZKR_EBUSY,
        ZKR_OK,     ZKR_LOST_STOPPED, ZKR_OK,     ZKR_OK,     ZKR_OK};
    struct caller k = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    ZKT_MUST(zkr_leader_latch_start(ZKT_LATCH_WITH(
        c, "a", .on_gain = gain_calls_all, .on_loss = loss_destroys, .ctx = &k)));
    ZKT_BECOMES(atomic_load(&k.done), 2, PATIENCE_MS);
    for (int i = 0; i < 15; i++) {
        assert_int_equal(atomic_load(&k.rc[i]), expected[i]);
    }
}

/* --- observers --- */

/* An observer, which is no candidate, reads leader and participants in two round trips. */
ZKT_CASE(an_observer_reads_in_two_round_trips)
{
    enum { N = 7 };
    char text[64];
    zkr_contenders *list = NULL;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_latch *o = zkt_latch(d, "observer", NULL);
    ZKT_RC(zkr_leader_latch_leader(o, text, sizeof(text)), ZKR_ENONODE);
    ZKT_MUST(zkr_leader_latch_participants(o, &list));
    assert_int_equal(zkr_contenders_count(list), 0);
    zkr_contenders_free(list);
    for (int i = 0; i < N; i++) {
        (void)snprintf(text, sizeof(text), "scheduler %d", i);
        ZKT_MUST(zkr_leader_latch_start(zkt_latch(c, i == N - 1 ? "" : text, NULL)));
        ZKT_BECOMES(zkt_nodes(), i + 1, PATIENCE_MS);
    }
    zkt_door_focus(d);
    ZKT_MUST(zkr_leader_latch_leader(o, text, sizeof(text)));
    assert_string_equal(text, "scheduler 0");
    assert_int_equal(zkt_door_total(), 1 + N);
    ZKT_MUST(zkr_leader_latch_participants(o, &list));
    assert_int_equal(zkr_contenders_count(list), N);
    for (int i = 0; i < N; i++) {
        const zkr_contender *p = zkr_contenders_get(list, (size_t)i);
        (void)snprintf(text, sizeof(text), "scheduler %d", i);
        assert_string_equal(p->owner, i == N - 1 ? "" : text);
        assert_int_equal(p->session_id, zkr_client_session_id(c));
        assert_non_null(strstr(p->node, "-latch-"));
    }
    zkr_contenders_free(list);
}

static void count_news(zkr_leader_latch *l, void *ctx)
{
    atomic_fetch_add((atomic_int *)ctx, 1);
}

/* on_contenders reports each join and leave to an observer, even if the path did not exist at first. */
ZKT_CASE(an_observer_is_told_who_comes_and_goes)
{
    atomic_int news = 0;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), SESSION_MS);
    (void)ZKT_LATCH_WITH(d, "observer", .on_contenders = count_news, .ctx = &news);
    zkr_leader_latch *a = zkt_latch(c, "a", NULL), *b = zkt_latch(c, "b", NULL);
    ZKT_EVENTUALLY(zkt_watches_under(zkt_servers(), zkt_path()) > 0, PATIENCE_MS);
    assert_int_equal(atomic_load(&news), 0);
    ZKT_MUST(zkr_leader_latch_start(a));
    ZKT_BECOMES(atomic_load(&news), 1, PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_start(b));
    ZKT_BECOMES(atomic_load(&news), 2, PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_stop(a, ZKR_LATCH_SILENT));
    ZKT_BECOMES(atomic_load(&news), 3, PATIENCE_MS);
    char stranger[160];
    (void)snprintf(stranger, sizeof(stranger), "%s/config", zkt_path());
    zkt_create(zkt_servers(), stranger, "", 0);
    zkt_delete(zkt_servers(), stranger);
    zkt_expire(d); /* the next session goes on observing */
    zkt_sleep_ms(SHORT_MS);
    /* Neither the child without a number nor the new session is a change. */
    assert_int_equal(atomic_load(&news), 3);
    ZKT_MUST(zkr_leader_latch_stop(b, ZKR_LATCH_SILENT));
    ZKT_BECOMES(atomic_load(&news), 4, PATIENCE_MS);
}

/* A candidate that leaves while the list is being read. */
struct going {
    zkt_proxy *p;
    char node[160];
    int64_t requests; /* number of requests to let through */
};

static void silence(void *ctx)
{
    struct going *g = ctx;
    while (zkt_proxy_counters(g->p).requests < g->requests) {
        zkt_sleep_ms(1);
    }
    zkt_proxy_freeze(g->p, ZKT_TO_SERVER);
}

/* The next two requests are the read of the deleted node, and the list that sets the watch. */
static void go(void *ctx)
{
    struct going *g = ctx;
    assert_int_equal(zkt_delete(zkt_servers(), g->node), ZKT_OK);
    zkt_door_before(2, silence, g);
}

/* A node that the latch itself left out of its list, because it was deleted meanwhile, is reported as a change. */
ZKT_CASE(an_observer_is_told_of_who_goes_while_it_reads)
{
    atomic_int news = 0;
    struct going g = {.p = zkt_proxy_start(zkt_servers())};
    zkr_contenders *list = NULL;
    char node[160];
    zkr_client *c = zkt_client(zkt_proxy_host(g.p), SESSION_MS);
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), ZKT_OK);
    (void)snprintf(node, sizeof(node), "%s/x-latch-0000000000", zkt_path());
    (void)snprintf(g.node, sizeof(g.node), "%s/x-latch-0000000001", zkt_path());
    assert_int_equal(zkt_create(zkt_servers(), node, "a", 0), ZKT_OK);
    assert_int_equal(zkt_create(zkt_servers(), g.node, "b", 0), ZKT_OK);
    zkr_leader_latch *l =
        ZKT_LATCH_WITH(c, "observer", .on_contenders = count_news, .ctx = &news);
    ZKT_EVENTUALLY(zkt_all_answered(c), PATIENCE_MS);
    zkt_door_focus(c);
    g.requests = zkt_proxy_counters(g.p).requests + 3;
    zkt_door_before(2, go, &g);
    ZKT_MUST(zkr_leader_latch_participants(l, &list));
    assert_int_equal(zkr_contenders_count(list), 1);
    zkr_contenders_free(list);
    zkt_proxy_thaw(g.p, ZKT_TO_SERVER);
    ZKT_BECOMES(atomic_load(&news), 1, PATIENCE_MS);
}

/* --- many --- */

/* A thousand candidates on one path need no further thread, and less than 4 KiB each. */
ZKT_CASE(a_thousand_latches_need_no_thread)
{
    enum { N = 1000 };
    static zkr_leader_latch *l[N];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkt_create_path(zkt_servers(), zkt_path());
    int threads = zkt_thread_count();
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < N; i++) {
        l[i] = zkt_latch(c, "one of many", NULL);
        ZKT_MUST(zkr_leader_latch_start(l[i]));
    }
    ZKT_MUST(zkr_leader_latch_await(l[0], PATIENCE_MS));
    ZKT_BECOMES(zkt_waiting(c), N - 1, PATIENCE_MS);
    size_t each = 0; /* the size after the last answers */
    ZKT_EVENTUALLY((each = (mallinfo2().uordblks - before) / N) < 4096, PATIENCE_MS);
    print_message("%zu bytes a latch\n", each);
    assert_int_equal(zkt_thread_count(), threads);
}
