/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* for CLOCK_BOOTTIME */

#include "base/clock.h"

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    (void)clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000 * ZKR__MS + t.tv_nsec;
}

int64_t zkr__clock_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t zkr__clock_boot(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

int64_t zkr__clock_wall_ms(void)
{
    return read_clock(CLOCK_REALTIME) / ZKR__MS;
}

int64_t zkr__clock_deadline(int64_t now, int64_t timeout_ms)
{
    if (timeout_ms < 0 || timeout_ms > (ZKR__NEVER - now) / ZKR__MS) {
        return ZKR__NEVER;
    }
    return now + timeout_ms * ZKR__MS;
}

struct timespec zkr__clock_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / (1000 * ZKR__MS)),
                             .tv_nsec = (long)(ns % (1000 * ZKR__MS))};
}

int64_t zkr__retry_pause(const struct zkr__retry *r, int64_t n, uint64_t random)
{
    int64_t pause = r->base;
    for (int64_t i = 0; i < n && pause < r->max; i++) {
        pause = pause > r->max / 2 ? r->max : pause * 2;
    }
    pause = zkr__sooner(pause, r->max);
    int64_t half = pause / 2;
    return pause - (half > 0 ? (int64_t)(random % (uint64_t)half) : 0);
}

uint64_t zkr__retry_random(uint64_t *state)
{
    /* The generator is xorshift64*. */
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(2685821657736338717);
}
