/* SPDX-License-Identifier: Apache-2.0 */
/* The leader selector: a function that runs while its process leads, and all the ways in which it ends. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

enum { SESSION_MS = 3000, PATIENCE_MS = 20000, SHORT_MS = 100, LONG_MS = 250 };
/* How take_leadership() ends its thread. */
enum ends { BY_EXIT = 1, BY_CANCEL, BY_LATE_CANCEL, ENDS };
enum { RUNNING = 1, STUBBORN_MS = 300, LONG_SESSION_MS = 12000 };

/* Instructions for take_leadership(), and its observations. */
struct job {
    zkr_leader_selector *s;
    /* 0 = returns at once, else the time to wait; ZKR_FOREVER = until told to return. */
    int64_t wait_ms;
    int64_t ignore_ms;  /* time to stay after the wait */
    int ends_by;        /* not 0: the thread ends instead of returning */
    pthread_key_t *key; /* gets a value, so that the key's destructor runs */
    atomic_int *shared; /* number of jobs that run now, shared by several jobs */
    atomic_int runs;    /* number of runs that have begun */
    atomic_int inside;
    atomic_int bad;
    atomic_int ended; /* what the wait returned; RUNNING = it has not returned */
    atomic_int why;   /* what the wait returned in the last run that ended */
    _Atomic int64_t token, ended_at_ms, begun_at_ms;
    atomic_int failures, code;
    atomic_int stopped; /* what the destructor's stop returned; RUNNING = not yet */
};

static void take_leadership(zkr_leadership *lead, void *ctx)
{
    struct job *j = ctx;
    int64_t token = zkr_leadership_fencing_token(lead);
    char node[256];
    int bad = atomic_fetch_add(&j->inside, 1) != 0;
    bad += j->shared && atomic_fetch_add(j->shared, 1) != 0;
    bad += token <= atomic_exchange(&j->token, token);
    bad += zkr_leadership_valid_for_ms(lead) <= 0;
    bad += zkr_leadership_node(lead, node, sizeof(node)) != ZKR_OK;
    bad += zkr_leadership_node(lead, NULL, sizeof(node)) != ZKR_EINVAL;
    bad += strncmp(node, zkt_path(), strlen(zkt_path())) != 0;
    atomic_fetch_add(&j->bad, bad);
    atomic_store(&j->begun_at_ms, zkt_now_ms());
    atomic_store(&j->ended, RUNNING);
    atomic_fetch_add(&j->runs, 1);
    int rc = j->wait_ms == 0 ? ZKR_ETIMEDOUT : zkr_leadership_wait(lead, j->wait_ms);
    atomic_store(&j->ended_at_ms, zkt_now_ms());
    atomic_store(&j->ended, rc);
    atomic_store(&j->why, rc);
    zkt_sleep_ms(j->ignore_ms);
    if (j->shared) {
        atomic_fetch_sub(j->shared, 1);
    }
    atomic_fetch_sub(&j->inside, 1);
    if (j->key) {
        atomic_store(&j->stopped, RUNNING);
        (void)pthread_setspecific(*j->key, j);
    }
    if (j->ends_by == BY_EXIT) {
        pthread_exit(NULL);
    } else if (j->ends_by == BY_CANCEL) {
        (void)pthread_cancel(pthread_self());
        pthread_testcancel();
    } else if (j->ends_by == BY_LATE_CANCEL) {
        (void)pthread_cancel(pthread_self());
    }
}

static void on_failed(zkr_leader_selector *s, int code, void *ctx)
{
    struct job *j = ctx;
    atomic_store(&j->code, code);
    atomic_fetch_add(&j->failures, 1);
}

static zkr_leader_selector *
selector(zkr_client *c, struct job *j, zkr_leader_selector_options o)
{
    o.size = sizeof(o);
    o.on_failed = on_failed;
    j->s = NULL;
    ZKT_MUST(
        zkr_leader_selector_create(&j->s, c, zkt_path(), "me", take_leadership, j, &o));
    return j->s;
}

static void end(struct job *j)
{
    ZKT_MUST(zkr_leader_selector_stop(j->s, PATIENCE_MS));
    ZKT_MUST(zkr_leader_selector_destroy(j->s));
    assert_int_equal(atomic_load(&j->bad), 0);
    assert_int_equal(atomic_load(&j->inside), 0);
}

