/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the cost of the mutex with the cost of the requests that it consists of (README.md). */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* --- one thread, and no other contender on the path --- */

/* A client and a bare session, each with its own path. */
struct pair {
    zkr_client *client;
    zkr_mutex *mutex;
    struct raw *raw;
    char ours[BENCH_PATH], other[BENCH_PATH];
};

static void open_pair(const struct bench *b, struct pair *p)
{
    bench_path(b, "ours", p->ours);
    bench_path(b, "bare", p->other);
    p->client = bench_client(b);
    p->mutex = bench_mutex(p->client, p->ours);
    p->raw = raw_open(b->servers);
}

static void close_pair(struct pair *p)
{
    bench_must(zkr_mutex_destroy(p->mutex), "destroy");
    bench_must(zkr_client_close(p->client), "close");
    raw_close(p->raw);
}

/* Compares both in one process, alternately. */
static void
compare_pair(const struct bench *b, bench_round ours, bench_round other, struct row row)
{
    struct pair p;
    struct series a = {0}, o = {0}, ratios = {0};
    row.ours = &a;
    row.other = &o;
    row.ratios = &ratios;
    open_pair(b, &p);
    bench_alternate(b, ours, other, &p, &row);
    close_pair(&p);
    bench_row(b, &row);
}

enum { ACQUIRES = 10, CYCLES = 50 };

static double us_since(int64_t begin)
{
    return (double)(stats_now() - begin) / 1000;
}

static void flush(struct pair *p)
{
    bench_must(zkr_client_flush(p->client, ZKR_FOREVER), "flush");
}

static void round_of_acquires(void *ctx, struct series *into)
{
    struct pair *p = ctx;
    for (int i = 0; i < ACQUIRES; i++) {
        int64_t begin = stats_now();
        bench_must(zkr_mutex_acquire(p->mutex, ZKR_FOREVER), "acquire");
        series_add(into, us_since(begin));
        bench_must(zkr_mutex_release(p->mutex), "release");
        flush(p);
    }
}

static void round_of_joins(void *ctx, struct series *into)
{
    struct pair *p = ctx;
    for (int i = 0; i < ACQUIRES; i++) {
        int64_t begin = stats_now();
        raw_join(p->raw, p->other);
        series_add(into, us_since(begin));
        raw_delete(p->raw);
    }
}

static void round_of_creates(void *ctx, struct series *into)
{
    struct pair *p = ctx;
    for (int i = 0; i < ACQUIRES; i++) {
        int64_t begin = stats_now();
        raw_create(p->raw, p->other);
        series_add(into, us_since(begin));
        raw_delete(p->raw);
    }
}

void measure_acquire(const struct bench *b)
{
    compare_pair(b, round_of_acquires, round_of_creates,
                 (struct row){.name = "acquire / create",
                              .unit = "us",
                              .aim = ROW_RATIO_AT_MOST,
                              .target = 1.2});
    compare_pair(b, round_of_acquires, round_of_joins,
                 (struct row){.name = "acquire / create and list", .unit = "us"});
}

static void lock_cycles(struct pair *p)
{
    for (int i = 0; i < CYCLES; i++) {
        bench_must(zkr_mutex_acquire(p->mutex, ZKR_FOREVER), "acquire");
        bench_must(zkr_mutex_release(p->mutex), "release");
    }
    flush(p);
}

/* Sends the requests of a lock and an unlock, and nothing else. */
static void bare_cycles(struct pair *p)
{
    for (int i = 0; i < CYCLES; i++) {
        raw_join(p->raw, p->other);
        raw_remove(p->raw);
    }
    raw_flush(p->raw);
}

static void round_of_cycles(void *ctx, struct series *into)
{
    int64_t begin = stats_now();
    lock_cycles(ctx);
    series_add(into, us_since(begin) / CYCLES);
}

static void round_of_create_delete(void *ctx, struct series *into)
{
    struct pair *p = ctx;
    int64_t begin = stats_now();
    for (int i = 0; i < CYCLES; i++) {
        raw_create(p->raw, p->other);
        raw_delete(p->raw);
    }
    series_add(into, us_since(begin) / CYCLES);
}

static void round_of_requests(void *ctx, struct series *into)
{
    int64_t begin = stats_now();
    bare_cycles(ctx);
    series_add(into, us_since(begin) / CYCLES);
}

