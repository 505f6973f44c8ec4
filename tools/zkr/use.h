/* SPDX-License-Identifier: Apache-2.0 */
/* The use of a lock or a leadership that was obtained. */
#ifndef ZKR_CLI_USE_H
#define ZKR_CLI_USE_H

#include "held.h"

/**
 * Runs the command; without one, prints the holder line and waits. Then keeps the lock for --min-hold. Returns an exit code,
 * reported. The caller releases the lock afterwards.
 */
int use_held(struct held *h);

#endif
