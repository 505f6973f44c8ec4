/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the cost of an event, of a second at rest, and of memory for a client in which 10 to 10,000 claims wait. */
#include "claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZES = 4, WORKERS = 2 * SIZES, CHUNK = 500, LONG_S = 20 };

static const int sizes[SIZES] = {10, 100, 1000, 10000};

struct stage {
    /* The workers on separate paths, by size, and then the workers on one path. */
    struct claims_worker workers[WORKERS];
    /* Holds the locks for which the workers wait. */
    zkr_client *client;
    zkr_mutex **mutexes[SIZES];
    zkr_ticket **tickets[SIZES];
};

/* --- workers --- */

static void start(const struct bench *b, struct stage *s, int i)
{
    struct claims_worker *w = &s->workers[i];
    if (pipe(w->commands) != 0 || pipe(w->answers) != 0) {
        bench_die("no pipe");
    }
    pid_t pid = fork();
    if (pid < 0) {
        bench_die("no process");
    }
    if (pid == 0) {
        for (int j = 0; j <= i; j++) {
            if (s->workers[j].count > 0) {
                (void)close(s->workers[j].commands[1]);
                (void)close(s->workers[j].answers[0]);
            }
        }
        claims_work(b, w);
        _exit(0);
    }
    (void)close(w->commands[0]);
    (void)close(w->answers[1]);
}

static void put(const struct claims_worker *w, const void *bytes, size_t count)
{
    if (write(w->commands[1], bytes, count) != (ssize_t)count) {
        bench_die("a worker has ended");
    }
}

static struct claims_answer ask(struct stage *s, int i, enum claims_command command)
{
    const struct claims_worker *w = &s->workers[i];
    struct claims_answer answer;
    char byte = (char)command;
    for (put(w, &byte, 1);;) {
        if (read(w->answers[0], &answer, sizeof(answer)) != sizeof(answer)) {
            bench_die("a worker has ended");
        }
        if (answer.path < 0) {
            return answer;
        }
        int64_t now = stats_now();
        bench_must(zkr_ticket_release(s->tickets[i][answer.path]), "release");
        put(w, &now, sizeof(now));
    }
}

/* --- the locks for which they wait --- */

static void hold(struct stage *s, int size, int i)
{
    bench_must(zkr_mutex_request(s->mutexes[size][i], ZKR_FOREVER, NULL, NULL,
                                 &s->tickets[size][i]),
               "request");
}

static void must_hold(struct stage *s, int size, int from, int to)
{
    for (int i = from; i < to; i++) {
        bench_must(zkr_ticket_wait(s->tickets[size][i], ZKR_FOREVER), "wait");
    }
}

static void hold_all(struct stage *s, int size)
{
    int count = sizes[size];
    char path[BENCH_PATH];
    s->mutexes[size] = calloc((size_t)count, sizeof(zkr_mutex *));
    s->tickets[size] = calloc((size_t)count, sizeof(zkr_ticket *));
    if (!s->mutexes[size] || !s->tickets[size]) {
        bench_die("out of memory");
    }
    for (int from = 0; from < count; from += CHUNK) {
        int to = from + CHUNK < count ? from + CHUNK : count;
        for (int i = from; i < to; i++) {
            claims_path(&s->workers[size], i, path);
            s->mutexes[size][i] = bench_mutex(s->client, path);
            hold(s, size, i);
        }
        must_hold(s, size, from, to);
    }
}

/* Acquires all released locks again. */
static void hold_again(struct stage *s, int size)
{
    for (int i = 0; i < sizes[size]; i++) {
        zkr_ticket *t = s->tickets[size][i];
        if (zkr_ticket_state(t) == ZKR_TICKET_RELEASED) {
            bench_must(zkr_ticket_destroy(t), "destroy");
            hold(s, size, i);
            bench_must(zkr_ticket_wait(s->tickets[size][i], ZKR_FOREVER), "wait");
        }
    }
}

static void let_go(struct stage *s, int size)
{
    for (int i = 0; i < sizes[size]; i++) {
        bench_must(zkr_ticket_release(s->tickets[size][i]), "release");
        bench_must(zkr_ticket_destroy(s->tickets[size][i]), "destroy");
        bench_must(zkr_mutex_destroy(s->mutexes[size][i]), "destroy");
    }
    free(s->tickets[size]);
    free(s->mutexes[size]);
}

/* --- comparisons --- */

/* A comparison of two workers. */
struct contest {
    struct stage *s;
    int ours, other;
    bool at_rest, time;
};

