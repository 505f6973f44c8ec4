/* SPDX-License-Identifier: Apache-2.0 */
/* The clock for all deadlines. */
#ifndef ZKR_CLI_CLOCK_H
#define ZKR_CLI_CLOCK_H

#include <stdint.h>

/** A deadline that never passes. */
#define NEVER INT64_MAX

/** Returns the milliseconds of CLOCK_BOOTTIME, which also advances while the machine is suspended. */
int64_t clock_now_ms(void);
/** Returns the milliseconds from now until @at, for poll(), or 0 if @at has passed. */
int clock_left_ms(int64_t at);

static inline int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
