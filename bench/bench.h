/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the measurements share. Each runs in a process of its own, prints its lines and ends; a
 * failure ends the process.
 */
#ifndef ZKR_BENCH_BENCH_H
#define ZKR_BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/zkr.h>

#include "die.h"
#include "raw.h"
#include "stats.h"

enum { BENCH_PATH = 128 };

struct bench {
    const char *servers;
    char base[BENCH_PATH / 2]; /* all nodes are made below it */
    bool json;
    int64_t budget; /* ns for each alternation, warm-up included */
};

/* One measurement each. */
void measure_acquire(const struct bench *b);
void measure_cycle(const struct bench *b);
void measure_cpu(const struct bench *b);
void measure_processes(const struct bench *b);
void measure_threads(const struct bench *b);
void measure_memory(const struct bench *b);
void measure_command(const struct bench *b);

/*
 * Rounds of @ours and @other in turn, A B B A, until the budget is used, so that a change in
 * the machine's load meets both. The first tenth is warm-up: rounds are given NULL to fill.
 */
typedef void (*bench_round)(void *ctx, struct series *into);
void bench_alternate(const struct bench *b,
                     bench_round ours,
                     bench_round other,
                     void *ctx,
                     struct row *row);
/* Print the line and free its samples. */
void bench_row(const struct bench *b, const struct row *row);

/* End unless @rc is ZKR_OK. */
void bench_must(int rc, const char *what);

/* A connected client. */
zkr_client *bench_client(const struct bench *b);
zkr_mutex *bench_mutex(zkr_client *c, const char *path);
/* Make the parent of lock nodes base/name. */
void bench_path(const struct bench *b, const char *name, char path[BENCH_PATH]);

#endif
