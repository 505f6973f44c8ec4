/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks (in nanoseconds), deadlines computed from the timeouts of public calls, and pauses between retries. */
#ifndef ZKR_BASE_CLOCK_H
#define ZKR_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define ZKR__MS INT64_C(1000000)
#define ZKR__NEVER INT64_MAX

/* Returns CLOCK_MONOTONIC, the clock for deadlines and timers. */
int64_t zkr__clock_now(void);
/* Returns CLOCK_BOOTTIME, the clock for the lease. It also counts while the machine is suspended. */
int64_t zkr__clock_boot(void);
/* Returns CLOCK_REALTIME in milliseconds, for timestamps only. */
int64_t zkr__clock_wall_ms(void);
/* Returns @now + @timeout_ms, or ZKR__NEVER if the timeout is negative (forever) or the sum overflows. */
int64_t zkr__clock_deadline(int64_t now, int64_t timeout_ms);
struct timespec zkr__clock_timespec(int64_t ns);

/*@ assigns \nothing;
    ensures \result == (x < y ? x : y); */
static inline int64_t zkr__sooner(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/*@ assigns \nothing;
    ensures \result == (x > y ? x : y); */
static inline int64_t zkr__later(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

/* --- pauses between retries: exponential back-off with jitter; pure --- */

struct zkr__retry {
    int64_t base, max; /* in ns */
    int64_t attempts;  /* 0 = no limit */
};

/*
 * Returns the pause before retry @n, counted from 0. The pause is between half and all of min(base * 2^n, max).
 * @random, which may be any number, selects it.
 */
int64_t zkr__retry_pause(const struct zkr__retry *r, int64_t n, uint64_t random);
/* Returns the next pseudo-random number. *@state must not be 0. */
uint64_t zkr__retry_random(uint64_t *state);

#endif
