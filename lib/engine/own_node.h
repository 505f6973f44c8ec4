/* SPDX-License-Identifier: Apache-2.0 */
/* What a claim makes of news of its own node, which a get leaves a watch on. Pure; for claim_events.c. */
#ifndef ZKR_ENGINE_OWN_NODE_H
#define ZKR_ENGINE_OWN_NODE_H

#include "engine/claim_state.h"

/* All return actions, as a set of zkr__action. */

/*
 * The answer to the get, or to the question whose node it is, where one of another session, or nobody's, is as if ours was
 * deleted; its data changed, which used up the watch; a probe was refused for its sake; a note is on its way, or answered.
 */
unsigned zkr__own_event(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* It was deleted. */
unsigned zkr__own_gone(struct zkr__claim_state *k, const struct zkr__claim_event *e);

#endif