static const zkr_leader_selector_options plain = ZKR_LEADER_SELECTOR_OPTIONS_INIT;

/* --- rounds --- */

/* A return gives leadership up. The next round must be requested. */
ZKT_CASE(returning_gives_leadership_up)
{
    struct job j = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_selector *s = selector(c, &j, plain);
    assert_int_equal(zkr_leader_selector_state(s), ZKR_SELECTOR_STOPPED);
    ZKT_RC(zkr_leader_selector_requeue(s), ZKR_ESTATE);
    ZKT_MUST(zkr_leader_selector_start(s));
    for (int i = 1; i <= 5; i++) {
        ZKT_BECOMES(zkr_leader_selector_state(s), ZKR_SELECTOR_IDLE, PATIENCE_MS);
        assert_int_equal(atomic_load(&j.runs), i);
        ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
        assert_false(zkr_leader_selector_has_leadership(s));
        ZKT_RC(zkr_leader_selector_interrupt(s), ZKR_ENOTOWNER);
        ZKT_MUST(zkr_leader_selector_requeue(s));
    }
    end(&j);
}

/* Three selectors requeue automatically: all of them lead, one at a time. */
ZKT_CASE(selectors_take_turns_by_themselves)
{
    enum { N = 3, ROUNDS = 20 };
    atomic_int shared = 0;
    struct job j[N] = {{0}};
    zkr_client *c[N];
    for (int i = 0; i < N; i++) {
        c[i] = zkt_client(zkt_servers(), SESSION_MS);
        j[i].shared = &shared;
        ZKT_MUST(zkr_leader_selector_start(
            selector(c[i], &j[i], (zkr_leader_selector_options){.auto_requeue = 1})));
    }
    for (int i = 0; i < N; i++) {
        ZKT_EVENTUALLY(atomic_load(&j[i].runs) >= ROUNDS, PATIENCE_MS);
    }
    for (int i = 0; i < N; i++) {
        end(&j[i]);
    }
}

/* The delay passes between two rounds. */
ZKT_CASE(the_requeue_delay_is_kept)
{
    struct job j = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_selector *s = selector(
        c, &j,
        (zkr_leader_selector_options){.auto_requeue = 1, .requeue_delay_ms = 200});
    ZKT_MUST(zkr_leader_selector_start(s));
    ZKT_BECOMES(atomic_load(&j.runs), 1, PATIENCE_MS);
    int64_t first = atomic_load(&j.begun_at_ms);
    ZKT_BECOMES(zkr_leader_selector_state(s), ZKR_SELECTOR_QUEUED, PATIENCE_MS);
    ZKT_RC(zkr_leader_selector_requeue(s), ZKR_EBUSY);
    ZKT_BECOMES(atomic_load(&j.runs), 2, PATIENCE_MS);
    assert_true(atomic_load(&j.begun_at_ms) - first >= 200);
    end(&j);
}

/* While the function runs, the next round is already requested. */
ZKT_CASE(who_requeues_by_itself_has_requested_the_next_round)
{
    struct job j = {.wait_ms = ZKR_FOREVER};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_selector *s =
        selector(c, &j, (zkr_leader_selector_options){.auto_requeue = 1});
    ZKT_MUST(zkr_leader_selector_start(s));
    ZKT_BECOMES(atomic_load(&j.runs), 1, PATIENCE_MS);
    ZKT_RC(zkr_leader_selector_requeue(s), ZKR_EBUSY);
    end(&j);
}

/* A requested round begins at once. */
ZKT_CASE(a_requested_round_does_not_pause)
{
    struct job j = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_selector *s = selector(
        c, &j, (zkr_leader_selector_options){.requeue_delay_ms = 2 * PATIENCE_MS});
    ZKT_MUST(zkr_leader_selector_start(s));
    ZKT_BECOMES(zkr_leader_selector_state(s), ZKR_SELECTOR_IDLE, PATIENCE_MS);
    ZKT_MUST(zkr_leader_selector_requeue(s));
    ZKT_BECOMES(atomic_load(&j.runs), 2, PATIENCE_MS);
    end(&j);
}

