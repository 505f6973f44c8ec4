/* SPDX-License-Identifier: Apache-2.0 */
/* The command, while the lock is held: what it gets of signals, of the end of the lease, of a revocation and of ^Z. */
#ifndef ZKR_CLI_COMMAND_H
#define ZKR_CLI_COMMAND_H

#include "held.h"

/**
 * Runs env->globals.command until all its descendants have gone, and ends it when the lock is lost, in doubt or revoked. Sets
 * held.lost, held.ended and held.failed. Returns an exit code, reported.
 */
int command_run(struct held *h);

#endif
