/* SPDX-License-Identifier: Apache-2.0 */
/* What each event makes of a claim. Pure. */
#ifndef ZKR_ENGINE_CLAIM_STEP_H
#define ZKR_ENGINE_CLAIM_STEP_H

#include "engine/claim_state.h"

/* Move @k on. Returns what is to be done, as a set of zkr__action. */
unsigned zkr__claim_step(struct zkr__claim_state *k, const struct zkr__claim_event *e);

#endif
