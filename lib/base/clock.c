/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* CLOCK_BOOTTIME */

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
