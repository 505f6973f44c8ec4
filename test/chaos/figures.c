/* SPDX-License-Identifier: Apache-2.0 */
/* Computes how long hand-overs took, and how long a lock was wanted while no thread held it. */
#include <stdbool.h>
#include <stdlib.h>

#include <zkr/error.h>

#include "check.h"

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Measures the releases for which the next holder was already waiting. */
static void hand_overs(const zkc_hold *holds, size_t count, struct zkc_verdict *v)
{
    int64_t *took = calloc(count + 1, sizeof *took);
    size_t n = 0;
    for (size_t i = 1; i < count && took != NULL; i++) {
        const zkc_hold *before = &holds[i - 1];
        const zkc_hold *h = &holds[i];
        if (h->path == before->path && before->released != 0 &&
            before->release_code == 0 && h->asked < before->released &&
            h->granted > before->released) {
            took[n++] = h->granted - before->released;
        }
    }
    if (n > 0) {
        qsort(took, n, sizeof *took, by_value);
        v->hand_over_median = took[n / 2];
        v->hand_over_99 = took[n * 99 / 100];
        v->hand_over_max = took[n - 1];
    }
    free(took);
}

/* Returns when the first waiter for @path within @from..@to began to wait. */
static int64_t
first_waiting(const zkc_record *all, size_t n, int path, int64_t from, int64_t to)
{
    int64_t first = to;
    for (size_t i = 0; i < n; i++) {
        const zkc_record *r = &all[i];
        if ((r->kind == ZKC_GRANT || r->kind == ZKC_FAIL) && zkc_is_on(r, path) &&
            r->limit != 0 && r->until > from && r->at < first) {
            first = r->at;
        }
    }
    return first > from ? first : from;
}

/*
 * Returns whether @r shows that the servers answered a write at @r->until: a grant, a guarded write, or a try that
 * found another contender ahead.
 */
static bool is_answer(const zkc_record *r)
{
    return r->kind == ZKC_GRANT || r->kind == ZKC_GUARD_OK ||
           (r->kind == ZKC_FAIL && r->limit == 0 && r->code == ZKR_ETIMEDOUT);
}

/* Returns how much of @from..@to the servers were answering, that is, answered at least every ZKC_ANSWERED_MS. */
static int64_t served(const zkc_record *all, size_t n, int64_t from, int64_t to)
{
    const int64_t most = (int64_t)ZKC_ANSWERED_MS * 1000000;
    int64_t *times = calloc(n + 2, sizeof *times);
    int64_t sum = 0;
    size_t count = 0;
    if (times == NULL) {
        return to - from; /* without memory, blame the library */
    }
    times[count++] = from;
    for (size_t i = 0; i < n; i++) {
        if (is_answer(&all[i]) && all[i].until > from && all[i].until < to) {
            times[count++] = all[i].until;
        }
    }
    times[count++] = to;
    qsort(times, count, sizeof *times, by_value);
    for (size_t i = 1; i < count; i++) {
        const int64_t gap = times[i] - times[i - 1];
        sum += gap <= most ? gap : 0;
    }
    free(times);
    return sum;
}

/* The lock was free from @end until @h began. Checks whether a thread waited meanwhile. */
static void check_gap(const zkc_record *all,
                      size_t n,
                      int64_t end,
                      const zkc_hold *h,
                      struct zkc_verdict *v)
{
    const int64_t bound = (int64_t)ZKC_WEDGED_MS * 1000000;
    if (h->granted - end <= v->unavailable && h->granted - end <= bound) {
        return;
    }
    const int64_t from = first_waiting(all, n, h->path, end, h->granted);
    if (h->granted - from > v->unavailable) {
        v->unavailable = h->granted - from;
    }
    /* While there are no answers, the servers are away or the machine is busy. */
    const int64_t blamed = served(all, n, from, h->granted);
    if (blamed > bound) {
        zkc_bad_add(v, ZKC_BAD_WEDGED,
                    "path %d: %.1f s until token %llx, %.1f s of it with answers",
                    h->path, (double)(h->granted - from) / 1e9,
                    (unsigned long long)h->token, (double)blamed / 1e9);
    }
}

static void unavailable(const zkc_record *all,
                        size_t n,
                        const zkc_hold *holds,
                        size_t count,
                        struct zkc_verdict *v)
{
    int64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        const zkc_hold *h = &holds[i];
        if (i == 0 || h->path != holds[i - 1].path) {
            end = h->granted;
        }
        check_gap(all, n, end, h, v);
        int64_t mine = zkc_hold_end(h);
        end = mine > end ? mine : end;
    }
}

void zkc_figures(const zkc_record *all,
                 size_t n,
                 const zkc_hold *holds,
                 size_t count,
                 struct zkc_verdict *v)
{
    hand_overs(holds, count, v);
    unavailable(all, n, holds, count, v);
}
