/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks in nanoseconds, and deadlines made from the time-outs of public calls. */
#ifndef ZKR_BASE_CLOCK_H
#define ZKR_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define ZKR__MS INT64_C(1000000)
#define ZKR__NEVER INT64_MAX

/* CLOCK_MONOTONIC: deadlines and timers. */
int64_t zkr__clock_now(void);
/* CLOCK_BOOTTIME, which goes on while the machine is suspended: the lease. */
int64_t zkr__clock_boot(void);

/* CLOCK_REALTIME in milliseconds: for people. */
int64_t zkr__clock_wall_ms(void);

/* @now + @timeout_ms, ZKR__NEVER when that is negative (forever) or out of range. */
int64_t zkr__clock_deadline(int64_t now, int64_t timeout_ms);

struct timespec zkr__clock_timespec(int64_t ns);

#endif
