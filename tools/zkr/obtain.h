/* SPDX-License-Identifier: Apache-2.0 */
/* The wait for a lock or a leadership, until the command can start. */
#ifndef ZKR_CLI_OBTAIN_H
#define ZKR_CLI_OBTAIN_H

#include <stdint.h>

#include "held.h"

/**
 * Waits for the grant, for the delay, and until the lease is long enough to start a command. @late is when to cancel
 * the wait for the grant, or NEVER. Returns HELD_START, HELD_AGAIN, HELD_REFUSED, or a reported exit code.
 */
int obtain_held(struct held *h, int64_t late);
/** Reports to the service manager that zkr waits. */
void obtain_say_waiting(const struct held *h);
/** Reports once that the servers answer too slowly for the lease, which may be the reason why nothing is granted. */
void obtain_say_slow(struct held *h);

#endif