static void run(const struct contest *c, int i, struct series *into)
{
    struct claims_answer answer =
        ask(c->s, i, c->at_rest ? CLAIMS_REST : CLAIMS_EVENTS);
    series_add(into, c->time ? answer.time : answer.cpu);
    if (!c->at_rest) {
        if (i < SIZES) {
            hold_again(c->s, i);
        }
        (void)ask(c->s, i, CLAIMS_AGAIN);
    }
}

static void round_of_ours(void *ctx, struct series *into)
{
    const struct contest *c = ctx;
    run(c, c->ours, into);
}

static void round_of_other(void *ctx, struct series *into)
{
    const struct contest *c = ctx;
    run(c, c->other, into);
}

static void
compare(const struct bench *b, struct contest c, const char *what, double target)
{
    char name[64];
    struct series ours = {0}, other = {0}, ratios = {0};
    const struct claims_worker *w = &c.s->workers[c.ours];
    struct row row = {.name = name,
                      .unit = c.at_rest ? "us/s" : "us",
                      .ours = &ours,
                      .other = &other,
                      .ratios = &ratios,
                      .aim = target > 0 ? ROW_RATIO_AT_MOST : ROW_FOR_INFORMATION,
                      .target = target};
    (void)snprintf(name, sizeof(name), "%s, %d %s / %d", what, w->count,
                   w->apart ? "paths" : "on one", c.s->workers[c.other].count);
    struct bench shorter = *b;
    shorter.budget = b->budget * (c.at_rest ? 4 : 3) / 10;
    bench_alternate(&shorter, round_of_ours, round_of_other, &c, &row);
    bench_row(b, &row);
}

static void compare_all(const struct bench *b, struct stage *s, int first, int count)
{
    struct contest c = {.s = s, .other = first};
    for (int i = 1; i < count; i++) {
        c.ours = first + i;
        compare(b, c, "CPU of an event", i == count - 1 ? 1.5 : 0);
    }
    c.time = true;
    compare(b, c, "hand-over", 0);
    c.time = false;
    c.at_rest = true;
    compare(b, c, "CPU at rest", 1.5);
}

static void print_memory(const struct bench *b, const struct claims_answer *joined)
{
    bench_value(b, "waiting ticket beside its watches", "bytes",
                joined->heap - joined->watches, 1024);
    bench_value(b, "10000 waiting tickets, threads more", "threads", joined->threads,
                0);
}

/* --- the measurement --- */

/*
 * Creates the directories, and then the workers, before this process has threads. Returns how many workers use one
 * path.
 */
static int set_up(const struct bench *b, struct stage *s)
{
    int on_one = b->budget >= LONG_S * (int64_t)1000000000 ? SIZES : SIZES - 1;
    for (int i = 0; i < SIZES + on_one; i++) {
        struct claims_worker *w = &s->workers[i];
        char name[32];
        w->apart = i < SIZES;
        w->count = sizes[i % SIZES];
        (void)snprintf(name, sizeof(name), "claims-%d-%d", w->apart, w->count);
        char path[BENCH_PATH];
        bench_path(b, name, path);
        (void)snprintf(w->dir, sizeof(w->dir), "%.*s", (int)sizeof(w->dir) - 1, path);
        if (w->apart) {
            struct raw *r = raw_open(b->servers);
            raw_make_many(r, w->dir, w->count);
            raw_close(r);
        }
    }
    for (int i = 0; i < SIZES + on_one; i++) {
        start(b, s, i);
    }
    return on_one;
}

static void clean_up(const struct bench *b, struct stage *s, int workers)
{
    char rest;
    for (int i = 0; i < workers; i++) {
        (void)close(s->workers[i].commands[1]);
        while (read(s->workers[i].answers[0], &rest, 1) > 0) {
        }
    }
    for (int i = 0; i < SIZES; i++) {
        let_go(s, i);
    }
    bench_must(zkr_client_flush(s->client, ZKR_FOREVER), "flush");
    bench_must(zkr_client_close(s->client), "close");
    struct raw *r = raw_open(b->servers);
    for (int i = 0; i < SIZES; i++) {
        raw_delete_many(r, s->workers[i].dir, sizes[i]);
    }
    raw_close(r);
}

void measure_claims(const struct bench *b)
{
    static struct stage s;
    struct claims_answer joined = {0};
    int on_one = set_up(b, &s);
    s.client = bench_client(b);
    for (int i = 0; i < SIZES; i++) {
        hold_all(&s, i);
    }
    for (int i = 0; i < SIZES + on_one; i++) {
        struct claims_answer answer = ask(&s, i, CLAIMS_JOIN);
        joined = i == SIZES - 1 ? answer : joined;
    }
    print_memory(b, &joined);
    compare_all(b, &s, 0, SIZES);
    compare_all(b, &s, SIZES, on_one);
    clean_up(b, &s, SIZES + on_one);
}
