/* SPDX-License-Identifier: Apache-2.0 */
/* Several contenders want the lock at once: two processes, eight threads, eight clients. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

/* --- two processes on one path --- */

enum { PROCESSES = 2, PROCESS_CYCLES = 25 };

struct processes {
    int commands[PROCESSES][2]; /* pipes to the workers */
    int answers[PROCESSES][2];  /* pipes from the workers */
};

struct worker {
    zkr_client *client;
    zkr_mutex *mutex;
    struct raw *raw;
    const char *path;
};

static void cycles_of_worker(struct worker *w, char command)
{
    for (int i = 0; i < PROCESS_CYCLES; i++) {
        if (command == 'm') {
            bench_must(zkr_mutex_acquire(w->mutex, ZKR_FOREVER), "acquire");
            bench_must(zkr_mutex_release(w->mutex), "release");
        } else {
            raw_lock(w->raw, w->path);
            raw_delete(w->raw);
        }
    }
    if (command == 'm') {
        bench_must(zkr_client_flush(w->client, ZKR_FOREVER), "flush");
    }
}

/* Works until the pipe is closed, which also happens when the parent exits. */
static void work(const struct bench *b, const char *path, int commands, int answers)
{
    struct worker w = {.path = path, .raw = raw_open(b->servers)};
    w.client = bench_client(b);
    w.mutex = bench_mutex(w.client, path);
    char command = 0;
    while (write(answers, "", 1) == 1 && read(commands, &command, 1) == 1) {
        cycles_of_worker(&w, command);
    }
    bench_must(zkr_mutex_destroy(w.mutex), "destroy");
    bench_must(zkr_client_close(w.client), "close");
    raw_close(w.raw);
}

static void await_workers(const struct processes *p)
{
    char answer;
    for (int i = 0; i < PROCESSES; i++) {
        if (read(p->answers[i][0], &answer, 1) != 1) {
            bench_die("a worker has ended");
        }
    }
}

static void start_workers(const struct bench *b, struct processes *p, const char *path)
{
    for (int i = 0; i < PROCESSES; i++) {
        if (pipe(p->commands[i]) != 0 || pipe(p->answers[i]) != 0) {
            bench_die("no pipe");
        }
        pid_t pid = fork();
        if (pid < 0) {
            bench_die("no process");
        }
        if (pid == 0) {
            for (int j = 0; j <= i; j++) {
                (void)close(p->commands[j][1]);
                (void)close(p->answers[j][0]);
            }
            work(b, path, p->commands[i][0], p->answers[i][1]);
            _exit(0);
        }
        (void)close(p->commands[i][0]);
        (void)close(p->answers[i][1]);
    }
    await_workers(p);
}

static void round_of_processes(struct processes *p, char command, struct series *into)
{
    int64_t begin = stats_now();
    for (int i = 0; i < PROCESSES; i++) {
        if (write(p->commands[i][1], &command, 1) != 1) {
            bench_die("a worker has ended");
        }
    }
    await_workers(p);
    series_add(into, (double)(stats_now() - begin) / 1000 / PROCESSES / PROCESS_CYCLES);
}

static void round_of_mutexes(void *ctx, struct series *into)
{
    round_of_processes(ctx, 'm', into);
}

static void round_of_plain_locks(void *ctx, struct series *into)
{
    round_of_processes(ctx, 'p', into);
}

void measure_processes(const struct bench *b)
{
    char path[BENCH_PATH];
    struct processes p;
    struct series ours = {0}, other = {0}, ratios = {0};
    struct row row = {.name = "2 processes / plain locks",
                      .unit = "us",
                      .ours = &ours,
                      .other = &other,
                      .ratios = &ratios,
                      .aim = ROW_GAIN_AT_LEAST,
                      .target = 1.35};
    bench_path(b, "processes", path);
    start_workers(b, &p, path);
    bench_alternate(b, round_of_mutexes, round_of_plain_locks, &p, &row);
    for (int i = 0; i < PROCESSES; i++) {
        char rest;
        (void)close(p.commands[i][1]);
        while (read(p.answers[i][0], &rest, 1) > 0) {
        }
    }
    bench_row(b, &row);
}

/* --- eight threads on one object, or on eight clients --- */

enum { THREADS = 8, BUSY_CYCLES = 20, CALM_CYCLES = 4, CALM_HOLD_US = 500 };

struct crowd {
    zkr_client *clients[THREADS];
    zkr_mutex *mutexes[THREADS];
    zkr_client *client; /* client of the shared mutex */
    zkr_mutex *shared;
    int cycles;
    long hold_us;
    /* True: measure hand-overs, from a release to the next hold. False: measure whole cycles. */
    bool hand_overs;
    /* State of the current round. */
    pthread_barrier_t start;
    atomic_int_fast64_t released_at;
};

