/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/children.h"

#include <stdlib.h>
#include <string.h>

#include <zkr/error.h>

#include "base/mem.h"

static int compare(const void *x, const void *y)
{
    const struct zkr__child *a = x;
    const struct zkr__child *b = y;
    if (a->sequence != b->sequence) {
        return a->sequence < b->sequence ? -1 : 1;
    }
    /* Curator's writers make the READ node of a downgrade beside their own, with its number. */
    bool reads = a->kind == ZKR__NAME_READ;
    if (reads != (b->kind == ZKR__NAME_READ)) {
        return reads ? 1 : -1;
    }
    return strcmp(a->name, b->name);
}

int zkr__children_order(struct zkr__children *out,
                        const char *const *names,
                        size_t count,
                        zkr__child_filter dead,
                        void *ctx)
{
    *out = (struct zkr__children){0};
    if (count == 0) {
        return ZKR_OK;
    }
    out->list = zkr__mem_alloc(count * sizeof(*out->list));
    if (!out->list) {
        return ZKR_ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        struct zkr__child *child = &out->list[out->count];
        if (!names[i] || !zkr__name_parse(names[i], &child->kind, &child->sequence)) {
            out->strays++;
        } else if (!dead || !dead(ctx, names[i])) {
            child->name = names[i];
            out->count++;
        }
    }
    qsort(out->list, out->count, sizeof(*out->list), compare);
    return ZKR_OK;
}

size_t zkr__children_find(const struct zkr__children *children, const char *name)
{
    size_t i = 0;
    while (i < children->count && strcmp(children->list[i].name, name) != 0) {
        i++;
    }
    return i;
}

size_t zkr__children_find_start(const struct zkr__children *children,
                                const char *start,
                                size_t len)
{
    size_t i = 0;
    while (i < children->count && strncmp(children->list[i].name, start, len) != 0) {
        i++;
    }
    return i;
}
