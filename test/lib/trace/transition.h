/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step of a claim (queue/claim_state.h) as a value: the state before, the event, the state after, and the actions.
 *
 * Only the fields that a step can depend on are kept. Counters are reduced to whether they count anything. Numbers of
 * failures are left out, because each failure may be the one after which a claim pauses. A feature of the claim, such as
 * a request to release the lock or the metadata of a hold, is left out of the steps that are the same without it.
 */
#ifndef ZKT_TRANSITION_H
#define ZKT_TRANSITION_H

#include "queue/claim_state.h"

struct zkt_transition {
    uint64_t before, after;
    uint32_t kind, todo;
};

struct zkt_transition zkt_transition(const struct zkr__claim_state *before,
                                     const struct zkr__claim_event *e,
                                     const struct zkr__claim_state *after,
                                     unsigned todo);

/* The same with all features. */
struct zkt_transition zkt_transition_whole(const struct zkr__claim_state *before,
                                           const struct zkr__claim_event *e,
                                           const struct zkr__claim_state *after,
                                           unsigned todo);

/* Returns a number whose bits each depend on all bits of @x. */
uint64_t zkt_mix(uint64_t x);

/* Returns a number that two different transitions share with a probability of 1 in 10^19; never 0. */
uint64_t zkt_transition_hash(const struct zkt_transition *t);

const char *zkt_phase_name(enum zkr__phase phase);
const char *zkt_event_name(enum zkr__event_kind kind);

/* Write the transition in one line, without a newline, to @text. */
void zkt_transition_print(const struct zkt_transition *t, char *text, size_t size);

#endif
