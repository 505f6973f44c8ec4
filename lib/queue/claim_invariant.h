/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is true of a claim (claim_state.h) in each of its states, and of each of its steps, whatever happens. Pure, and
 * in constant time. claim_run.c asks after each step, and ../../test/proof in every state that a claim can reach.
 *
 * Each function returns NULL, or in words what is wrong.
 */
#ifndef ZKR_QUEUE_CLAIM_INVARIANT_H
#define ZKR_QUEUE_CLAIM_INVARIANT_H

#include "queue/claim_state.h"

/* Between two steps. */
const char *zkr__claim_invariant(const struct zkr__claim_state *k);

/* The step at @e has led from @before to @after. */
const char *zkr__claim_step_invariant(const struct zkr__claim_state *before,
                                      const struct zkr__claim_event *e,
                                      const struct zkr__claim_state *after);

#endif
