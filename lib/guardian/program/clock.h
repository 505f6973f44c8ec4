/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of all deadlines. */
#ifndef ZKR_GUARDIAN_CLOCK_H
#define ZKR_GUARDIAN_CLOCK_H

#include <stdint.h>

/** Milliseconds of a clock that also counts while the machine sleeps. */
int64_t now_ms(void);

#endif
