/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a leader step down, or skip a term, when another zkr runs elect --yield. */
#ifndef ZKR_CLI_YIELD_H
#define ZKR_CLI_YIELD_H

#include <zkr/leader_latch.h>

#include "held.h"

/** Starts the thread that checks for requests while this zkr leads. Returns 0 or a reported exit code. */
int yield_begin(struct held *h);
/**
 * Checks for requests at the start of a term, and keeps checking. A later request ends the command as a revocation
 * does. Returns HELD_START, HELD_AGAIN (the term is lost, or a request has moved zkr to the end of the queue), or a
 * reported exit code.
 */
int yield_begin_term(void);
/** Stops checking for requests at the end of a term. */
void yield_end_term(void);
/** Moves a leader to the end of the queue. Returns 0 or a reported exit code. */
int yield_requeue(zkr_leader_latch *latch);
/** Ends the thread. Like yield_end_term(), a no-op without yield_begin(). */
void yield_end(void);

#endif
