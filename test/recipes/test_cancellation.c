/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that are canceled, or receive signals, within calls of the library. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 20000, SHORT_MS = 50, RACES = 60 };
enum { NOT_YET = 1 };

/* --- waiters --- */

/* A thread that acquires, and then reaches a cancellation point. */
struct waiter {
    zkr_mutex *m;
    int64_t timeout_ms;
    pthread_t thread;
    atomic_int rc; /* NOT_YET until the acquire returns */
};

static void *wait_for_it(void *arg)
{
    struct waiter *w = arg;
    atomic_store(&w->rc, zkr_mutex_acquire(w->m, w->timeout_ms));
    pthread_testcancel();
    return NULL;
}

static void begin(struct waiter *w, zkr_mutex *m, int64_t timeout_ms)
{
    *w = (struct waiter){.m = m, .timeout_ms = timeout_ms, .rc = NOT_YET};
    assert_int_equal(pthread_create(&w->thread, NULL, wait_for_it, w), 0);
}

static void expect_canceled(struct waiter *w)
{
    void *result = NULL;
    assert_int_equal(pthread_join(w->thread, &result), 0);
    assert_true(result == PTHREAD_CANCELED);
}

/* Canceling a waiting thread neither ends its call nor harms the client's lock. */
ZKT_CASE(a_canceled_waiter_leaves_the_client_usable)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    struct waiter w[3];
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    begin(&w[0], m, 4 * SHORT_MS);
    begin(&w[1], m, ZKR_FOREVER);
    ZKT_BECOMES(zkt_stats(c).waiting, 2, PATIENCE_MS);
    pthread_cancel(w[0].thread);
    pthread_cancel(w[1].thread);
    begin(&w[2], m, SHORT_MS);
    ZKT_EVENTUALLY(atomic_load(&w[2].rc) != NOT_YET, PATIENCE_MS);
    pthread_join(w[2].thread, NULL);
    expect_canceled(&w[0]);
    assert_true(zkt_timed_out(atomic_load(&w[2].rc)));
    assert_true(zkt_timed_out(atomic_load(&w[0].rc)));
    assert_int_equal(atomic_load(&w[1].rc), NOT_YET); /* still waits */
    ZKT_MUST(zkr_mutex_cancel(m));
    expect_canceled(&w[1]);
    ZKT_RC(atomic_load(&w[1].rc), ZKR_ECANCELED);
    ZKT_MUST(zkr_mutex_release(m));
    zkt_in_and_out(m);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
}

/* A thread is canceled around its grant. The acquire returns with the hold, and the end of the thread releases it. */
ZKT_CASE(a_waiter_canceled_as_it_is_granted_leaves_no_node)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    for (int i = 0; i < RACES; i++) {
        struct waiter w;
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        begin(&w, m, ZKR_FOREVER);
        ZKT_BECOMES(zkt_stats(c).waiting, 1, PATIENCE_MS);
        if (i % 2) {
            pthread_cancel(w.thread);
            ZKT_MUST(zkr_mutex_release(m));
        } else {
            ZKT_MUST(zkr_mutex_release(m));
            pthread_cancel(w.thread);
        }
        /* The thread was canceled, or is past its last cancellation point. */
        pthread_join(w.thread, NULL);
        ZKT_MUST(atomic_load(&w.rc));
        assert_int_equal(zkt_stats(c).held, 0);
    }
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
}

/* --- every function --- */

/* A thread that uses every kind of object once, from creation to destruction. */
struct life {
    bool cancel;      /* cancel the thread before its first call */
    atomic_int calls; /* number of calls that have returned */
    atomic_int failed;
};

static void returned(struct life *k, int rc, int wanted)
{
    atomic_fetch_add(&k->calls, 1);
    atomic_fetch_add(&k->failed, rc != wanted);
}

static void lead(zkr_leadership *leadership, void *ctx)
{
    (void)zkr_leadership_wait(leadership, ZKR_FOREVER);
}

static void live_with_mutex(struct life *k, zkr_client *c)
{
    zkr_mutex *m = NULL;
    zkr_contenders *list = NULL;
    returned(k, zkr_mutex_create(&m, c, zkt_path(), NULL), ZKR_OK);
    returned(k, zkr_mutex_acquire(m, PATIENCE_MS), ZKR_OK);
    returned(k, zkr_mutex_contenders(m, &list), ZKR_OK);
    zkr_contenders_free(list);
    returned(k, zkr_mutex_watch(m, SHORT_MS), ZKR_ETIMEDOUT);
    returned(k, zkr_mutex_is_held(m), true);
    returned(k, zkr_mutex_release(m), ZKR_OK);
    returned(k, zkr_mutex_release(m), ZKR_ENOTOWNER);
    returned(k, zkr_mutex_cancel(m), ZKR_OK);
    returned(k, zkr_mutex_destroy(m), ZKR_OK);
}