/* Other clients read the ID of the selector while it waits and while it leads. */
ZKT_CASE(a_selector_has_its_id)
{
    char id[32];
    struct job j = {.wait_ms = ZKR_FOREVER};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_selector *s = selector(c, &j, plain);
    zkr_mutex *m = zkt_mutex(c);
    zkr_contenders *list = NULL;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_leader_selector_start(s));
    ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
    ZKT_MUST(zkr_leader_selector_participants(s, &list));
    assert_string_equal(zkr_contenders_get(list, 1)->owner, "me");
    zkr_contenders_free(list);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_BECOMES(atomic_load(&j.runs), 1, PATIENCE_MS);
    ZKT_MUST(zkr_leader_selector_leader(s, id, sizeof(id)));
    assert_string_equal(id, "me");
    end(&j);
}

/* A function that ends its thread gives leadership up, too. Further rounds begin on another thread. */
ZKT_CASE(ending_the_thread_gives_leadership_up)
{
    for (int ends_by = BY_EXIT; ends_by < ENDS; ends_by++) {
        struct job j = {.ends_by = ends_by, .ignore_ms = 1};
        struct job other = {.wait_ms = ZKR_FOREVER};
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        zkr_client *d = zkt_client(zkt_servers(), SESSION_MS);
        int threads = zkt_thread_count();
        zkr_leader_selector *s = selector(c, &j, plain);
        ZKT_MUST(zkr_leader_selector_start(s));
        for (int i = 1; i <= 3; i++) {
            ZKT_BECOMES(zkr_leader_selector_state(s), ZKR_SELECTOR_IDLE, PATIENCE_MS);
            assert_int_equal(atomic_load(&j.runs), i);
            ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
            ZKT_MUST(zkr_leader_selector_requeue(s));
        }
        ZKT_BECOMES(zkr_leader_selector_state(s), ZKR_SELECTOR_IDLE, PATIENCE_MS);
        ZKT_BECOMES(zkt_thread_count(), threads + 1, PATIENCE_MS);
        ZKT_MUST(zkr_leader_selector_start(selector(d, &other, plain)));
        ZKT_BECOMES(atomic_load(&other.runs), 1, PATIENCE_MS);
        end(&other);
        end(&j);
        ZKT_BECOMES(zkt_thread_count(), threads, PATIENCE_MS);
    }
}

static void stop_at_end(void *job)
{
    struct job *j = job;
    atomic_store(&j->stopped, zkr_leader_selector_stop(j->s, PATIENCE_MS));
}

/*
 * A stop in a destructor of the thread works as in take_leadership(), even if the thread was replaced, or ends because
 * another thread stops the selector.
 */
ZKT_CASE_WAYS(a_destructor_in_its_thread_stops_the_selector,
              {"a_destructor_in_a_thread_that_was_ended_stops_the_selector",
               a_destructor_in_its_thread_stops_the_selector, BY_EXIT, NULL},
              {"a_destructor_stops_a_selector_that_is_being_stopped",
               a_destructor_in_its_thread_stops_the_selector, 0, NULL},
              {"a_destructor_stops_a_selector_whose_thread_was_ended_by_a_stop",
               a_destructor_in_its_thread_stops_the_selector, -BY_EXIT, NULL})
{
    pthread_key_t key;
    struct job j = {.key = &key, .ends_by = abs(zkt_way())};
    j.wait_ms = zkt_way() == BY_EXIT ? 0 : ZKR_FOREVER;
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    assert_int_equal(pthread_key_create(&key, stop_at_end), 0);
    zkr_leader_selector *s =
        selector(c, &j, (zkr_leader_selector_options){.auto_requeue = 1});
    ZKT_MUST(zkr_leader_selector_start(s));
    ZKT_BECOMES(atomic_load(&j.runs), 1, PATIENCE_MS);
    if (zkt_way() == BY_EXIT) {
        ZKT_BECOMES(atomic_load(&j.stopped), ZKR_ETIMEDOUT, PATIENCE_MS);
    }
    end(&j);
    assert_int_equal(atomic_load(&j.stopped), ZKR_ETIMEDOUT);
    assert_int_equal(atomic_load(&j.runs), 1);
    assert_int_equal(pthread_key_delete(key), 0);
}