struct member {
    struct crowd *crowd;
    zkr_mutex *mutex;
    double handed[BUSY_CYCLES];
};

static void hold(long us)
{
    if (us > 0) {
        (void)nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
    }
}

static void *compete(void *arg)
{
    struct member *me = arg;
    struct crowd *crowd = me->crowd;
    (void)pthread_barrier_wait(&crowd->start);
    for (int i = 0; i < crowd->cycles; i++) {
        bench_must(zkr_mutex_acquire(me->mutex, ZKR_FOREVER), "acquire");
        int64_t released_at = atomic_load(&crowd->released_at);
        me->handed[i] = released_at ? (double)(stats_now() - released_at) / 1000 : 0;
        hold(crowd->hold_us);
        atomic_store(&crowd->released_at, stats_now());
        bench_must(zkr_mutex_release(me->mutex), "release");
    }
    return NULL;
}

static void flush_crowd(const struct crowd *crowd, bool own)
{
    for (int i = 0; i < (own ? THREADS : 1); i++) {
        zkr_client *c = own ? crowd->clients[i] : crowd->client;
        bench_must(zkr_client_flush(c, ZKR_FOREVER), "flush");
    }
}

/* With @own, each thread uses its own client. Otherwise all threads use the shared mutex. */
static void round_of_crowd(struct crowd *crowd, bool own, struct series *into)
{
    pthread_t threads[THREADS];
    struct member members[THREADS];
    atomic_store(&crowd->released_at, 0);
    if (pthread_barrier_init(&crowd->start, NULL, THREADS + 1) != 0) {
        bench_die("no barrier");
    }
    for (int i = 0; i < THREADS; i++) {
        members[i].crowd = crowd;
        members[i].mutex = own ? crowd->mutexes[i] : crowd->shared;
        if (pthread_create(&threads[i], NULL, compete, &members[i]) != 0) {
            bench_die("no thread");
        }
    }
    (void)pthread_barrier_wait(&crowd->start);
    int64_t begin = stats_now();
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    flush_crowd(crowd, own);
    double us = (double)(stats_now() - begin) / 1000;
    (void)pthread_barrier_destroy(&crowd->start);
    if (!crowd->hand_overs) {
        series_add(into, us / THREADS / crowd->cycles);
        return;
    }
    for (int i = 0; i < THREADS * crowd->cycles; i++) {
        double value = members[i % THREADS].handed[i / THREADS];
        series_add(value > 0 ? into : NULL, value);
    }
}

static void round_of_threads(void *ctx, struct series *into)
{
    round_of_crowd(ctx, false, into);
}

static void round_of_clients(void *ctx, struct series *into)
{
    round_of_crowd(ctx, true, into);
}

static void compare_crowds(const struct bench *b, struct crowd *crowd, struct row row)
{
    struct series ours = {0}, other = {0}, ratios = {0};
    row.unit = "us";
    row.ours = &ours;
    row.other = &other;
    row.ratios = &ratios;
    bench_alternate(b, round_of_threads, round_of_clients, crowd, &row);
    bench_row(b, &row);
}

void measure_threads(const struct bench *b)
{
    struct crowd crowd = {0};
    char shared[BENCH_PATH], path[BENCH_PATH];
    bench_path(b, "threads", shared);
    bench_path(b, "clients", path);
    crowd.client = bench_client(b);
    crowd.shared = bench_mutex(crowd.client, shared);
    for (int i = 0; i < THREADS; i++) {
        crowd.clients[i] = bench_client(b);
        crowd.mutexes[i] = bench_mutex(crowd.clients[i], path);
    }

    crowd.hand_overs = true;
    crowd.cycles = CALM_CYCLES;
    crowd.hold_us = CALM_HOLD_US;
    compare_crowds(b, &crowd,
                   (struct row){.name = "hand-over, 8 threads / 8 clients",
                                .aim = ROW_VALUE_AT_MOST,
                                .target = 50});
    crowd.cycles = BUSY_CYCLES;
    crowd.hold_us = 0;
    compare_crowds(b, &crowd, (struct row){.name = "hand-over, held for no time"});
    crowd.hand_overs = false;
    compare_crowds(b, &crowd,
                   (struct row){.name = "8 threads / 8 clients",
                                .aim = ROW_GAIN_AT_LEAST,
                                .target = 2});

    bench_must(zkr_mutex_destroy(crowd.shared), "destroy");
    bench_must(zkr_client_close(crowd.client), "close");
    for (int i = 0; i < THREADS; i++) {
        bench_must(zkr_mutex_destroy(crowd.mutexes[i]), "destroy");
        bench_must(zkr_client_close(crowd.clients[i]), "close");
    }
}
