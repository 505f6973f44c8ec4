/* SPDX-License-Identifier: Apache-2.0 */
/* elect --yield: asks the leader to step down, or all others to let one candidate pass. */
#ifndef ZKR_CLI_YIELD_ASK_H
#define ZKR_CLI_YIELD_ASK_H

#include "held.h"

/**
 * Asks the leader at held.path to step down, and waits until held.until for another to lead. @to: the one that is to lead;
 * NULL: any. Returns an exit code, reported. Makes the latch.
 */
int yield_ask(struct held *h, const char *to);

#endif
