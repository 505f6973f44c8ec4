/* SPDX-License-Identifier: Apache-2.0 */
/* Which clock serves which purpose, and how a timeout becomes a deadline. */
#include <time.h>

#include "base/clock.h"
#include "unit.h"

static clockid_t asked;

/* The linker places this function before that of the C library. */
int __wrap_clock_gettime(clockid_t id, struct timespec *t);

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    asked = id;
    *t = (struct timespec){.tv_sec = 7, .tv_nsec = 9};
    return 0;
}

/* Only one of the two clocks runs while the machine sleeps. The lease needs that clock, because the servers run on. */
ZKT_UNIT_CASE(the_lease_and_the_timers_have_a_clock_each)
{
    assert_int_equal(zkr__clock_now(), INT64_C(7000000009));
    assert_int_equal(asked, CLOCK_MONOTONIC);
    assert_int_equal(zkr__clock_boot(), INT64_C(7000000009));
    assert_int_equal(asked, CLOCK_BOOTTIME);
}

ZKT_UNIT_CASE(a_deadline_is_the_time_out_from_now_on)
{
    assert_int_equal(zkr__clock_deadline(5, 0), 5);
    assert_int_equal(zkr__clock_deadline(5, 20), 5 + 20 * ZKR__MS);
}

/* A deadline that no clock reaches is ZKR__NEVER. It is never in the past. */
ZKT_UNIT_CASE(a_deadline_beyond_all_time_is_none)
{
    const int64_t now = INT64_C(1) << 60, most = (ZKR__NEVER - now) / ZKR__MS;
    assert_int_equal(zkr__clock_deadline(now, -1), ZKR__NEVER);
    assert_int_equal(zkr__clock_deadline(now, most), now + most * ZKR__MS);
    assert_int_equal(zkr__clock_deadline(now, most + 1), ZKR__NEVER);
    assert_int_equal(zkr__clock_deadline(now, INT64_MAX / ZKR__MS), ZKR__NEVER);
    assert_int_equal(zkr__clock_deadline(now, INT64_MAX / 2), ZKR__NEVER);
    assert_int_equal(zkr__clock_deadline(now, INT64_MAX), ZKR__NEVER);
}
