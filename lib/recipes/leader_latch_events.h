/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The callbacks of a leader latch: on_gain, on_loss, on_failed, on_contenders. Not a queue of
 * events: when its turn on the dispatch thread comes it compares what is with what was reported,
 * and reports the difference. So gains and losses alternate, nothing outdated is reported, and
 * the memory needed is fixed.
 */
#ifndef ZKR_RECIPES_LEADER_LATCH_EVENTS_H
#define ZKR_RECIPES_LEADER_LATCH_EVENTS_H

#include "recipes/leader_latch_state.h"

/* Of a new latch. */
void zkr__latch_init_callbacks(zkr_leader_latch *l);

/* Something may have changed: wake those who wait, and post the callback that is due. */
void zkr__latch_changed(zkr_leader_latch *l) ZKR__LOCKED;

/* Take the gain that was reported last for lost: on_loss is not called for it. */
void zkr__latch_skip_loss(zkr_leader_latch *l) ZKR__LOCKED;

/*
 * Sleep until the loss that is due has been reported and no callback that began before this call
 * runs. Returns at once on the dispatch thread.
 */
void zkr__latch_await_callbacks(zkr_leader_latch *l) ZKR__LOCKED;

#endif
