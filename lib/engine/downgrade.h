/* SPDX-License-Identifier: Apache-2.0 */
/* The transitions of a claim whose writer becomes a reader. Pure; for claim_events.c. */
#ifndef ZKR_ENGINE_DOWNGRADE_H
#define ZKR_ENGINE_DOWNGRADE_H

#include "engine/claim_state.h"

/* All return actions, as a set of zkr__action. */

/*
 * DOWNGRADE: the owner goes on as a reader; only of a hold. DOWNGRADED: that is answered; ZKR_ENONODE: the WRIT node
 * was gone already.
 */
unsigned zkr__downgrade(struct zkr__claim_state *k, const struct zkr__claim_event *e);
/* It may have been asked in vain: ask again, if there is a connection. */
unsigned zkr__downgrade_again(struct zkr__claim_state *k,
                              const struct zkr__claim_event *e);
/* After that: the answer to the get of the READ node. */
unsigned zkr__downgrade_seen(struct zkr__claim_state *k,
                             const struct zkr__claim_event *e);

#endif
