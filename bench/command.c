/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the cost of `zkr lock PATH true` with the cost of `flock FILE true`. */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

enum { RUNS = 5 };

struct commands {
    const char *servers;
    char zkr[PATH_MAX], file[64];
    char ours[BENCH_PATH], bare[BENCH_PATH];
};

/* Finds zkr, which is built beside this program: BUILD/bench/mutex, BUILD/tools/zkr. */
static void find_zkr(struct commands *c)
{
    static const char tail[] = "tools/zkr";
    ssize_t n = readlink("/proc/self/exe", c->zkr, sizeof(c->zkr) - sizeof(tail));
    c->zkr[n > 0 ? n : 0] = '\0';
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(c->zkr, '/');
        if (slash) {
            *slash = '\0';
        }
    }
    strcat(strcat(c->zkr, "/"), tail);
    if (access(c->zkr, X_OK) != 0) {
        bench_die("no %s; build with -DZKR_BUILD_TOOLS=ON", c->zkr);
    }
}

/* Returns how many microseconds the program runs. */
static double run(char *const *argv)
{
    pid_t pid;
    int status = 0;
    int64_t begin = stats_now();
    int rc = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
    if (rc != 0) {
        bench_die("cannot start %s: errno %d", argv[0], rc);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        bench_die("%s failed, status 0x%x", argv[0], (unsigned)status);
    }
    return (double)(stats_now() - begin) / 1000;
}

/*
 * Measures the round trips that any client needs: a session, a create and a list together, and the end of the session.
 */
static double round_trips(const struct commands *c)
{
    int64_t begin = stats_now();
    struct raw *r = raw_open(c->servers);
    raw_join(r, c->bare);
    raw_close(r);
    return (double)(stats_now() - begin) / 1000;
}

static double run_zkr(struct commands *c)
{
    static char option[] = "-z", lock[] = "lock", command[] = "true";
    char *const argv[] = {c->zkr,  option, (char *)(uintptr_t)c->servers, lock, c->ours,
                          command, NULL};
    return run(argv);
}

static void round_of_zkr(void *ctx, struct series *into)
{
    for (int i = 0; i < RUNS; i++) {
        series_add(into, run_zkr(ctx));
    }
}

static void round_of_trips(void *ctx, struct series *into)
{
    for (int i = 0; i < RUNS; i++) {
        series_add(into, round_trips(ctx));
    }
}

/* Alternates between the two, because the speed of the disk varies. */
static void round_of_the_rest(void *ctx, struct series *into)
{
    for (int i = 0; i < RUNS; i++) {
        double whole = run_zkr(ctx);
        series_add(into, whole - round_trips(ctx));
    }
}

static void round_of_flock(void *ctx, struct series *into)
{
    static char flock[] = "flock", command[] = "true";
    struct commands *c = ctx;
    char *const argv[] = {flock, c->file, command, NULL};
    for (int i = 0; i < RUNS; i++) {
        series_add(into, run(argv));
    }
}

static void compare(const struct bench *b,
                    struct commands *c,
                    bench_round ours,
                    bench_round other,
                    struct row row)
{
    struct series a = {0}, o = {0}, ratios = {0};
    row.unit = "us";
    row.ours = &a;
    row.other = &o;
    row.ratios = &ratios;
    bench_alternate(b, ours, other, c, &row);
    bench_row(b, &row);
}

void measure_command(const struct bench *b)
{
    static struct commands c;
    c.servers = b->servers;
    find_zkr(&c);
    bench_path(b, "zkr", c.ours);
    bench_path(b, "trips", c.bare);
    (void)snprintf(c.file, sizeof(c.file), "/tmp/zkr-bench-XXXXXX");
    int fd = mkstemp(c.file);
    if (fd < 0) {
        bench_die("cannot make a file in /tmp");
    }
    (void)close(fd);
    compare(b, &c, round_of_the_rest, round_of_flock,
            (struct row){.name = "zkr lock, less its round trips / flock",
                         .aim = ROW_RATIO_AT_MOST,
                         .target = 3});
    compare(b, &c, round_of_zkr, round_of_trips,
            (struct row){.name = "zkr lock / its round trips"});
    (void)unlink(c.file);
}
