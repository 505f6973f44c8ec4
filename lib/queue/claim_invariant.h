/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariants of a claim (claim_state.h), for each state and for each step. Pure, in constant time. claim_run.c
 * checks them after each step, and test/proof in every state that a claim can reach.
 *
 * Each function returns NULL if all invariants hold, else a description of the fault.
 */
#ifndef ZKR_QUEUE_CLAIM_INVARIANT_H
#define ZKR_QUEUE_CLAIM_INVARIANT_H

#include "queue/claim_state.h"

/* Returns what is wrong with the state of a claim between two steps, or NULL. */
const char *zkr__claim_invariant(const struct zkr__claim_state *k);

/* Returns what is wrong with the step from @before to @after at event @e, or NULL. */
const char *zkr__claim_step_invariant(const struct zkr__claim_state *before,
                                      const struct zkr__claim_event *e,
                                      const struct zkr__claim_state *after);

#endif
