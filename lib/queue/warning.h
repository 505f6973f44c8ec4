/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warns the owner of a hold, once, when less than the queue's warn_ms is left of the lease. A claim whose warning is
 * due is marked DUE, and its on_change notifies the owner. The mark stays until the owner gets the warning. All
 * functions need the client's lock.
 */
#ifndef ZKR_QUEUE_WARNING_H
#define ZKR_QUEUE_WARNING_H

#include "queue/claim.h"

/* Start to watch for the warning of a hold that its owner has just learned of. */
void zkr__warning_await(struct zkr__claim *claim) ZKR__LOCKED;
/* If the warning is due, mark the claim and return true. Otherwise note when to check again, and return false. */
bool zkr__warning_look(struct zkr__claim *claim) ZKR__LOCKED;
/* Returns true if it is time to check all holds, and clears that time. */
bool zkr__warning_looks(struct zkr__engine *engine) ZKR__LOCKED;

/* Returns true if the warning is due, and the owner has not been warned yet. */
static inline bool zkr__warning_is_due(const struct zkr__claim *claim) ZKR__LOCKED
{
    return claim->warning == ZKR__WARNING_DUE && claim->k.phase == ZKR__HELD;
}

/* Clear the mark, because the owner gets the warning now. */
static inline void zkr__warning_told(struct zkr__claim *claim) ZKR__LOCKED
{
    claim->warning = ZKR__WARNING_OFF;
}

#endif
