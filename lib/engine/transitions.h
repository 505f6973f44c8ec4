/* SPDX-License-Identifier: Apache-2.0 */
/* The transitions of a claim, of which claim_events.c makes its answer to each event. Pure. */
#ifndef ZKR_ENGINE_TRANSITIONS_H
#define ZKR_ENGINE_TRANSITIONS_H

#include "engine/claim_state.h"

/* All return actions, as a set of zkr__action. */

/* Enter a phase and ask what is to be asked there; without a connection, pause until there is one. */
unsigned zkr__enter(struct zkr__claim_state *k,
                    const struct zkr__claim_event *e,
                    enum zkr__phase phase);
/* Enter a phase after a pause. Fail with ZKR_ECONNLOSS when no more retries are allowed. */
unsigned zkr__retry_in(struct zkr__claim_state *k,
                       const struct zkr__claim_event *e,
                       enum zkr__phase phase);
/* Delete our node. */
unsigned zkr__remove(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* The owner gets @code; nothing of the claim stays. In CREATING no node has been made. */
unsigned
zkr__fail_claim(struct zkr__claim_state *k, const struct zkr__claim_event *e, int code);
/* Our node is gone but we still want one, at the tail of the queue. In DOUBTED it is lost. */
unsigned zkr__requeue(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* Nothing blocks us: hold, or first prove that the session lives. */
unsigned zkr__grant(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* The hold is over; @reason is a ZKR_LOST_…. With ZKR_LOST_NODE there is nothing to delete. */
unsigned
zkr__lose(struct zkr__claim_state *k, const struct zkr__claim_event *e, int reason);
/* The hold is over for now; it is ours again when the node proves to be there still. */
unsigned zkr__doubt(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* Get our node with a watch, if there is none and there is a connection. */
unsigned zkr__watch_own(struct zkr__claim_state *k, const struct zkr__claim_event *e);

/* A transaction of the owner's is sent. */
unsigned zkr__writing(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* It is answered. ZKR_ENONODE: there is no node of ours. */
unsigned zkr__written(struct zkr__claim_state *k, const struct zkr__claim_event *e);

#endif
