/* SPDX-License-Identifier: Apache-2.0 */
/* The hold without a command. */
#ifndef ZKR_CLI_IDLE_H
#define ZKR_CLI_IDLE_H

#include "held.h"

/**
 * Prints the holder line, and then waits for a signal, end of input, a revocation or a loss. Returns a reported exit
 * code.
 */
int idle_run(struct held *h);

#endif
