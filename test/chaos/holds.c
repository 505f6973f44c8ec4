/* SPDX-License-Identifier: Apache-2.0 */
/* The holds of a history, put together from its records. */
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

static int64_t start_of(const zkc_hold *h)
{
    return h->first_sure != 0 ? h->first_sure : h->granted;
}

int zkc_hold_by_time(const void *a, const void *b)
{
    const zkc_hold *x = a;
    const zkc_hold *y = b;
    int order = x->path - y->path;
    order = order != 0 ? order : sign(start_of(x), start_of(y));
    return order != 0 ? order : sign(x->token, y->token);
}

zkc_hold *zkc_hold_find(zkc_hold *holds, size_t count, int64_t token)
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
    return low < count && holds[low].token == token ? &holds[low] : NULL;
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
    const int64_t claimed = r->at + r->value * 1000000;
    switch (r->kind) {
    case ZKC_SURE:
        h->first_sure = h->first_sure == 0 ? r->at : h->first_sure;
        h->last_sure = r->at;
        h->claimed = claimed > h->claimed ? claimed : h->claimed;
        break;
    case ZKC_RELEASE:
        h->released = r->at;
        break;
    case ZKC_RELEASED:
        h->release_code = r->code;
        break;
    case ZKC_LOST:
        h->lost_calls++;
        break;
    case ZKC_DELETED:
        h->deleted = r->at;
        h->deleted_until = r->until;
        break;
    default:
        break;
    }
}

zkc_hold *zkc_holds(const zkc_record *all, size_t n, size_t *count)
{
    size_t grants = 0;
    for (size_t i = 0; i < n; i++) {
        grants += all[i].kind == ZKC_GRANT && all[i].token != 0;
    }
    zkc_hold *holds = calloc(grants + 1, sizeof *holds);
    *count = 0;
    for (size_t i = 0; i < n && holds != NULL; i++) {
        const zkc_record *r = &all[i];
        if (r->kind == ZKC_GRANT && r->token != 0) {
            holds[(*count)++] = (zkc_hold){.token = r->token,
                                           .asked = r->at,
                                           .granted = r->until,
                                           .sequence = r->value,
                                           .process = r->process,
                                           .life = r->life,
                                           .thread = r->thread,
                                           .path = r->path};
        }
    }
    if (holds != NULL) {
        qsort(holds, *count, sizeof *holds, by_token);
        for (size_t i = 0; i < n; i++) {
            zkc_hold *h = zkc_hold_find(holds, *count, all[i].token);
            if (h != NULL) {
                add_to(h, &all[i]);
            }
        }
    }
    return holds;
}
