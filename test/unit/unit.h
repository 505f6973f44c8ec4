/* SPDX-License-Identifier: Apache-2.0 */
/* What the unit tests share: cmocka, seeded random numbers, and allocations that fail. */
#ifndef ZKT_UNIT_H
#define ZKT_UNIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "case.h"
#include "runner.h"

#define ZKT_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The next of a sequence; @state is the seed and anything but 0. */
static inline uint64_t zkt_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* One of 0 ... @n - 1. */
static inline int64_t zkt_below(uint64_t *state, int64_t n)
{
    return (int64_t)((zkt_random(state) >> 11) % (uint64_t)n);
}

/*
 * Pieces, any bytes, and for the most part one of @range characters from @first on. In memory that ends with it: a
 * sanitizer sees each step beyond. To be freed.
 */
static inline char *zkt_random_text(uint64_t *seed,
                                    const char *const *pieces,
                                    int64_t count,
                                    char first,
                                    int64_t range)
{
    char text[40];
    size_t len = 0, wanted = (size_t)zkt_below(seed, (int64_t)sizeof(text) - 10);
    while (len < wanted) {
        const char *piece = pieces[zkt_below(seed, count)];
        int64_t kind = zkt_below(seed, 8);
        if (kind == 0) {
            memcpy(text + len, piece, strlen(piece));
            len += strlen(piece);
        } else {
            text[len++] = (char)(kind == 1 ? 1 + zkt_below(seed, 255)
                                           : first + zkt_below(seed, range));
        }
    }
    text[len] = '\0';
    char *tight = strdup(text);
    assert_non_null(tight);
    return tight;
}

/* Allocations still to succeed before all fail; below 0 = no limit. */
static _Atomic int64_t zkt_allocations_left = -1;

static inline bool zkt_allocation_allowed(void)
{
    int64_t left = atomic_load(&zkt_allocations_left);
    if (left > 0) {
        atomic_store(&zkt_allocations_left, left - 1);
    }
    return left != 0;
}

/* Let @n more allocations succeed, then none; -1 ends it. */
static inline void zkt_allow_allocations(int64_t n)
{
    atomic_store(&zkt_allocations_left, n);
    zkr__mem_set_gate(n < 0 ? NULL : zkt_allocation_allowed);
}

#endif