/* If the function ends its thread, the delay between rounds and the end of a stop are the same as after a return. */
ZKT_CASE(ending_the_thread_ends_a_round_like_a_return)
{
    enum { DELAY_MS = 200 };
    struct job j = {.ends_by = BY_EXIT};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_selector *s = selector(
        c, &j,
        (zkr_leader_selector_options){.auto_requeue = 1, .requeue_delay_ms = DELAY_MS});
    ZKT_MUST(zkr_leader_selector_start(s));
    ZKT_BECOMES(atomic_load(&j.runs), 1, PATIENCE_MS);
    int64_t first = atomic_load(&j.begun_at_ms);
    ZKT_BECOMES(atomic_load(&j.runs), 2, PATIENCE_MS);
    assert_true(atomic_load(&j.begun_at_ms) - first >= DELAY_MS);
    ZKT_MUST(zkr_leader_selector_stop(s, PATIENCE_MS));
    j.wait_ms = ZKR_FOREVER;
    for (int i = 1; i <= 3; i++) {
        int runs = atomic_load(&j.runs);
        ZKT_MUST(zkr_leader_selector_start(s));
        ZKT_BECOMES(atomic_load(&j.runs), runs + 1, PATIENCE_MS);
        ZKT_MUST(zkr_leader_selector_stop(s, PATIENCE_MS));
        assert_int_equal(zkr_leader_selector_state(s), ZKR_SELECTOR_STOPPED);
    }
    end(&j);
}

/* --- interrupt, stop --- */

/* An interrupt ends the wait at once. A requeue while leading requests the next round. */
ZKT_CASE(an_interrupt_ends_the_wait)
{
    struct job j = {.wait_ms = ZKR_FOREVER};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_selector *s = selector(c, &j, plain);
    ZKT_MUST(zkr_leader_selector_start(s));
    ZKT_BECOMES(atomic_load(&j.runs), 1, PATIENCE_MS);
    assert_true(zkr_leader_selector_has_leadership(s));
    ZKT_MUST(zkr_leader_selector_requeue(s));
    ZKT_RC(zkr_leader_selector_requeue(s), ZKR_EBUSY);
    int64_t before = zkt_now_ms();
    ZKT_MUST(zkr_leader_selector_interrupt(s));
    ZKT_BECOMES(atomic_load(&j.runs), 2, PATIENCE_MS);
    assert_true(atomic_load(&j.ended_at_ms) - before < 200);
    ZKT_BECOMES(atomic_load(&j.ended), RUNNING, PATIENCE_MS);
    ZKT_MUST(zkr_leader_selector_interrupt(s));
    ZKT_BECOMES(zkr_leader_selector_state(s), ZKR_SELECTOR_IDLE, PATIENCE_MS);
    ZKT_RC(atomic_load(&j.ended), ZKR_ECANCELED);
    end(&j);
}

/* A stop waits for the function, reports if it has not ended, and can be repeated. */
ZKT_CASE(a_stop_waits_for_the_function)
{
    struct job j = {.wait_ms = ZKR_FOREVER, .ignore_ms = STUBBORN_MS};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_leader_selector *s = selector(c, &j, plain);
    for (int i = 1; i <= 2; i++) {
        ZKT_MUST(zkr_leader_selector_start(s));
        ZKT_RC(zkr_leader_selector_start(s), ZKR_ESTATE);
        ZKT_BECOMES(atomic_load(&j.runs), i, PATIENCE_MS);
        ZKT_RC(zkr_leader_selector_stop(s, STUBBORN_MS / 10), ZKR_ETIMEDOUT);
        ZKT_BECOMES(atomic_load(&j.ended), ZKR_ECANCELED, STUBBORN_MS);
        assert_int_equal(zkr_leader_selector_state(s), ZKR_SELECTOR_STOPPING);
        ZKT_RC(zkr_leader_selector_destroy(s), ZKR_EBUSY);
        /* Nobody else leads meanwhile. */
        assert_int_equal(zkt_nodes(), 1);
        ZKT_MUST(zkr_leader_selector_stop(s, PATIENCE_MS));
        ZKT_MUST(zkr_leader_selector_stop(s, 0));
        assert_int_equal(zkr_leader_selector_state(s), ZKR_SELECTOR_STOPPED);
    }
    end(&j);
}

