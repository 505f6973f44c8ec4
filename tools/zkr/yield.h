/* SPDX-License-Identifier: Apache-2.0 */
/* elect --yield: asks the leader to step down, or all others to let one candidate pass. */
#ifndef ZKR_CLI_YIELD_H
#define ZKR_CLI_YIELD_H

#include "held.h"

/** Starts the thread that looks for requests while this zkr leads. Returns 0 or an exit code, reported. */
int yield_begin(struct held *h);
/**
 * At the start of a term: looks, and goes on to do so. A request that is found later ends the command as a revocation.
 * Returns HELD_START; HELD_AGAIN: it is lost, or was asked, and is now at the end of the queue; or an exit code, reported.
 */
int yield_begin_term(void);
/** The term is over. */
void yield_end_term(void);
/** A no-op without yield_begin(), like yield_end_term(). */
void yield_end(void);

/**
 * Asks the leader at held.path to step down, and waits until held.until for another to lead. @to: the one that is to lead;
 * NULL: any. Returns an exit code, reported. Makes held.latch.
 */
int yield_ask(struct held *h, const char *to);

#endif
