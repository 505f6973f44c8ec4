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
void measure_waking(const struct bench *b);
void measure_claims(const struct bench *b);
void measure_memory(const struct bench *b);
void measure_command(const struct bench *b);

/*
 * Rounds of @ours and @other in turn, A B B A, until the budget is used, so that a change in
 * the machine's load meets both. The first tenth is warm-up: rounds are given NULL to fill. One
 * round of each is kept however long they take.
 */
typedef void (*bench_round)(void *ctx, struct series *into);
void bench_alternate(const struct bench *b,
                     bench_round ours,
                     bench_round other,
                     void *ctx,
                     struct row *row);
/* Print the line and free its samples. */
void bench_row(const struct bench *b, const struct row *row);

/* One value, and the most that it should be. */
void bench_value(const struct bench *b,
                 const char *name,
                 const char *unit,
                 double value,
                 double most);

/* End unless @rc is ZKR_OK. */
void bench_must(int rc, const char *what);

/* A connected client. */
zkr_client *bench_client(const struct bench *b);
zkr_client *bench_client_with(const struct bench *b, zkr_client_options o);
zkr_mutex *bench_mutex(zkr_client *c, const char *path);
void bench_pause_ms(long ms);
/* Until the client has @count claims in queues. */
void bench_await_waiting(zkr_client *c, int64_t count);
/*
 * Until what the client has asked is answered, and what that led it to ask: answers come in order.
 * @nobody is of a path where nobody ever is.
 */
void bench_settle(zkr_mutex *nobody);
/* Make the parent of lock nodes base/name. */
void bench_path(const struct bench *b, const char *name, char path[BENCH_PATH]);

#endif