void measure_cycle(const struct bench *b)
{
    compare_pair(b, round_of_cycles, round_of_create_delete,
                 (struct row){.name = "lock+unlock / create, delete",
                              .unit = "us",
                              .aim = ROW_GAIN_AT_LEAST,
                              .target = 1.15});
    compare_pair(b, round_of_cycles, round_of_requests,
                 (struct row){.name = "lock+unlock / its requests", .unit = "us"});
}

static void cpu_of_cycles(void *ctx, struct series *into)
{
    int64_t begin = stats_cpu();
    lock_cycles(ctx);
    series_add(into, (double)(stats_cpu() - begin) / 1000 / CYCLES);
}

static void cpu_of_requests(void *ctx, struct series *into)
{
    int64_t begin = stats_cpu();
    bare_cycles(ctx);
    series_add(into, (double)(stats_cpu() - begin) / 1000 / CYCLES);
}

void measure_cpu(const struct bench *b)
{
    compare_pair(b, cpu_of_cycles, cpu_of_requests,
                 (struct row){.name = "CPU of lock+unlock / of its requests",
                              .unit = "us",
                              .aim = ROW_RATIO_AT_MOST,
                              .target = 1.2});
}

/* --- main --- */

static const struct {
    const char *name;
    void (*measure)(const struct bench *b);
} all[] = {
    {"acquire", measure_acquire},
    {"cycle", measure_cycle},
    {"processes", measure_processes},
    {"threads", measure_threads},
    {"cpu", measure_cpu},
    {"waking", measure_waking},
    {"memory", measure_memory},
    {"claims", measure_claims},
    {"command", measure_command},
};
enum { ALL = sizeof(all) / sizeof(all[0]) };

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    interrupted = signal_number;
}

/* Runs a measurement in its own process, so that its heap is new, and threads never coincide with a fork. */
static bool run_apart(const struct bench *b, void (*measure)(const struct bench *b))
{
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) {
        bench_die("fork: errno %d", errno);
    }
    if (pid == 0) {
        (void)signal(SIGINT, SIG_DFL);
        (void)signal(SIGTERM, SIG_DFL);
        measure(b);
        (void)fflush(stdout);
        _exit(0);
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        (void)kill(pid, SIGTERM);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void clean(const struct bench *b)
{
    struct raw *r = raw_open(b->servers);
    raw_clean(r, b->base);
    raw_close(r);
}

static _Noreturn void usage(void)
{
    (void)fprintf(stderr,
                  "usage: mutex [--json] [--seconds S] SERVERS [MEASUREMENT...]\n"
                  "measurements: ");
    for (size_t i = 0; i < ALL; i++) {
        (void)fprintf(stderr, "%s%s", all[i].name, i + 1 < ALL ? ", " : "\n");
    }
    exit(64);
}

static bool chosen(const char *name, char *const *names)
{
    for (char *const *at = names; *at; at++) {
        if (strcmp(*at, name) == 0) {
            return true;
        }
    }
    return !*names;
}

static void check_names(char *const *names)
{
    for (; *names; names++) {
        size_t i = 0;
        while (i < ALL && strcmp(all[i].name, *names) != 0) {
            i++;
        }
        if (i == ALL) {
            usage();
        }
    }
}

int main(int argc, char **argv)
{
    struct bench b = {.budget = 5 * (int64_t)1000000000};
    char **arg = argv + (argc > 0);
    for (; *arg && strncmp(*arg, "--", 2) == 0; arg++) {
        double seconds = 0;
        if (strcmp(*arg, "--json") == 0) {
            b.json = true;
        } else if (strcmp(*arg, "--seconds") == 0 && arg[1] &&
                   (seconds = strtod(arg[1], NULL)) > 0 && seconds < 3600) {
            b.budget = (int64_t)(seconds * 1e9);
            arg++;
        } else {
            usage();
        }
    }
    if (!*arg) {
        usage();
    }
    b.servers = *arg++;
    check_names(arg);
    (void)snprintf(b.base, sizeof(b.base), "/zkr-bench-%ld", (long)getpid());
    struct sigaction action = {.sa_handler = interrupt};
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);

    bool good = true;
    row_heading(b.json);
    for (size_t i = 0; i < ALL && !interrupted; i++) {
        if (chosen(all[i].name, arg)) {
            good = run_apart(&b, all[i].measure) && good;
        }
    }
    good = run_apart(&b, clean) && good;
    return interrupted ? 128 + interrupted : good ? 0 : 1;
}
