/* SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"

#include <limits.h>
#include <time.h>

int64_t clock_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int clock_left_ms(int64_t at)
{
    int64_t left = at == NEVER ? INT_MAX : at - clock_now_ms();
    return left <= 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
}
