/* SPDX-License-Identifier: Apache-2.0 */
/* The clock for all deadlines. */
#ifndef ZKR_GUARDIAN_CLOCK_H
#define ZKR_GUARDIAN_CLOCK_H

#include <stdint.h>

/** Returns the milliseconds of a clock that also counts while the machine is suspended. */
int64_t now_ms(void);

#endif
