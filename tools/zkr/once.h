/* SPDX-License-Identifier: Apache-2.0 */
/* zkr once: the data of the path records when the command succeeded last, by the clock of the servers. */
#ifndef ZKR_CLI_ONCE_H
#define ZKR_CLI_ONCE_H

#include <stdint.h>

#include "held.h"

/**
 * Holding the lock: is the command due? Claims the path for records, so that what is wrong with it is known before the start.
 * Returns HELD_START, HELD_AGAIN, or an exit code, reported: 0 = not due.
 */
int once_begin(struct held *h, int64_t every_ms);
/**
 * Records a success, while the lock is still held; a no-op without once_begin(). Returns @status, that of the command; or an
 * exit code, reported.
 */
int once_end(struct held *h, int status);

#endif
