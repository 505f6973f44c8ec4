/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the measurements share. Each measurement runs in its own process, prints its lines and exits. A
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
    char base[BENCH_PATH / 2]; /* the parent of all nodes */
    bool json;
    int64_t budget; /* ns for each comparison, including the warm-up */
};

/* These run one measurement each. */
void measure_acquire(const struct bench *b);
void measure_cycle(const struct bench *b);
void measure_cpu(const struct bench *b);
void measure_processes(const struct bench *b);
void measure_threads(const struct bench *b);
void measure_waking(const struct bench *b);
void measure_claims(const struct bench *b);
void measure_memory(const struct bench *b);
void measure_command(const struct bench *b);

/*
 * Runs rounds of @ours and @other alternately (A B B A) until the budget is used, so that a change in the machine's
 * load affects both. The first tenth of the budget is the warm-up, in which the rounds get NULL to fill. At least one
 * round of each is kept, however long it takes.
 */
typedef void (*bench_round)(void *ctx, struct series *into);
void bench_alternate(const struct bench *b,
                     bench_round ours,
                     bench_round other,
                     void *ctx,
                     struct row *row);
/* Prints the line, and frees its samples. */
void bench_row(const struct bench *b, const struct row *row);

/* Prints one value, and the most that it should be. */
void bench_value(const struct bench *b,
                 const char *name,
                 const char *unit,
                 double value,
                 double most);

/* Ends the process unless @rc is ZKR_OK. */
void bench_must(int rc, const char *what);

/* These return a connected client. */
zkr_client *bench_client(const struct bench *b);
zkr_client *bench_client_with(const struct bench *b, zkr_client_options o);
zkr_mutex *bench_mutex(zkr_client *c, const char *path);
void bench_pause_ms(long ms);
/* Waits until the client has @count claims in queues. */
void bench_await_waiting(zkr_client *c, int64_t count);
/*
 * Waits until the client's requests are answered, and also the requests that the client made because of these answers.
 * Answers arrive in order. @nobody is a mutex on a path that no other client uses.
 */
void bench_settle(zkr_mutex *nobody);
/* Creates the parent of lock nodes, base/name, and writes its path to @path. */
void bench_path(const struct bench *b, const char *name, char path[BENCH_PATH]);

#endif
