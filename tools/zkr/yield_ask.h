/* SPDX-License-Identifier: Apache-2.0 */
/* elect --yield: requests that the leader step down, or that all others let one candidate pass. */
#ifndef ZKR_CLI_YIELD_ASK_H
#define ZKR_CLI_YIELD_ASK_H

#include "held.h"

/**
 * Requests that the leader at held.path step down, and waits until held.until for another leader. @to is the ID of the
 * next leader, or NULL for any. Creates the latch. Returns a reported exit code.
 */
int yield_ask(struct held *h, const char *to);

#endif
