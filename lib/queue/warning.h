/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The warning of a hold: once, when the lease is shorter than the warn_ms of its queue. A claim whose warning is due is
 * marked, and on_change notifies the owner, which takes the mark. All functions need the client's lock.
 */
#ifndef ZKR_QUEUE_WARNING_H
#define ZKR_QUEUE_WARNING_H

#include "queue/claim.h"

/* The owner knows of the hold: await the time of its warning. */
void zkr__warning_await(struct zkr__claim *claim) ZKR__LOCKED;
/* If the warning is due, mark the claim and return true. Otherwise note when to look again. */
bool zkr__warning_look(struct zkr__claim *claim) ZKR__LOCKED;
/* Returns true if it is time to look at all holds, and forgets that time. */
bool zkr__warning_looks(struct zkr__engine *engine) ZKR__LOCKED;

/* The warning is due, and the owner does not know yet. */
static inline bool zkr__warning_is_due(const struct zkr__claim *claim) ZKR__LOCKED
{
    return claim->warning == ZKR__WARNING_DUE && claim->k.phase == ZKR__HELD;
}

/* The owner gets the warning now. */
static inline void zkr__warning_told(struct zkr__claim *claim) ZKR__LOCKED
{
    claim->warning = ZKR__WARNING_OFF;
}

#endif
