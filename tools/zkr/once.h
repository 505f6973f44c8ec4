/* SPDX-License-Identifier: Apache-2.0 */
/* zkr once: the data of the path record when the command last succeeded, by the clock of the servers. */
#ifndef ZKR_CLI_ONCE_H
#define ZKR_CLI_ONCE_H

#include <stdint.h>

#include "held.h"

/**
 * Checks, with the lock held, whether the command is due. Writes to the path, so that a problem with the path is found
 * before the start. Returns HELD_START, HELD_AGAIN, or a reported exit code, which is 0 if the command is not due.
 */
int once_begin(struct held *h, int64_t every_ms);
/**
 * Records a success while the lock is still held. @status is the exit status of the command. Returns @status, or a
 * reported exit code. A no-op without once_begin().
 */
int once_end(struct held *h, int status);

#endif
