/* SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"

#include <limits.h>
#include <time.h>

int64_t cli_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int cli_until(int64_t at)
{
    int64_t left = at == CLI_NEVER ? INT_MAX : at - cli_now_ms();
    return left <= 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
}
