/* SPDX-License-Identifier: Apache-2.0 */
/* The moves of a claim, of which claim.c makes each event's answer. Pure, like it. */
#ifndef ZKR_ENGINE_MOVES_H
#define ZKR_ENGINE_MOVES_H

#include "engine/claim.h"

/* All return actions. */

/* Enter a phase and do what is to be done there, or stall until connected. */
unsigned zkr__move_go(struct zkr__claim_state *k,
                      const struct zkr__claim_event *e,
                      enum zkr__phase phase);
/* Get rid of the node, if there may be one. */
unsigned zkr__move_remove(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* The same phase again after a pause, or fail when no more retries are allowed. */
unsigned zkr__move_later(struct zkr__claim_state *k,
                         const struct zkr__claim_event *e,
                         enum zkr__phase phase);
/* The owner gets @code; nothing of the claim stays. */
unsigned
zkr__move_fail(struct zkr__claim_state *k, const struct zkr__claim_event *e, int code);
/* Our node is gone but we still want one: at the tail of the queue. What was held is lost. */
unsigned zkr__move_requeue(struct zkr__claim_state *k,
                           const struct zkr__claim_event *e);
/* First in line: hold, or first prove that the session lives. */
unsigned zkr__move_grant(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* The hold is over; @reason is a ZKR_LOST_…. */
unsigned zkr__move_lose(struct zkr__claim_state *k,
                        const struct zkr__claim_event *e,
                        int reason);
/* The hold is over for now; it is ours again when the node proves to be there still. */
unsigned zkr__move_doubt(struct zkr__claim_state *k, const struct zkr__claim_event *e);
unsigned zkr__move_watch_own(struct zkr__claim_state *k,
                             const struct zkr__claim_event *e);

#endif
