/* SPDX-License-Identifier: Apache-2.0 */
/* The children of a queue in their order. Pure; hostile names are safe. */
#ifndef ZKR_ENGINE_CHILDREN_H
#define ZKR_ENGINE_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/names.h"

struct zkr__child {
    const char *name; /* borrowed from the answer */
    enum zkr__name_kind kind;
    int64_t sequence;
};

struct zkr__children {
    struct zkr__child *list; /* by sequence, readers last, then by name */
    size_t count;
    size_t strays; /* children beside them, which have no number */
};

/* True for a node that is as good as deleted. */
typedef bool (*zkr__child_filter)(void *ctx, const char *name);

/*
 * Take the sequential children out of @names, and count the others. Returns ZKR_OK or ZKR_ENOMEM; free with
 * zkr__mem_free(out->list). @dead, which may be NULL, is asked about the sequential ones.
 */
int zkr__children_order(struct zkr__children *out,
                        const char *const *names,
                        size_t count,
                        zkr__child_filter dead,
                        void *ctx);

/* Take those that are @dead out. */
void zkr__children_filter(struct zkr__children *children,
                          zkr__child_filter dead,
                          void *ctx);

/* Index of the child called @name, or of the one that starts with the @len bytes at @start; count if missing. */
size_t zkr__children_find(const struct zkr__children *children, const char *name);
size_t zkr__children_find_start(const struct zkr__children *children,
                                const char *start,
                                size_t len);

#endif
