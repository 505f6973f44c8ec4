/* SPDX-License-Identifier: Apache-2.0 */
/* The transitions of a claim, of which claim_step.c makes its answer to each event. Pure. */
#ifndef ZKR_ENGINE_TRANSITIONS_H
#define ZKR_ENGINE_TRANSITIONS_H

#include "engine/claim_state.h"

/* All return actions, as a set of zkr__action. */

/* Enter a phase and ask what is to be asked there; without a connection, or in a crowd, pause until that can be. */
unsigned zkr__enter(struct zkr__claim_state *k,
                    const struct zkr__claim_event *e,
                    enum zkr__phase phase);
/* Enter a phase after a pause. Fail with ZKR_ECONNLOSS when no more retries are allowed. */
unsigned zkr__retry_in(struct zkr__claim_state *k,
                       const struct zkr__claim_event *e,
                       enum zkr__phase phase);
/* An answer that may be another one next time. */
bool zkr__worth_retrying(int code);
/* The same of what is asked on behalf of a hold, which a moment without memory must not make deaf. */
bool zkr__worth_repeating(int code);
/* Enter a phase after a pause, or fail if that cannot help. */
unsigned zkr__retry_or_fail(struct zkr__claim_state *k,
                            const struct zkr__claim_event *e,
                            enum zkr__phase phase);
/* Delete our node; the owner has let go, or lost it. */
unsigned zkr__remove(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* The owner gets @code; nothing of the claim stays. In CREATING no node has been made. */
unsigned
zkr__fail_claim(struct zkr__claim_state *k, const struct zkr__claim_event *e, int code);
/* Our node is gone but we still want one, at the tail of the queue. In DOUBTED it is lost; a member is displaced. */
unsigned zkr__requeue(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* Nothing blocks us: hold, or first prove that the session lives. A member waits for the others before. */
unsigned zkr__grant(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* The hold is over; @reason is a ZKR_LOST_…. With ZKR_LOST_NODE there is nothing to delete. */
unsigned
zkr__lose(struct zkr__claim_state *k, const struct zkr__claim_event *e, int reason);
/* The hold is over for now; it is ours again when the node proves to be there still. */
unsigned zkr__doubt(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* Get our node with a watch, if there is none and there is a connection. */
unsigned zkr__watch_own(struct zkr__claim_state *k, const struct zkr__claim_event *e);

/* The session ended, and our node with it. */
unsigned zkr__session_gone(struct zkr__claim_state *k);
/* While we hold: the owner hears of a wish, once, and our text takes its place. */
unsigned zkr__heed(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* Our text is written, or is not: then see the wish again. */
unsigned zkr__restored(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* When to ask again for what it has no watch on. */
unsigned zkr__look_later(const struct zkr__claim_state *k);
/* It has stood where it is for a while: get our node with a watch, and look at what has none. */
unsigned zkr__quiet(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* Its watch may be spent: look at what it waits for; who holds, at its own node. */
unsigned zkr__unheard(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* Begin. The group of a member may have entered before, in vain. */
unsigned zkr__start(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* A member goes on, for all others are as far as it is. */
unsigned zkr__all_ready(struct zkr__claim_state *k, const struct zkr__claim_event *e);

/* A transaction of the owner's is sent. */
unsigned zkr__writing(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* It is answered. ZKR_ENONODE: there is no node of ours. */
unsigned zkr__written(struct zkr__claim_state *k, const struct zkr__claim_event *e);

#endif
