/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/children.h"

#include <stdlib.h>
#include <string.h>

#include <zkr/error.h>

#include "base/mem.h"
#include "queue/makers.h"

static int compare(const void *x, const void *y)
{
    const struct zkr__child *a = x;
    const struct zkr__child *b = y;
    if (a->sequence != b->sequence) {
        return a->sequence < b->sequence ? -1 : 1;
    }
    /*
     * When a Curator writer downgrades, it creates a READ node with the number of its WRIT node, beside the WRIT node.
     */
    bool reads = a->kind == ZKR__NAME_READ;
    if (reads != (b->kind == ZKR__NAME_READ)) {
        return reads ? 1 : -1;
    }
    return strcmp(a->name, b->name);
}

int zkr__children_order(struct zkr__children *out,
                        const char *const *names,
                        size_t count,
                        int64_t most,
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
        } else if (child->sequence > most) {
            out->behind++;
        } else if (!dead || !dead(ctx, names[i])) {
            child->name = names[i];
            out->count++;
        }
    }
    zkr__children_sort(out);
    return ZKR_OK;
}

bool zkr__child_is_shown(const struct zkr__child *child, int64_t made)
{
    return child->kind != ZKR__NAME_OTHER || child->sequence < made ||
           zkr__maker_is_certain(child->name);
}

int zkr__children_shown(struct zkr__children *out,
                        const char *const *names,
                        size_t count,
                        int64_t made)
{
    int code = zkr__children_order(out, names, count, ZKR__ANY_NUMBER, NULL, NULL);
    size_t shown = 0;
    for (size_t i = 0; i < out->count; i++) {
        const struct zkr__child *child = &out->list[i];
        if (zkr__child_is_shown(child, made)) {
            out->list[shown++] = *child;
        }
    }
    out->strays += out->count - shown;
    out->count = shown;
    return code;
}

int zkr__children_copy(struct zkr__children *out,
                       const struct zkr__children *from,
                       zkr__child_filter not_these,
                       void *ctx)
{
    size_t bytes = 0;
    for (size_t i = 0; i < from->count; i++) {
        bytes += sizeof(*from->list) + strlen(from->list[i].name) + 1;
    }
    *out = (struct zkr__children){0};
    if (from->count == 0) {
        return ZKR_OK;
    }
    out->list = zkr__mem_alloc(bytes);
    if (!out->list) {
        return ZKR_ENOMEM;
    }
    char *name = (char *)(out->list + from->count);
    for (size_t i = 0; i < from->count; i++) {
        if (!not_these(ctx, from->list[i].name)) {
            struct zkr__child *child = &out->list[out->count++];
            size_t size = strlen(from->list[i].name) + 1;
            *child = from->list[i];
            child->name = memcpy(name, from->list[i].name, size);
            name += size;
        }
    }
    return ZKR_OK;
}

void zkr__children_free(struct zkr__children *children)
{
    zkr__mem_free(children->list);
    *children = (struct zkr__children){0};
}

void zkr__children_sort(struct zkr__children *children)
{
    if (children->count > 1) {
        qsort(children->list, children->count, sizeof(*children->list), compare);
    }
}

void zkr__children_filter(struct zkr__children *children,
                          zkr__child_filter dead,
                          void *ctx)
{
    size_t kept = 0;
    for (size_t i = 0; i < children->count; i++) {
        if (!dead(ctx, children->list[i].name)) {
            children->list[kept++] = children->list[i];
        }
    }
    children->count = kept;
}

/* Returns the index of the first child whose number is @sequence or higher. */
static size_t find_number(const struct zkr__children *children, int64_t sequence)
{
    size_t low = 0, high = children->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (children->list[middle].sequence < sequence) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

size_t zkr__children_find(const struct zkr__children *children, const char *name)
{
    struct zkr__child child = {.name = name};
    if (!zkr__name_parse(name, &child.kind, &child.sequence)) {
        return children->count;
    }
    size_t i = find_number(children, child.sequence);
    while (i < children->count && children->list[i].sequence == child.sequence) {
        if (strcmp(children->list[i].name, name) == 0) {
            return i;
        }
        i++;
    }
    return children->count;
}

/* --- what the numbers reveal --- */

enum { QUIET = 2 };

void zkr__known_begin(struct zkr__known *known)
{
    *known = (struct zkr__known){.quiet = QUIET};
}

void zkr__known_forget(struct zkr__known *known)
{
    known->counts = false;
    zkr__children_free(&known->others);
}

bool zkr__known_made(struct zkr__known *known, int64_t number)
{
    bool next = known->counts && number == known->next;
    if (next) {
        known->quiet += known->quiet < QUIET;
    } else {
        known->quiet = known->counts ? 0 : known->quiet;
        known->from = number;
        zkr__children_free(&known->others);
    }
    known->next = number + 1;
    known->counts = number >= 0 && number < ZKR__SEQUENCE_LIMIT;
    if (!known->counts) { /* beyond the limit, numbers are repeated */
        zkr__known_forget(known);
    }
    return next;
}

void zkr__known_listed(struct zkr__known *known,
                       const struct zkr__children *children,
                       int64_t next,
                       zkr__child_filter ours,
                       void *ctx)
{
    int64_t shown = known->next; /* the next number after our last node */
    if (children->count > 0 &&
        children->list[children->count - 1].sequence >= known->next) {
        shown = children->list[children->count - 1].sequence + 1;
    }
    bool counts = next == shown; /* the server's count alone proves nothing */
    zkr__known_forget(known);
    if (counts && zkr__children_copy(&known->others, children, ours, ctx) == ZKR_OK) {
        known->counts = true;
        known->next = next;
        known->from = ZKR__KNOWN_ALL;
    }
}

void zkr__known_gone(struct zkr__known *known, const char *name)
{
    struct zkr__children *others = &known->others;
    size_t gone = zkr__children_find(others, name);
    if (gone < others->count) {
        others->count--;
        memmove(others->list + gone, others->list + gone + 1,
                (others->count - gone) * sizeof(*others->list));
    }
}

bool zkr__known_quiet(const struct zkr__known *known)
{
    return known->counts && known->quiet == QUIET;
}

bool zkr__children_prove(const struct zkr__children *children,
                         size_t self,
                         int64_t made)
{
    size_t from_self = children->count - self + children->behind;
    return made - children->list[self].sequence == (int64_t)from_self;
}
