/* SPDX-License-Identifier: Apache-2.0 */
/* What a claim makes of news of its own node, which a get leaves a watch on. Pure; for claim_events.c. */
#ifndef ZKR_ENGINE_OWN_NODE_H
#define ZKR_ENGINE_OWN_NODE_H

#include "engine/claim_state.h"

/* All return actions, as a set of zkr__action. */

/* The answer to the get. */
unsigned zkr__own_got(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* It was deleted. */
unsigned zkr__own_gone(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* Its data changed, which used up the watch. */
unsigned zkr__own_changed(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* A note is on its way; it was answered. */
unsigned zkr__noting(struct zkr__claim_state *k, const struct zkr__claim_event *e);
unsigned zkr__noted(struct zkr__claim_state *k, const struct zkr__claim_event *e);

#endif
