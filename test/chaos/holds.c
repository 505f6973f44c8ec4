/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the holds of a history together from its records. */
#include <stdlib.h>

#include "check.h"

static int sign(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_token(const void *a, const void *b)
{
    const zkc_hold *x = a;
    const zkc_hold *y = b;
    int order = sign(x->token, y->token);
    return order != 0 ? order : sign(x->granted, y->granted);
}

int zkc_hold_by_time(const void *a, const void *b)
{
    const zkc_hold *x = a;
    const zkc_hold *y = b;
    int order = x->path - y->path;
    order = order != 0 ? order : sign(x->granted, y->granted);
    return order != 0 ? order : sign(x->token, y->token);
}

/* Returns the index of the first hold whose token is @token or higher. */
static size_t place_of(const zkc_hold *holds, size_t count, int64_t token)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (holds[middle].token < token) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool zkc_is_on(const zkc_record *r, int path)
{
    return r->path == path || (r->as == ZKC_AS_BOTH && r->also == path);
}

int64_t zkc_hold_end(const zkc_hold *h)
{
    int64_t end = h->claimed > h->granted ? h->claimed : h->granted;
    if (h->released != 0 && h->released < end) {
        end = h->released;
    }
    if (h->deleted != 0 && h->deleted < end) {
        end = h->deleted;
    }
    return end;
}

static void add_to(zkc_hold *h, const zkc_record *r)
{
    switch (r->kind) {
    case ZKC_SURE: {
        const int64_t claimed = r->at + r->value * 1000000;
        h->last_sure = r->at;
        h->claimed = claimed > h->claimed ? claimed : h->claimed;
        break;
    }
    case ZKC_RELEASE:
        h->released = r->at;
        break;
    case ZKC_RELEASED:
        h->release_code = r->code;
        break;
    case ZKC_DELETED:
        h->deleted = r->at;
        h->deleted_until = r->until;
        break;
    default:
        break;
    }
}

/* A record about one hold of a multi-lock applies to both of its holds, except for a deletion from outside. */
static void add_to_all(zkc_hold *holds, size_t count, const zkc_record *r)
{
    for (size_t i = place_of(holds, count, r->token);
         i < count && holds[i].token == r->token; i++) {
        if (holds[i].path == r->path || r->kind != ZKC_DELETED) {
            add_to(&holds[i], r);
        }
    }
}

static zkc_hold hold_on(const zkc_record *r, int path)
{
    return (zkc_hold){
        .token = r->token, .asked = r->at, .granted = r->until, .path = path};
}

zkc_hold *zkc_holds(const zkc_record *all, size_t n, size_t *count)
{
    size_t grants = 0;
    for (size_t i = 0; i < n; i++) {
        grants += all[i].kind == ZKC_GRANT && all[i].token != 0;
    }
    zkc_hold *holds = calloc(2 * grants + 1, sizeof *holds);
    *count = 0;
    for (size_t i = 0; i < n && holds != NULL; i++) {
        const zkc_record *r = &all[i];
        if (r->kind == ZKC_GRANT && r->token != 0) {
            holds[(*count)++] = hold_on(r, r->path);
        }
        if (r->kind == ZKC_GRANT && r->token != 0 && r->as == ZKC_AS_BOTH) {
            holds[(*count)++] = hold_on(r, r->also);
        }
    }
    if (holds != NULL) {
        qsort(holds, *count, sizeof *holds, by_token);
        for (size_t i = 0; i < n; i++) {
            add_to_all(holds, *count, &all[i]);
        }
    }
    return holds;
}

struct zkc_gaps zkc_gaps(const zkc_hold *holds, size_t count, struct zkc_verdict *v)
{
    struct zkc_gaps g = {.shortest = 0};
    bool any = false;
    for (size_t i = 1; i < count; i++) {
        if (holds[i].path != holds[i - 1].path) {
            continue;
        }
        const int64_t gap = holds[i].granted - zkc_hold_end(&holds[i - 1]);
        g.shortest = any && g.shortest < gap ? g.shortest : gap;
        g.longest = any && g.longest > gap ? g.longest : gap;
        any = true;
        if (gap < 0) {
            g.both++;
            zkc_bad_add(v, ZKC_BAD_BOTH, "path %d: for %.3f s", holds[i].path,
                        -(double)gap / 1e9);
        }
    }
    return g;
}
