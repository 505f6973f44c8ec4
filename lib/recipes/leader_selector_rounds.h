/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the thread of a leader selector does: queue up, lead, queue up again, as often as it is
 * asked to.
 */
#ifndef ZKR_RECIPES_LEADER_SELECTOR_ROUNDS_H
#define ZKR_RECIPES_LEADER_SELECTOR_ROUNDS_H

#include "recipes/leader_selector_state.h"

/* Of a new selector: what on_failed is called by, and what hears of suspensions. */
void zkr__selector_init_callbacks(zkr_leader_selector *s);

/* The thread's function, with the selector. Ends, with `ended` set, when `stopping` is. */
void *zkr__selector_run(void *arg);

#endif
