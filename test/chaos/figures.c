/* SPDX-License-Identifier: Apache-2.0 */
/* How long hand-overs took, and how long a lock was wanted and nobody held it. */
#include <stdlib.h>

#include "check.h"

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Releases for which the next holder had been waiting. */
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

/* When the first of those waiting for @path within @from..@to began to. */
static int64_t
first_waiting(const zkc_record *all, size_t n, int path, int64_t from, int64_t to)
{
    int64_t first = to;
    for (size_t i = 0; i < n; i++) {
        const zkc_record *r = &all[i];
        if ((r->kind == ZKC_GRANT || r->kind == ZKC_FAIL) && r->path == path &&
            r->limit != 0 && r->until > from && r->at < first) {
            first = r->at;
        }
    }
    return first > from ? first : from;
}

/* When one of the other locks was last granted before @to; 0: never. */
static int64_t last_elsewhere(const zkc_record *all, size_t n, int path, int64_t to)
{
    int64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        const zkc_record *r = &all[i];
        if (r->kind == ZKC_GRANT && r->path != path && r->until < to &&
            r->until > last) {
            last = r->until;
        }
    }
    return last;
}

/* Nobody held it from @end until @h did; who waited? */
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
    /* With no grant anywhere it is the servers that were away. */
    const int64_t elsewhere = last_elsewhere(all, n, h->path, h->granted);
    if (elsewhere - from > bound) {
        zkc_bad_add(v, ZKC_BAD_WEDGED, "path %d: %.1f s until token %llx", h->path,
                    (double)(h->granted - from) / 1e9, (unsigned long long)h->token);
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
