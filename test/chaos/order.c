/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may not be together is not, and comes in order. One rule for all locks: a path has a
 * capacity, a hold has a weight, and at no time do those who are sure weigh more.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"

enum { MS = 1000000, MANY = 1000000 };

static int64_t capacity(int path)
{
    return path == ZKC_PERMITS_PATH ? ZKC_PERMITS_MAX : MANY;
}

static int64_t weight(const zkc_hold *h, int64_t at)
{
    if (h->as == ZKC_AS_PERMITS) {
        return h->permits;
    }
    const bool reads =
        h->as == ZKC_AS_READER || (h->downgraded != 0 && h->downgraded <= at);
    return reads ? 1 : capacity(h->path);
}

/* Whether @before had to end, or to become lighter, before @h. */
static bool excludes(const zkc_hold *before, const zkc_hold *h)
{
    return weight(before, h->granted) + weight(h, h->granted) > capacity(h->path);
}

/* What a deletion by hand makes of the promise cannot be known beforehand: so measure it. */
static void
measure_deleted(const zkc_hold *before, const zkc_hold *h, struct zkc_verdict *v)
{
    int64_t promised = before->claimed;
    if (before->released != 0 && before->released < promised) {
        promised = before->released;
    }
    if (before->deleted != 0 && promised - h->granted > v->hand_overlap) {
        v->hand_overlap = promised - h->granted;
    }
}

/* A promise that ran out by itself: how long before @h. */
static void
measure_margin(const zkc_hold *before, const zkc_hold *h, struct zkc_verdict *v)
{
    const int64_t end = zkc_hold_end(before);
    if (h->granted >= end && before->deleted == 0 && before->other_deleted == 0 &&
        (before->released == 0 || before->released > end) &&
        (v->margin < 0 || h->granted - end < v->margin)) {
        v->margin = h->granted - end;
    }
}

static void
tell_overlap(const zkc_hold *before, const zkc_hold *h, struct zkc_verdict *v)
{
    const int64_t end = zkc_hold_end(before);
    zkc_bad_add(v, ZKC_BAD_OVERLAP,
                "path %d: client %d.%d thread %d (token %" PRIx64 ") until %" PRId64
                " ns, client %d.%d thread %d (token %" PRIx64 ") %.1f ms before that",
                h->path, before->process, before->life, before->thread, before->token,
                end, h->process, h->life, h->thread, h->token,
                (double)(end - h->granted) / (double)MS);
}

static bool parent_deleted(const zkc_record *all,
                           size_t n,
                           const zkc_hold *before,
                           const zkc_hold *h)
{
    for (size_t i = 0; i < n; i++) {
        if (all[i].kind == ZKC_PARENT && all[i].path == h->path &&
            all[i].at <= h->granted && all[i].until >= before->asked) {
            return true;
        }
    }
    return false;
}

/* @before is the one with the highest token of those that had to end before @h. */
static void check_rise(const zkc_record *all,
                       size_t n,
                       const zkc_hold *before,
                       const zkc_hold *h,
                       struct zkc_verdict *v)
{
    if (h->token <= before->token) {
        zkc_bad_add(v, ZKC_BAD_TOKEN_ORDER, "path %d: %" PRIx64 " after %" PRIx64,
                    h->path, h->token, before->token);
    } else if (h->sequence <= before->sequence && h->sequence >= 0 &&
               !parent_deleted(all, n, before, h)) {
        zkc_bad_add(v, ZKC_BAD_SEQUENCE_ORDER,
                    "path %d: number %" PRId64 " after %" PRId64, h->path, h->sequence,
                    before->sequence);
    }
}

/* Those of a path before the hold in question that were sure once. */
struct before {
    const zkc_hold **live; /* not ended yet */
    size_t count;
    const zkc_hold *longest; /* whose claim ends last */
    const zkc_hold *highest; /* by token */
    const zkc_hold *alone;   /* the highest that was nobody's neighbour */
};

/*
 * @h was sure once, so it had the lock when acquire returned: what is promised to others for that
 * moment must leave room for it. Holds only become lighter, so no other moment matters.
 */
static void check_room(struct before *b, const zkc_hold *h, struct zkc_verdict *v)
{
    const zkc_hold *last = NULL;
    int64_t sum = weight(h, h->granted);
    size_t left = 0;
    for (size_t i = 0; i < b->count; i++) {
        const zkc_hold *other = b->live[i];
        if (h->granted < zkc_hold_end(other)) {
            b->live[left++] = other;
            sum += weight(other, h->granted);
            last =
                last == NULL || zkc_hold_end(other) > zkc_hold_end(last) ? other : last;
        }
    }
    b->count = left;
    if (last != NULL && sum > capacity(h->path)) {
        tell_overlap(last, h, v);
    } else if (h->as == ZKC_AS_PERMITS && sum > v->permits_most) {
        v->permits_most = sum;
    } else if (h->as == ZKC_AS_READER && sum > v->readers_most) {
        v->readers_most = sum;
    }
    b->live[b->count++] = h;
}

static void remember(struct before *b, const zkc_hold *h)
{
    if (b->longest == NULL || zkc_hold_end(h) > zkc_hold_end(b->longest)) {
        b->longest = h;
    }
    if (b->highest == NULL || h->token > b->highest->token) {
        b->highest = h;
    }
    if (h->as != ZKC_AS_READER && (b->alone == NULL || h->token > b->alone->token)) {
        b->alone = h;
    }
}

static void check_hold(const zkc_record *all,
                       size_t n,
                       struct before *b,
                       const zkc_hold *h,
                       struct zkc_verdict *v)
{
    const zkc_hold *below = h->as == ZKC_AS_READER ? b->alone : b->highest;
    if (b->longest != NULL && excludes(b->longest, h)) {
        measure_deleted(b->longest, h, v);
        measure_margin(b->longest, h, v);
    }
    if (below != NULL && h->as != ZKC_AS_PERMITS) { /* permits promise no order */
        check_rise(all, n, below, h, v);
    }
    check_room(b, h, v);
    remember(b, h);
}

void zkc_order(const zkc_record *all,
               size_t n,
               const zkc_hold *holds,
               size_t count,
               struct zkc_verdict *v)
{
    struct before b = {.live = calloc(count + 1, sizeof(const zkc_hold *))};
    if (b.live == NULL) {
        zkc_bad_add(v, ZKC_BAD_NO_MOVES, "no memory for the holds");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const zkc_hold *h = &holds[i];
        if (i > 0 && holds[i - 1].path != h->path) {
            b = (struct before){.live = b.live};
        }
        if (h->first_sure != 0) { /* else lost at once: no order to speak of */
            check_hold(all, n, &b, h, v);
        }
    }
    free(b.live);
}
