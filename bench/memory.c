/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how much memory objects and waiting threads use, according to the allocator and to the kernel. */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#include "bench.h"
#include "books.h"

enum { MUTEXES = 1000, WAITERS = 200, CLIENTS = 8 };

/* --- mutexes --- */

static void measure_idle(const struct bench *b, zkr_client *c, const char *path)
{
    static zkr_mutex *mutexes[MUTEXES];
    double before = books_heap();
    for (int i = 0; i < MUTEXES; i++) {
        mutexes[i] = bench_mutex(c, path);
    }
    bench_value(b, "idle mutex, heap", "bytes", (books_heap() - before) / MUTEXES,
                1024);
    for (int i = 0; i < MUTEXES; i++) {
        bench_must(zkr_mutex_destroy(mutexes[i]), "destroy");
    }
}

/* --- waiting threads --- */

struct waiters {
    zkr_mutex *mutex;
    pthread_barrier_t ready, go;
};

static void *wait_once(void *arg)
{
    struct waiters *w = arg;
    free(malloc(16)); /* now the allocator has the memory that it keeps per thread */
    (void)pthread_barrier_wait(&w->ready);
    (void)pthread_barrier_wait(&w->go);
    bench_must(zkr_mutex_acquire(w->mutex, ZKR_FOREVER), "acquire");
    bench_must(zkr_mutex_release(w->mutex), "release");
    return NULL;
}

static void measure_waiting(const struct bench *b, zkr_client *c, const char *path)
{
    pthread_t waiting[WAITERS];
    struct waiters w = {.mutex = bench_mutex(c, path)};
    if (pthread_barrier_init(&w.ready, NULL, WAITERS + 1) != 0 ||
        pthread_barrier_init(&w.go, NULL, WAITERS + 1) != 0) {
        bench_die("no barrier");
    }
    bench_must(zkr_mutex_acquire(w.mutex, ZKR_FOREVER), "acquire");
    for (int i = 0; i < WAITERS; i++) {
        if (pthread_create(&waiting[i], NULL, wait_once, &w) != 0) {
            bench_die("no thread");
        }
    }
    (void)pthread_barrier_wait(&w.ready);
    double before = books_heap();
    (void)pthread_barrier_wait(&w.go);
    bench_await_waiting(c, WAITERS);
    bench_pause_ms(500); /* for the watches, which are set later */
    bench_value(b, "waiting acquire, heap", "bytes", (books_heap() - before) / WAITERS,
                4096);
    bench_must(zkr_mutex_release(w.mutex), "release");
    for (int i = 0; i < WAITERS; i++) {
        (void)pthread_join(waiting[i], NULL);
    }
    (void)pthread_barrier_destroy(&w.ready);
    (void)pthread_barrier_destroy(&w.go);
    bench_must(zkr_mutex_destroy(w.mutex), "destroy");
}

/* --- clients --- */

struct books {
    double heap, resident, threads;
};

static struct books read_books(void)
{
    return (struct books){
        .heap = books_heap(), .resident = books_resident(), .threads = books_threads()};
}

static struct books for_one(struct books now, struct books before)
{
    return (struct books){.heap = (now.heap - before.heap) / CLIENTS,
                          .resident = (now.resident - before.resident) / CLIENTS,
                          .threads = (now.threads - before.threads) / CLIENTS};
}

static zkr_client *used_client(const struct bench *b, const char *path)
{
    zkr_client *c = bench_client(b);
    zkr_mutex *m = bench_mutex(c, path);
    bench_must(zkr_mutex_acquire(m, ZKR_FOREVER), "acquire");
    bench_must(zkr_mutex_release(m), "release");
    bench_must(zkr_client_flush(c, ZKR_FOREVER), "flush");
    bench_must(zkr_mutex_destroy(m), "destroy");
    return c;
}

static struct raw *used_session(const struct bench *b, const char *path)
{
    struct raw *r = raw_open(b->servers);
    raw_join(r, path);
    raw_delete(r);
    return r;
}

static void measure_clients(const struct bench *b, const char *path)
{
    struct raw *sessions[CLIENTS];
    zkr_client *clients[CLIENTS];
    struct books start = read_books();
    for (int i = 0; i < CLIENTS; i++) {
        sessions[i] = used_session(b, path);
    }
    struct books middle = read_books();
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = used_client(b, path);
    }
    struct books end = read_books();
    struct books bare = for_one(middle, start), ours = for_one(end, middle);
    bench_value(b, "client beside libzookeeper, heap", "KiB",
                (ours.heap - bare.heap) / 1024, 256);
    bench_value(b, "client beside libzookeeper, resident", "KiB",
                (ours.resident - bare.resident) / 1024, 256);
    bench_value(b, "client beside libzookeeper, threads", "threads",
                ours.threads - bare.threads, 2);
    for (int i = 0; i < CLIENTS; i++) {
        raw_close(sessions[i]);
        bench_must(zkr_client_close(clients[i]), "close");
    }
}

void measure_memory(const struct bench *b)
{
    char path[BENCH_PATH];
    (void)mallopt(M_ARENA_MAX, 1); /* arenas of threads would distort the result */
    bench_path(b, "memory", path);
    /* Makes the allocations that happen only once. */
    zkr_client *c = used_client(b, path);
    measure_idle(b, c, path);
    measure_waiting(b, c, path);
    measure_clients(b, path);
    bench_must(zkr_client_close(c), "close");
}