/* Only a running take_leadership() makes a stop wait. Otherwise even a timeout of 0 is sufficient. */
ZKT_CASE(one_that_does_not_lead_stops_without_waiting)
{
    struct job j = {0}, idle = {0};
    zkr_client *c = zkt_client(zkt_servers(), LONG_SESSION_MS);
    zkr_leader_selector *s = selector(c, &j, plain);
    zkr_leader_selector *once = selector(c, &idle, plain);
    zkr_mutex *m = zkt_mutex(c);
    ZKT_MUST(zkr_leader_selector_start(once));
    ZKT_BECOMES(zkr_leader_selector_state(once), ZKR_SELECTOR_IDLE, PATIENCE_MS);
    ZKT_MUST(zkr_leader_selector_stop(once, 0));
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    for (int i = 0; i < 50; i++) { /* just started, joining or queued */
        ZKT_MUST(zkr_leader_selector_start(s));
        if (i % 2) {
            ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
        }
        ZKT_MUST(zkr_leader_selector_stop(s, 0));
        assert_int_equal(zkr_leader_selector_state(s), ZKR_SELECTOR_STOPPED);
        ZKT_EVENTUALLY(zkt_nodes() == 1 || zkt_stats(c).sessions > 1, PATIENCE_MS);
        assert_int_equal(zkt_stats(c).sessions, 1);
    }
    ZKT_MUST(zkr_mutex_release(m));
    end(&j);
    end(&idle);
}

/* --- loss --- */

/* With step_down_when_suspended, a cut of the connection ends the wait at once. */
ZKT_CASE(a_cut_line_ends_the_wait_at_once)
{
    struct job j = {.wait_ms = ZKR_FOREVER};
    zkt_proxy *p = zkt_proxy_start(zkt_servers());
    zkr_client *c = zkt_client(zkt_proxy_host(p), SESSION_MS);
    ZKT_MUST(zkr_leader_selector_start(
        selector(c, &j, (zkr_leader_selector_options){.step_down_when_suspended = 1})));
    ZKT_BECOMES(atomic_load(&j.runs), 1, PATIENCE_MS);
    int64_t cut = zkt_now_ms();
    zkt_proxy_cut(p);
    ZKT_BECOMES(atomic_load(&j.ended), ZKR_ESESSION, PATIENCE_MS);
    assert_true(atomic_load(&j.ended_at_ms) - cut < 500);
    zkt_proxy_heal(p);
    end(&j);
}

/*
 * With step_down_when_suspended, a grant without a connection, for example by a thread of the same client, does not
 * start the function.
 */
ZKT_CASE(a_grant_while_suspended_does_not_lead)
{
    for (int steps_down = 0; steps_down < 2; steps_down++) {
        struct job j = {.wait_ms = ZKR_FOREVER};
        zkt_proxy *p = zkt_proxy_start(zkt_servers());
        zkr_client *c = zkt_client(zkt_proxy_host(p), LONG_SESSION_MS);
        zkr_mutex *m = zkt_mutex(c);
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        ZKT_MUST(zkr_leader_selector_start(selector(
            c, &j,
            (zkr_leader_selector_options){.step_down_when_suspended = steps_down})));
        ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
        ZKT_EVENTUALLY(zkt_watches() > 0 && zkt_all_answered(c), PATIENCE_MS);
        zkt_proxy_cut(p);
        ZKT_BECOMES(zkr_client_state(c), ZKR_STATE_SUSPENDED, PATIENCE_MS);
        ZKT_MUST(zkr_mutex_release(m));
        if (steps_down) {
            zkt_sleep_ms(LONG_MS);
        } else {
            ZKT_BECOMES(atomic_load(&j.runs), 1, PATIENCE_MS);
        }
        assert_int_equal(atomic_load(&j.runs), !steps_down);
        zkt_proxy_heal(p);
        ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
        ZKT_BECOMES(atomic_load(&j.runs), 1, PATIENCE_MS);
        end(&j);
        zkt_destroy(m);
        zkt_close(c);
    }
}

/* --- errors that stay --- */

static void start_again(zkr_leader_selector *s)
{
    ZKT_MUST(zkr_leader_selector_stop(s, PATIENCE_MS));
    assert_int_equal(zkr_leader_selector_state(s), ZKR_SELECTOR_STOPPED);
    ZKT_MUST(zkr_leader_selector_start(s));
}

static void queue_again(zkr_leader_selector *s)
{
    ZKT_MUST(zkr_leader_selector_requeue(s));
}

