/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

#include <stdio.h>
#include <time.h>

void bench_must(int rc, const char *what)
{
    if (rc != ZKR_OK) {
        bench_die("%s: %s: %s", what, zkr_err_name(rc), zkr_last_error()->message);
    }
}

zkr_client *bench_client(const struct bench *b)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    return bench_client_with(b, o);
}

zkr_client *bench_client_with(const struct bench *b, zkr_client_options o)
{
    o.session_timeout_ms = BENCH_SESSION_MS;
    zkr_client *c = NULL;
    bench_must(zkr_client_open(&c, b->servers, &o), "open");
    bench_must(zkr_client_wait_connected(c, 15000), "connect");
    return c;
}

zkr_mutex *bench_mutex(zkr_client *c, const char *path)
{
    zkr_mutex *m = NULL;
    bench_must(zkr_mutex_create(&m, c, path, NULL), "create a mutex");
    return m;
}

void bench_pause_ms(long ms)
{
    (void)nanosleep(
        &(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

void bench_await_waiting(zkr_client *c, int64_t count)
{
    zkr_stats stats = {0};
    for (;;) {
        bench_must(zkr_client_stats(c, &stats, sizeof(stats)), "stats");
        if (stats.waiting >= count) {
            return;
        }
        bench_pause_ms(1);
    }
}

void bench_settle(zkr_mutex *nobody)
{
    for (int i = 0; i < 2; i++) {
        zkr_contenders *list = NULL;
        bench_must(zkr_mutex_contenders(nobody, &list), "list");
        zkr_contenders_free(list);
    }
}

void bench_path(const struct bench *b, const char *name, char path[BENCH_PATH])
{
    struct raw *r = raw_open(b->servers);
    (void)snprintf(path, BENCH_PATH, "%s/%s", b->base, name);
    raw_make(r, b->base);
    raw_make(r, path);
    raw_close(r);
}

/* Runs one round, and keeps its samples unless it is part of the warm-up. */
static void
run_round(bench_round round, void *ctx, struct series *into, bool kept, double *median)
{
    size_t from = into->count;
    round(ctx, kept ? into : NULL);
    *median = kept ? series_recent(into, from) : 0;
}

void bench_alternate(const struct bench *b,
                     bench_round ours,
                     bench_round other,
                     void *ctx,
                     struct row *row)
{
    int64_t begin = stats_now();
    int64_t warm = begin + b->budget / 10;
    bool swap = false;
    for (int64_t now = begin; now < begin + b->budget || row->ours->count == 0;
         now = stats_now()) {
        double a = 0, o = 0;
        if (swap) {
            run_round(other, ctx, row->other, now >= warm, &o);
            run_round(ours, ctx, row->ours, now >= warm, &a);
        } else {
            run_round(ours, ctx, row->ours, now >= warm, &a);
            run_round(other, ctx, row->other, now >= warm, &o);
        }
        series_add(a > 0 && o > 0 ? row->ratios : NULL, a / o);
        swap = !swap;
    }
}

void bench_row(const struct bench *b, const struct row *row)
{
    row_print(row, b->json);
    series_free(row->ours);
    if (row->other) {
        series_free(row->other);
        series_free(row->ratios);
    }
}

void bench_value(const struct bench *b,
                 const char *name,
                 const char *unit,
                 double value,
                 double most)
{
    struct series s = {0};
    series_add(&s, value);
    bench_row(b, &(struct row){.name = name,
                               .unit = unit,
                               .ours = &s,
                               .aim = ROW_VALUE_AT_MOST,
                               .target = most});
}
