/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the time from the release by one client until another client notices the grant, in a thread, or in a
 * ticket's callback on the dispatch thread or in an event loop.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench.h"

enum { HAND_OVERS = 8 };

/* A client that waits for the lock. */
struct waiter {
    zkr_client *client;
    zkr_mutex *mutex;
    zkr_mutex *nobody; /* on a path that no other client uses */
};

struct waking {
    zkr_client *client; /* client of the holder */
    zkr_mutex *mutex;
    /* The waiter with a dispatch thread, and the one with an event loop. */
    struct waiter usual, loop;
    struct waiter *ticket_of; /* the waiter whose tickets are compared */
    sem_t go, heard;
    atomic_bool over;
    atomic_int_fast64_t heard_at;
};

static void must_wait(sem_t *s)
{
    while (sem_wait(s) != 0) {
    }
}

static void hear(struct waking *w)
{
    atomic_store(&w->heard_at, stats_now());
    (void)sem_post(&w->heard);
}

/* --- the waiters --- */

static void *wait_in_acquire(void *arg)
{
    struct waking *w = arg;
    for (must_wait(&w->go); !atomic_load(&w->over); must_wait(&w->go)) {
        bench_must(zkr_mutex_acquire(w->usual.mutex, ZKR_FOREVER), "acquire");
        hear(w);
        bench_must(zkr_mutex_release(w->usual.mutex), "release");
        (void)sem_post(&w->heard);
    }
    return NULL;
}

static void on_ticket(zkr_ticket *t, int state, void *ctx)
{
    (void)t;
    bench_must(state == ZKR_TICKET_HELD ? ZKR_OK : ZKR_ESTATE, "ticket");
    hear(ctx);
}

static void *run_loop(void *arg)
{
    struct waking *w = arg;
    int poll = epoll_create1(EPOLL_CLOEXEC), fd = zkr_client_event_fd(w->loop.client);
    struct epoll_event event = {.events = EPOLLIN};
    if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) != 0) {
        bench_die("no event loop");
    }
    while (!atomic_load(&w->over)) {
        if (epoll_wait(poll, &event, 1, 100) > 0) {
            (void)zkr_client_dispatch(w->loop.client, 0);
        }
    }
    (void)close(poll);
    return NULL;
}

/* --- rounds --- */

/* The waiter is about to queue. Once it is in the queue and watches the holder, releases the lock. */
static void
hand_over(struct waking *w, const struct waiter *waiter, struct series *into)
{
    bench_await_waiting(waiter->client, 1);
    bench_settle(waiter->nobody);
    int64_t begin = stats_now();
    bench_must(zkr_mutex_release(w->mutex), "release");
    must_wait(&w->heard);
    series_add(into, (double)(atomic_load(&w->heard_at) - begin) / 1000);
}

/* Acquires the lock again, which the waiter has released. */
static void hold(struct waking *w, const struct waiter *waiter)
{
    bench_must(zkr_client_flush(waiter->client, ZKR_FOREVER), "flush");
    bench_must(zkr_mutex_acquire(w->mutex, ZKR_FOREVER), "acquire");
}

static void round_of_threads(void *ctx, struct series *into)
{
    struct waking *w = ctx;
    for (int i = 0; i < HAND_OVERS; i++) {
        (void)sem_post(&w->go);
        hand_over(w, &w->usual, into);
        must_wait(&w->heard); /* the waiter has released the lock */
        hold(w, &w->usual);
    }
}

static void round_of_tickets(void *ctx, struct series *into)
{
    struct waking *w = ctx;
    for (int i = 0; i < HAND_OVERS; i++) {
        zkr_ticket *t = NULL;
        bench_must(
            zkr_mutex_request(w->ticket_of->mutex, ZKR_FOREVER, on_ticket, w, &t),
            "request");
        hand_over(w, w->ticket_of, into);
        bench_must(zkr_ticket_release(t), "release");
        bench_must(zkr_ticket_destroy(t), "destroy");
        hold(w, w->ticket_of);
    }
}

static void compare(const struct bench *b, struct waking *w, const char *name)
{
    struct series ours = {0}, other = {0}, ratios = {0};
    struct row row = {.name = name,
                      .unit = "us",
                      .ours = &ours,
                      .other = &other,
                      .ratios = &ratios,
                      .aim = ROW_MORE_AT_MOST,
                      .target = 30};
    bench_alternate(b, round_of_tickets, round_of_threads, w, &row);
    bench_row(b, &row);
}

/* --- the measurement --- */

static void open_waiter(const struct bench *b,
                        struct waiter *waiter,
                        const char *path,
                        bool by_loop)
{
    char nobody[BENCH_PATH];
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.dispatch_by_application = by_loop;
    bench_path(b, "nobody", nobody);
    waiter->client = bench_client_with(b, o);
    waiter->mutex = bench_mutex(waiter->client, path);
    waiter->nobody = bench_mutex(waiter->client, nobody);
}

static void close_waiter(struct waiter *waiter)
{
    bench_must(zkr_mutex_destroy(waiter->mutex), "destroy");
    bench_must(zkr_mutex_destroy(waiter->nobody), "destroy");
    bench_must(zkr_client_close(waiter->client), "close");
}

static void compare_all(const struct bench *b, struct waking *w)
{
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, wait_in_acquire, w) != 0 ||
        pthread_create(&threads[1], NULL, run_loop, w) != 0) {
        bench_die("no thread");
    }
    bench_must(zkr_mutex_acquire(w->mutex, ZKR_FOREVER), "acquire");
    w->ticket_of = &w->usual;
    compare(b, w, "ticket's callback / thread woken");
    w->ticket_of = &w->loop;
    compare(b, w, "ticket in an event loop / thread");
    bench_must(zkr_mutex_release(w->mutex), "release");
    atomic_store(&w->over, true);
    (void)sem_post(&w->go);
    (void)pthread_join(threads[0], NULL);
    (void)pthread_join(threads[1], NULL);
}

void measure_waking(const struct bench *b)
{
    struct waking w = {0};
    char path[BENCH_PATH];
    bench_path(b, "waking", path);
    w.client = bench_client(b);
    w.mutex = bench_mutex(w.client, path);
    open_waiter(b, &w.usual, path, false);
    open_waiter(b, &w.loop, path, true);
    if (sem_init(&w.go, 0, 0) != 0 || sem_init(&w.heard, 0, 0) != 0) {
        bench_die("no semaphore");
    }
    compare_all(b, &w);
    close_waiter(&w.usual);
    close_waiter(&w.loop);
    bench_must(zkr_mutex_destroy(w.mutex), "destroy");
    bench_must(zkr_client_close(w.client), "close");
}