/*
 * Without permission to create nodes, the selector reports the failure once, and sends no further requests. A requeue
 * or a start tries again.
 */
ZKT_CASE(a_missing_right_ends_the_candidacy)
{
    static void (*const again[])(zkr_leader_selector * s) = {queue_again, start_again};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    for (size_t i = 0; i < sizeof(again) / sizeof(again[0]); i++) {
        struct job j = {0};
        zkr_leader_selector *s =
            selector(c, &j, (zkr_leader_selector_options){.auto_requeue = 1});
        assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
        assert_int_equal(zkt_set_acl(zkt_servers(), zkt_path(), ZKT_ALL & ~ZKT_CREATE),
                         0);
        ZKT_MUST(zkr_leader_selector_start(s));
        ZKT_BECOMES(atomic_load(&j.failures), 1, PATIENCE_MS);
        ZKT_RC(atomic_load(&j.code), ZKR_EAUTH);
        ZKT_RC(zkr_leader_selector_state(s), ZKR_EAUTH);
        zkt_door_focus(c);
        zkt_sleep_ms(SHORT_MS);
        assert_int_equal(zkt_door_total(), 0);
        zkt_delete(zkt_servers(), zkt_path());
        zkr_mutex *m = zkt_mutex(c);
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        again[i](s);
        assert_int_equal(zkr_leader_selector_state(s), ZKR_SELECTOR_QUEUED);
        ZKT_BECOMES(zkt_nodes(), 2, PATIENCE_MS);
        assert_int_equal(zkr_leader_selector_state(s), ZKR_SELECTOR_QUEUED);
        ZKT_MUST(zkr_mutex_release(m));
        ZKT_EVENTUALLY(atomic_load(&j.runs) > 0, PATIENCE_MS);
        assert_int_equal(atomic_load(&j.failures), 1);
        end(&j);
        zkt_destroy(m);
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        zkt_delete(zkt_servers(), zkt_path());
    }
}

/* --- from inside --- */

struct inside {
    zkr_leader_selector *s;
    atomic_int rc[10];
    atomic_int done;
};

static void call_all(zkr_leadership *lead, void *ctx)
{
    struct inside *k = ctx;
    char text[64];
    zkr_contenders *list = NULL;
    int n = 0;
    atomic_store(&k->rc[n++], zkr_leadership_wait(lead, 0));
    atomic_store(&k->rc[n++], zkr_leadership_wait(lead, -2));
    atomic_store(&k->rc[n++], zkr_leader_selector_leader(k->s, text, sizeof(text)));
    atomic_store(&k->rc[n++], zkr_leader_selector_participants(k->s, &list));
    zkr_contenders_free(list);
    atomic_store(&k->rc[n++], zkr_leader_selector_start(k->s));
    atomic_store(&k->rc[n++], zkr_leader_selector_requeue(k->s));
    atomic_store(&k->rc[n++], zkr_leader_selector_destroy(k->s));
    atomic_store(&k->rc[n++], zkr_leader_selector_stop(k->s, ZKR_FOREVER));
    atomic_store(&k->rc[n++], zkr_leadership_wait(lead, ZKR_FOREVER));
    atomic_store(&k->rc[n++], zkr_leader_selector_requeue(k->s));
    atomic_store(&k->done, 1);
}

/*
 * take_leadership() may call every function, including those that block. A stop there does not wait for the
 * function itself.
 */
ZKT_CASE(take_leadership_may_call_every_function)
{
    static const int expected[10] = {
        ZKR_ETIMEDOUT, ZKR_EINVAL, ZKR_OK,        ZKR_OK,        ZKR_ESTATE,
        ZKR_OK,        ZKR_EBUSY,  ZKR_ETIMEDOUT, ZKR_ECANCELED, ZKR_ESTATE};
    struct inside k = {0};
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    ZKT_MUST(zkr_leader_selector_create(&k.s, c, zkt_path(), NULL, call_all, &k, NULL));
    ZKT_MUST(zkr_leader_selector_start(k.s));
    ZKT_EVENTUALLY(atomic_load(&k.done), PATIENCE_MS);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(atomic_load(&k.rc[i]), expected[i]);
    }
    ZKT_MUST(zkr_leader_selector_stop(k.s, PATIENCE_MS));
    ZKT_MUST(zkr_leader_selector_destroy(k.s));
}
