/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a leader step down, or skip a term, when another zkr runs elect --yield. */
#ifndef ZKR_CLI_YIELD_H
#define ZKR_CLI_YIELD_H

#include <zkr/leader_latch.h>

#include "held.h"

/** Starts the thread that looks for requests while this zkr leads. Returns 0 or a reported exit code. */
int yield_begin(struct held *h);
/**
 * Looks for requests at the start of a term, and goes on to look. A later request ends the command like a revocation.
 * Returns HELD_START; HELD_AGAIN: the term is lost, or a request has moved zkr to the end of the queue; or an exit
 * code, reported.
 */
int yield_begin_term(void);
/** Ends the search for requests at the end of a term. */
void yield_end_term(void);
/** Moves a leader to the end of the queue. Returns 0 or a reported exit code. */
int yield_requeue(zkr_leader_latch *latch);
/** Ends the thread. A no-op without yield_begin(), like yield_end_term(). */
void yield_end(void);

#endif
