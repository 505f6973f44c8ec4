/* SPDX-License-Identifier: Apache-2.0 */
/* Uses a lock or a leadership after the grant. */
#ifndef ZKR_CLI_USE_H
#define ZKR_CLI_USE_H

#include "held.h"

/**
 * Runs the command or, if there is none, prints the holder line and waits. Then keeps the lock for --min-hold. The
 * caller releases the lock. Returns a reported exit code.
 */
int use_held(struct held *h);

#endif
