/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "books.h"
#include "claims.h"

enum { CHUNK = 100, SETTLE_MS = 150, REST_MS = 300 };

struct work {
    const struct claims_worker *w;
    zkr_client *client;
    zkr_mutex *probed; /* held so that the client keeps the lease */
    zkr_mutex *fence;  /* on a path that no other client uses */
    zkr_mutex **mutexes;
    zkr_ticket **tickets;
    int mutex_count, ticket_count;
    int next; /* apart: the next to be granted; otherwise: the one that holds */
    int done[CLAIMS_BATCH];
    sem_t heard;
    atomic_int_fast64_t heard_at;
};

void claims_path(const struct claims_worker *w, int i, char path[BENCH_PATH])
{
    (void)snprintf(path, BENCH_PATH, "%s/%d", w->dir, i);
}

static void on_ticket(zkr_ticket *t, int state, void *ctx)
{
    struct work *k = ctx;
    (void)t;
    bench_must(state == ZKR_TICKET_HELD ? ZKR_OK : ZKR_ESTATE, "ticket");
    atomic_store(&k->heard_at, stats_now());
    (void)sem_post(&k->heard);
}

static void must_hear(struct work *k)
{
    while (sem_wait(&k->heard) != 0) {
    }
}

static void request(struct work *k, int i)
{
    bench_must(zkr_mutex_request(k->mutexes[i % k->mutex_count], ZKR_FOREVER, on_ticket,
                                 k, &k->tickets[i]),
               "request");
}

/* Like bench_settle(), but also waits for the watches on the claims' own nodes, which are set later. */
static void settle_for_good(struct work *k)
{
    bench_settle(k->fence);
    bench_pause_ms(SETTLE_MS);
    bench_settle(k->fence);
}

static void tell(const struct work *k, struct claims_answer answer)
{
    if (write(k->w->answers[1], &answer, sizeof(answer)) != sizeof(answer)) {
        bench_die("nobody listens");
    }
}

static double watches_heap(const struct bench *b, const struct claims_worker *w)
{
    struct raw *r = raw_open(b->servers);
    double before = books_heap();
    raw_watch_many(r, w->dir, 2 * w->count);
    double bytes = (books_heap() - before) / w->count;
    raw_close(r);
    return bytes;
}

static void join(struct work *k, double watches)
{
    double threads = books_threads(), heap = books_heap();
    for (int i = 0; i < k->ticket_count; i++) {
        request(k, i);
        if (i % CHUNK == CHUNK - 1) {
            bench_settle(k->fence);
        }
    }
    bench_await_waiting(k->client, k->w->count);
    settle_for_good(k);
    if (!k->w->apart) {
        must_hear(k); /* the first ticket holds */
    }
    tell(k, (struct claims_answer){.path = -1,
                                   .heap = (books_heap() - heap) / k->ticket_count,
                                   .watches = watches,
                                   .threads = books_threads() - threads});
}

/* --- events --- */

/* Another process releases the path of ticket @i. Returns the time of the hand-over. */
static double event_apart(struct work *k, int i, struct series *cpu)
{
    int64_t begin = 0, cpu_before = stats_cpu();
    tell(k, (struct claims_answer){.path = i});
    must_hear(k);
    series_add(cpu, (double)(stats_cpu() - cpu_before) / 1000);
    if (read(k->w->commands[0], &begin, sizeof(begin)) != sizeof(begin)) {
        bench_die("nobody releases");
    }
    return (double)(atomic_load(&k->heard_at) - begin) / 1000;
}

/* Ticket @i hands over to the ticket behind it. Returns the time of the hand-over. */
static double event_on_one(struct work *k, int i, struct series *cpu)
{
    int64_t cpu_before = stats_cpu(), begin = stats_now();
    bench_must(zkr_ticket_release(k->tickets[i]), "release");
    must_hear(k);
    double took = (double)(atomic_load(&k->heard_at) - begin) / 1000;
    bench_must(zkr_client_flush(k->client, ZKR_FOREVER), "flush");
    series_add(cpu, (double)(stats_cpu() - cpu_before) / 1000);
    return took;
}

