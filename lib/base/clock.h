/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks (in nanoseconds), deadlines computed from the timeouts of public calls, and pauses between retries. */
#ifndef ZKR_BASE_CLOCK_H
#define ZKR_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define ZKR__MS INT64_C(1000000)
#define ZKR__NEVER INT64_MAX

/* CLOCK_MONOTONIC, for deadlines and timers. */
int64_t zkr__clock_now(void);
/* CLOCK_BOOTTIME, which also counts while the machine is suspended; for the lease. */
int64_t zkr__clock_boot(void);
/* CLOCK_REALTIME in milliseconds, for timestamps only. */
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

/* --- pauses between retries: exponential back-off with jitter. Pure --- */

struct zkr__retry {
    int64_t base, max; /* ns */
    int64_t attempts;  /* 0 = no limit */
};

/*
 * Returns the pause before retry @n, counted from 0: a part of min(base * 2^n, max). @random, any number, selects the
 * part, between half and all of it.
 */
int64_t zkr__retry_pause(const struct zkr__retry *r, int64_t n, uint64_t random);
/* Returns the next pseudo-random number. *@state must not be 0. */
uint64_t zkr__retry_random(uint64_t *state);

#endif
