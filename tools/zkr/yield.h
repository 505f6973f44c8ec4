/* SPDX-License-Identifier: Apache-2.0 */
/* A leader steps down, or does not begin a term, when elect --yield of another asks for it. */
#ifndef ZKR_CLI_YIELD_H
#define ZKR_CLI_YIELD_H

#include <zkr/leader_latch.h>

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
/** Puts a candidate that leads behind all others. Returns 0 or an exit code, reported. */
int yield_requeue(zkr_leader_latch *latch);
/** A no-op without yield_begin(), like yield_end_term(). */
void yield_end(void);

#endif
