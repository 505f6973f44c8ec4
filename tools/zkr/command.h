/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the command while the lock is held, and handles signals, the lease, revocation and job control. */
#ifndef ZKR_CLI_COMMAND_H
#define ZKR_CLI_COMMAND_H

#include "held.h"

/**
 * Runs env->globals.command until all its descendants have exited. Ends the command early if the lock is lost, in doubt
 * or revoked. Sets held.lost, held.ended and held.failed. Returns a reported exit code.
 */
int command_run(struct held *h);

#endif
