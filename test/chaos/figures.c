/* SPDX-License-Identifier: Apache-2.0 */
/* What is measured and not judged. */
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
        if (h->granted - end > v->unavailable) {
            int64_t from = first_waiting(all, n, h->path, end, h->granted);
            if (h->granted - from > v->unavailable) {
                v->unavailable = h->granted - from;
            }
        }
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
