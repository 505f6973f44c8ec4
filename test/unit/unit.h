/* SPDX-License-Identifier: Apache-2.0 */
/* Shared parts of the unit tests: cmocka, seeded random numbers, and allocations that fail. */
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

/* Returns the next number of a sequence. @state is the seed, which must not be 0. */
static inline uint64_t zkt_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Returns a number from 0 to @n - 1. */
static inline int64_t zkt_below(uint64_t *state, int64_t n)
{
    return (int64_t)((zkt_random(state) >> 11) % (uint64_t)n);
}

/* The number of allocations that succeed before all fail; negative = no limit. */
static _Atomic int64_t zkt_allocations_left = -1;

static inline bool zkt_allocation_allowed(void)
{
    int64_t left = atomic_load(&zkt_allocations_left);
    if (left > 0) {
        atomic_store(&zkt_allocations_left, left - 1);
    }
    return left != 0;
}

/* Let @n more allocations succeed, and then none. -1 removes the limit. */
static inline void zkt_allow_allocations(int64_t n)
{
    atomic_store(&zkt_allocations_left, n);
    zkr__mem_set_gate(n < 0 ? NULL : zkt_allocation_allowed);
}

#endif
