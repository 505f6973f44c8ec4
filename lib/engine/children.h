/* SPDX-License-Identifier: Apache-2.0 */
/* The children of a queue in their order. Pure; hostile names are safe. */
#ifndef ZKR_ENGINE_CHILDREN_H
#define ZKR_ENGINE_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/names.h"

struct zkr__child {
    const char *name; /* borrowed from the answer, unless this is a copy */
    enum zkr__name_kind kind;
    int64_t sequence;
};

struct zkr__children {
    struct zkr__child *list; /* by sequence, readers last, then by name */
    size_t count;
    size_t strays; /* how many other children there are, without a number */
};

/* True for a node that is as good as deleted. */
typedef bool (*zkr__child_filter)(void *ctx, const char *name);

/* However high its number is. */
#define ZKR__ANY_NUMBER INT64_MAX

/*
 * The children among @names that have a number up to @most, but for the @dead (NULL = none is), and the count of children
 * without a number. Returns ZKR_OK or ZKR_ENOMEM; free @out.
 */
int zkr__children_order(struct zkr__children *out,
                        const char *const *names,
                        size_t count,
                        int64_t most,
                        zkr__child_filter dead,
                        void *ctx);
/* A copy with its own names, in one piece of memory, but for children that are @not_these. */
int zkr__children_copy(struct zkr__children *out,
                       const struct zkr__children *from,
                       zkr__child_filter not_these,
                       void *ctx);
void zkr__children_free(struct zkr__children *children);
void zkr__children_sort(struct zkr__children *children);

/* Take the @dead children out. */
void zkr__children_filter(struct zkr__children *children,
                          zkr__child_filter dead,
                          void *ctx);

/* Index of the child called @name; count if missing. */
size_t zkr__children_find(const struct zkr__children *children, const char *name);

#endif
