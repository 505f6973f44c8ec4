/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_EXPECT_H
#define ZKT_EXPECT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <zkr/error.h>

#include "util.h"

/*
 * These checks are missing in cmocka, or have different names in its releases: codes by their names, numbers within
 * bounds, and values that appear in time. A failed check reports the call, the actual value and the expected value.
 * runner.h adds the lines that led there.
 */

/**
 * Check that @call returns @wanted, which is ZKR_OK or a ZKR_E... code. If it does not, report its code and the
 * thread's last error.
 */
#define ZKT_RC(call, wanted) zkt_check_rc((call), (wanted), #call, __FILE__, __LINE__)
#define ZKT_MUST(call) ZKT_RC(call, ZKR_OK)
void zkt_check_rc(int rc, int wanted, const char *call, const char *file, int line);

/** Check that @value is a number from @least to @most. */
#define ZKT_IN_RANGE(value, least, most)                                               \
    zkt_check_range((int64_t)(value), (int64_t)(least), (int64_t)(most), #value,       \
                    __FILE__, __LINE__)
void zkt_check_range(int64_t value,
                     int64_t least,
                     int64_t most,
                     const char *text,
                     const char *file,
                     int line);

/**
 * Like ZKT_EVENTUALLY() of util.h: wait until @value, a number or a code, is @wanted. A failure reports the last value.
 */
#define ZKT_BECOMES(value, wanted, ms)                                                 \
    do {                                                                               \
        const int64_t zkt_begin_ = zkt_now_ms();                                       \
        for (;;) {                                                                     \
            const int64_t zkt_is_ = (value);                                           \
            const int64_t zkt_wanted_ = (wanted);                                      \
            if (zkt_is_ == zkt_wanted_) {                                              \
                break;                                                                 \
            }                                                                          \
            if (zkt_now_ms() - zkt_begin_ >= (ms)) {                                   \
                zkt_never(zkt_is_, zkt_wanted_, #value, #wanted, (ms), __FILE__,       \
                          __LINE__);                                                   \
            }                                                                          \
            zkt_pause(zkt_begin_);                                                     \
        }                                                                              \
    } while (0)

_Noreturn void zkt_never(int64_t value,
                         int64_t wanted,
                         const char *value_text,
                         const char *wanted_text,
                         int64_t ms,
                         const char *file,
                         int line);

/**
 * After a failure of one of these checks or of ZKT_EVENTUALLY(), call @tell to print more information. NULL = nothing.
 */
void zkt_on_failure(void (*tell)(void));

#endif