static void events(struct work *k)
{
    struct series cpu = {0}, times = {0};
    for (int i = 0; i < CLAIMS_BATCH; i++) {
        k->done[i] = k->next;
        k->next = (k->next + 1) % k->ticket_count;
        series_add(&times, k->w->apart ? event_apart(k, k->done[i], &cpu)
                                       : event_on_one(k, k->done[i], &cpu));
    }
    for (int i = 0; i < CLAIMS_BATCH; i++) {
        (void)zkr_ticket_release(k->tickets[k->done[i]]);
        bench_must(zkr_ticket_destroy(k->tickets[k->done[i]]), "destroy");
    }
    bench_must(zkr_client_flush(k->client, ZKR_FOREVER), "flush");
    tell(k, (struct claims_answer){.path = -1,
                                   .cpu = series_at(&cpu, 0.5),
                                   .time = series_at(&times, 0.5)});
    series_free(&cpu);
    series_free(&times);
}

static void again(struct work *k)
{
    for (int i = 0; i < CLAIMS_BATCH; i++) {
        request(k, k->done[i]);
    }
    settle_for_good(k);
    tell(k, (struct claims_answer){.path = -1});
}

static void rest(struct work *k)
{
    int64_t cpu = stats_cpu(), begin = stats_now();
    bench_pause_ms(REST_MS);
    double us = (double)(stats_cpu() - cpu) / 1000;
    tell(k, (struct claims_answer){.path = -1,
                                   .cpu = us * 1e9 / (double)(stats_now() - begin)});
}

/* --- the life of a worker --- */

static void *room_for(int count)
{
    void *room = calloc((size_t)count, sizeof(void *));
    if (!room) {
        bench_die("out of memory");
    }
    return room;
}

static void begin(struct work *k, const struct bench *b)
{
    char path[BENCH_PATH];
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.lease_probe_ms = CLAIMS_PROBE_MS;
    k->client = bench_client_with(b, o);
    (void)snprintf(path, sizeof(path), "%s/probed-%d-%d", b->base, k->w->count,
                   k->w->apart);
    k->probed = bench_mutex(k->client, path);
    bench_must(zkr_mutex_acquire(k->probed, ZKR_FOREVER), "acquire");
    (void)snprintf(path, sizeof(path), "%s/nobody", b->base);
    k->fence = bench_mutex(k->client, path);
    k->mutex_count = k->w->apart ? k->w->count : 1;
    k->ticket_count = k->w->count + !k->w->apart;
    k->mutexes = room_for(k->mutex_count);
    k->tickets = room_for(k->ticket_count);
    for (int i = 0; i < k->mutex_count; i++) {
        claims_path(k->w, i, path);
        k->mutexes[i] = bench_mutex(k->client, k->w->apart ? path : k->w->dir);
    }
    if (sem_init(&k->heard, 0, 0) != 0) {
        bench_die("no semaphore");
    }
}

/* Releases the tickets from the last to the first, so that none is granted. */
static void end(struct work *k)
{
    for (int i = k->ticket_count; i > 0; i--) {
        zkr_ticket *t = k->tickets[(k->next + i - 1) % k->ticket_count];
        bench_must(zkr_ticket_release(t), "release");
        bench_must(zkr_ticket_destroy(t), "destroy");
    }
    for (int i = 0; i < k->mutex_count; i++) {
        bench_must(zkr_mutex_destroy(k->mutexes[i]), "destroy");
    }
    bench_must(zkr_mutex_release(k->probed), "release");
    bench_must(zkr_client_flush(k->client, ZKR_FOREVER), "flush");
    bench_must(zkr_mutex_destroy(k->probed), "destroy");
    bench_must(zkr_mutex_destroy(k->fence), "destroy");
    bench_must(zkr_client_close(k->client), "close");
}

void claims_work(const struct bench *b, const struct claims_worker *w)
{
    struct work k = {.w = w};
    double watches = 0;
    char command;
    (void)mallopt(M_ARENA_MAX, 1); /* arenas of threads would distort the result */
    while (read(w->commands[0], &command, 1) == 1) {
        switch ((enum claims_command)command) {
        case CLAIMS_JOIN:
            watches = watches_heap(b, w);
            begin(&k, b);
            join(&k, watches);
            break;
        case CLAIMS_EVENTS:
            events(&k);
            break;
        case CLAIMS_AGAIN:
            again(&k);
            break;
        case CLAIMS_REST:
            rest(&k);
            break;
        }
    }
    if (k.client) {
        end(&k);
    }
}
