/* SPDX-License-Identifier: Apache-2.0 */
/* Holding without a command: the holder line, and a wait for the end. */
#ifndef ZKR_CLI_IDLE_H
#define ZKR_CLI_IDLE_H

#include "held.h"

/** Prints the holder line, and waits for a signal, the end of the input, a revocation or a loss. Returns an exit code, reported. */
int idle_run(struct held *h);

#endif
