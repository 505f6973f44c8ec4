/* SPDX-License-Identifier: Apache-2.0 */
/* No update behind the fence or the guard is lost. */
#include <inttypes.h>
#include <stdlib.h>

#include "check.h"

struct sums {
    int64_t stored, tried, done, refused;
};

static int by_zxid(const void *a, const void *b)
{
    const zkc_record *x = a;
    const zkc_record *y = b;
    if (x->path != y->path) {
        return x->path - y->path;
    }
    return (x->limit > y->limit) - (x->limit < y->limit);
}

/*
 * The server's own order: as the writes of one path are ordered by their zxid, so are the
 * tokens of their holders and the values that they wrote.
 */
static void check_writes(zkc_record *writes, size_t n, struct zkc_verdict *v)
{
    qsort(writes, n, sizeof *writes, by_zxid);
    for (size_t i = 0; i < n; i++) {
        const zkc_record *w = &writes[i];
        const zkc_record *before = i > 0 && w[-1].path == w->path ? &w[-1] : NULL;
        if (w->limit <= w->token || (before != NULL && (w->token < before->token ||
                                                        w->value <= before->value))) {
            zkc_bad_add(v, ZKC_BAD_COUNTER_ORDER,
                        "path %d: zxid %" PRIx64 ", token %" PRIx64 ", value %" PRId64,
                        w->path, w->limit, w->token, w->value);
        }
    }
}

static void check_sums(int path,
                       const struct sums *s,
                       const struct zkc_expected *e,
                       struct zkc_verdict *v)
{
    const int64_t counter = e->paths[path].counter;
    const int64_t unknown = s->tried - s->done - s->refused;
    v->unknown += unknown;
    if (counter < s->done || counter > s->done + unknown) {
        zkc_bad_add(v, ZKC_BAD_COUNTER_LOST,
                    "path %d: %" PRId64 " writes done and %" PRId64
                    " unknown, but the counter says %" PRId64,
                    path, s->done, unknown, counter);
    }
    if (e->paths[path].store_value != e->paths[path].store_writes ||
        e->paths[path].store_writes < s->stored) {
        zkc_bad_add(v, ZKC_BAD_STORE_LOST,
                    "path %d: %" PRId64 " writes known to clients, %" PRId64
                    " to the store, whose value is %" PRId64,
                    path, s->stored, e->paths[path].store_writes,
                    e->paths[path].store_value);
    }
}

void zkc_updates(const zkc_record *all,
                 size_t n,
                 const struct zkc_expected *expected,
                 struct zkc_verdict *v)
{
    struct sums sums[ZKC_PATHS] = {{0}};
    zkc_record *writes = malloc((n + 1) * sizeof *writes);
    size_t count = 0;
    for (size_t i = 0; i < n && writes != NULL; i++) {
        const zkc_record *r = &all[i];
        if (r->path >= ZKC_PATHS) {
            continue;
        }
        sums[r->path].stored += r->kind == ZKC_STORE && r->code == 1;
        sums[r->path].tried += r->kind == ZKC_GUARD_TRY;
        sums[r->path].refused += r->kind == ZKC_GUARD_NO;
        sums[r->path].done += r->kind == ZKC_GUARD_OK;
        if (r->kind == ZKC_GUARD_OK) {
            writes[count++] = *r;
        }
    }
    if (writes != NULL) {
        check_writes(writes, count, v);
    }
    free(writes);
    for (int path = 0; path < ZKC_PATHS && expected->ended; path++) {
        check_sums(path, &sums[path], expected, v);
    }
}