static void live_with_election(struct life *k, zkr_client *c)
{
    zkr_leader_latch *l = NULL;
    zkr_leader_selector *s = NULL;
    char text[64];
    returned(k, zkr_leader_latch_create(&l, c, zkt_path(), "x", NULL), ZKR_OK);
    returned(k, zkr_leader_latch_start(l), ZKR_OK);
    returned(k, zkr_leader_latch_await(l, PATIENCE_MS), ZKR_OK);
    returned(k, zkr_leader_latch_leader(l, text, sizeof(text)), ZKR_OK);
    returned(k, zkr_leader_latch_stop(l, ZKR_LATCH_NOTIFY), ZKR_OK);
    returned(k, zkr_leader_latch_destroy(l), ZKR_OK);
    returned(k, zkr_leader_selector_create(&s, c, zkt_path(), "x", lead, NULL, NULL),
             ZKR_OK);
    returned(k, zkr_leader_selector_start(s), ZKR_OK);
    returned(k, zkr_leader_selector_stop(s, PATIENCE_MS), ZKR_OK);
    returned(k, zkr_leader_selector_start(s), ZKR_OK);
    returned(k, zkr_leader_selector_stop(s, ZKR_FOREVER), ZKR_OK);
    returned(k, zkr_leader_selector_destroy(s), ZKR_OK);
}

static void *live(void *arg)
{
    struct life *k = arg;
    zkr_client *c = NULL;
    if (k->cancel) {
        pthread_cancel(pthread_self());
    }
    returned(k, zkr_client_open(&c, zkt_servers(), NULL), ZKR_OK);
    returned(k, zkr_client_wait_connected(c, PATIENCE_MS), ZKR_OK);
    live_with_mutex(k, c);
    live_with_election(k, c);
    returned(k, zkr_client_flush(c, PATIENCE_MS), ZKR_OK);
    returned(k, zkr_client_close(c), ZKR_OK);
    pthread_testcancel();
    return NULL;
}

/* A pending cancellation takes effect after the last call, and interrupts none of the calls. */
ZKT_CASE(no_call_is_canceled_in_the_middle)
{
    struct life life[2] = {{.cancel = false}, {.cancel = true}};
    void *result[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, live, &life[i]), 0);
        pthread_join(thread, &result[i]);
        assert_int_equal(atomic_load(&life[i].failed), 0);
    }
    assert_int_equal(atomic_load(&life[1].calls), atomic_load(&life[0].calls));
    assert_null(result[0]);
    assert_true(result[1] == PTHREAD_CANCELED);
}

/* --- signals --- */

static atomic_int handled, inside;
static int gate[2]; /* the handler returns after a byte arrives */

static void count_signal(int number)
{
    atomic_fetch_add(&handled, 1);
}

static void stay_in_handler(int number)
{
    int error = errno;
    char byte;
    atomic_store(&inside, 1);
    while (read(gate[0], &byte, 1) < 0 && errno == EINTR) {
    }
    errno = error;
}

/* Install a handler without SA_RESTART, so that interrupted system calls fail with EINTR. */
static void handle(void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
}

/* Signals neither end a wait nor leave nodes behind. */
ZKT_CASE(signals_do_not_end_a_wait)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    struct waiter w[3];
    handle(count_signal);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    int64_t before = zkt_now_ms();
    begin(&w[0], m, 10 * SHORT_MS);
    begin(&w[1], m, ZKR_FOREVER);
    begin(&w[2], m, ZKR_FOREVER);
    ZKT_BECOMES(zkt_stats(c).waiting, 3, PATIENCE_MS);
    for (int i = 0; i < 100; i++) {
        int seen = atomic_load(&handled);
        pthread_kill(w[i % 3].thread, SIGUSR1);
        ZKT_EVENTUALLY(atomic_load(&handled) > seen || atomic_load(&w[0].rc) != NOT_YET,
                       PATIENCE_MS);
        if (atomic_load(&w[0].rc) != NOT_YET) {
            break;
        }
    }
    pthread_join(w[0].thread, NULL);
    assert_true(zkt_timed_out(atomic_load(&w[0].rc)));
    assert_true(zkt_now_ms() - before >= 10 * SHORT_MS);
    assert_int_equal(atomic_load(&w[1].rc), NOT_YET);
    assert_int_equal(atomic_load(&w[2].rc), NOT_YET);
    ZKT_MUST(zkr_mutex_release(m));
    for (int i = 1; i < 3; i++) {
        pthread_join(w[i].thread, NULL); /* the end of the thread releases the hold */
        ZKT_MUST(atomic_load(&w[i].rc));
    }
    handle(SIG_DFL);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(zkt_nodes(), 0);
}

/* --- zkr_mutex_cancel() --- */

/*
 * The hold is granted, lost and canceled while a signal handler keeps the waiter from running. The cancel counts,
 * although the waiter would have to queue again.
 */
ZKT_CASE(a_cancel_between_two_rounds_is_kept)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    struct waiter w;
    zkt_pipe(gate);
    handle(stay_in_handler);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    begin(&w, m, ZKR_FOREVER);
    ZKT_BECOMES(zkt_stats(c).waiting, 1, PATIENCE_MS);
    pthread_kill(w.thread, SIGUSR1);
    ZKT_EVENTUALLY(atomic_load(&inside), PATIENCE_MS);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_BECOMES(zkt_stats(c).held, 1, PATIENCE_MS);
    zkt_expire(c);
    assert_int_equal(zkt_stats(c).held, 0);
    ZKT_MUST(zkr_mutex_cancel(m));
    zkt_put_byte(gate[1], 0);
    pthread_join(w.thread, NULL);
    ZKT_RC(atomic_load(&w.rc), ZKR_ECANCELED);
    handle(SIG_DFL);
    zkt_pipe_close(gate);
    ZKT_MUST(zkr_client_wait_connected(c, PATIENCE_MS));
    zkt_in_and_out(m);
}
