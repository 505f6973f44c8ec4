/* SPDX-License-Identifier: Apache-2.0 */
/* From the release by one client until another hears of it: a ticket's callback, a thread. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "bench.h"

enum { HAND_OVERS = 8 };

struct waking {
    zkr_client *clients[2]; /* of the holder, of the waiter */
    zkr_mutex *holder, *waiter;
    zkr_mutex *nobody; /* of the waiter's client */
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

static void *wait_in_acquire(void *arg)
{
    struct waking *w = arg;
    for (must_wait(&w->go); !atomic_load(&w->over); must_wait(&w->go)) {
        bench_must(zkr_mutex_acquire(w->waiter, ZKR_FOREVER), "acquire");
        hear(w);
        bench_must(zkr_mutex_release(w->waiter), "release");
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

/* The waiter is on its way: when it has its place and watches the holder, release. */
static void hand_over(struct waking *w, struct series *into)
{
    bench_await_waiting(w->clients[1], 1);
    bench_settle(w->nobody);
    int64_t begin = stats_now();
    bench_must(zkr_mutex_release(w->holder), "release");
    must_wait(&w->heard);
    series_add(into, (double)(atomic_load(&w->heard_at) - begin) / 1000);
}

static void hold(struct waking *w)
{
    bench_must(zkr_client_flush(w->clients[1], ZKR_FOREVER), "flush");
    bench_must(zkr_mutex_acquire(w->holder, ZKR_FOREVER), "acquire");
}

static void round_of_threads(void *ctx, struct series *into)
{
    struct waking *w = ctx;
    for (int i = 0; i < HAND_OVERS; i++) {
        (void)sem_post(&w->go);
        hand_over(w, into);
        must_wait(&w->heard); /* it has released */
        hold(w);
    }
}

static void round_of_tickets(void *ctx, struct series *into)
{
    struct waking *w = ctx;
    for (int i = 0; i < HAND_OVERS; i++) {
        zkr_ticket *t = NULL;
        bench_must(zkr_mutex_request(w->waiter, ZKR_FOREVER, on_ticket, w, &t),
                   "request");
        hand_over(w, into);
        bench_must(zkr_ticket_release(t), "release");
        bench_must(zkr_ticket_destroy(t), "destroy");
        hold(w);
    }
}

void measure_waking(const struct bench *b)
{
    struct waking w = {0};
    pthread_t thread;
    char path[BENCH_PATH];
    struct series ours = {0}, other = {0}, ratios = {0};
    struct row row = {.name = "ticket's callback / thread woken",
                      .unit = "us",
                      .ours = &ours,
                      .other = &other,
                      .ratios = &ratios,
                      .aim = ROW_MORE_AT_MOST,
                      .target = 30};
    bench_path(b, "waking", path);
    for (int i = 0; i < 2; i++) {
        w.clients[i] = bench_client(b);
    }
    w.holder = bench_mutex(w.clients[0], path);
    w.waiter = bench_mutex(w.clients[1], path);
    bench_path(b, "nobody", path);
    w.nobody = bench_mutex(w.clients[1], path);
    if (sem_init(&w.go, 0, 0) != 0 || sem_init(&w.heard, 0, 0) != 0 ||
        pthread_create(&thread, NULL, wait_in_acquire, &w) != 0) {
        bench_die("no thread");
    }
    hold(&w);
    bench_alternate(b, round_of_tickets, round_of_threads, &w, &row);
    bench_must(zkr_mutex_release(w.holder), "release");
    atomic_store(&w.over, true);
    (void)sem_post(&w.go);
    (void)pthread_join(thread, NULL);
    bench_must(zkr_mutex_destroy(w.holder), "destroy");
    bench_must(zkr_mutex_destroy(w.waiter), "destroy");
    bench_must(zkr_mutex_destroy(w.nobody), "destroy");
    for (int i = 0; i < 2; i++) {
        bench_must(zkr_client_close(w.clients[i]), "close");
    }
    bench_row(b, &row);
}
