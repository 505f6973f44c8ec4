/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of all deadlines. */
#ifndef ZKR_CLI_CLOCK_H
#define ZKR_CLI_CLOCK_H

#include <stdint.h>

/** Milliseconds of CLOCK_BOOTTIME, which goes on while the machine sleeps. */
int64_t cli_now_ms(void);

/** A moment of that clock that does not come. */
#define CLI_NEVER INT64_MAX

/** Milliseconds from now until @at, 0 when it has passed; for poll(). */
int cli_until(int64_t at);

#endif
