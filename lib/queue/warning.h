/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The warning of a hold: once, when less than the warn_ms of its queue is surely left. What is due is marked in the claim;
 * the owner hears of it by on_change, and takes it. With the client's lock.
 */
#ifndef ZKR_QUEUE_WARNING_H
#define ZKR_QUEUE_WARNING_H

#include "queue/claim.h"

/* The owner has been told of the hold, and can be warned from now on. */
void zkr__warning_await(struct zkr__claim *claim) ZKR__LOCKED;
/* If the warning has become due: mark it, and return true. Else note when to look again. */
bool zkr__warning_look(struct zkr__claim *claim) ZKR__LOCKED;
/* It is time to look at all holds. Nothing is noted any more. */
bool zkr__warning_looks(struct zkr__engine *engine) ZKR__LOCKED;

/* The owner is to be warned, and does not know yet. */
static inline bool zkr__warning_is_due(const struct zkr__claim *claim) ZKR__LOCKED
{
    return claim->warning == ZKR__WARNING_DUE && claim->k.phase == ZKR__HELD;
}

/* The owner is warned now. */
static inline void zkr__warning_told(struct zkr__claim *claim) ZKR__LOCKED
{
    claim->warning = ZKR__WARNING_OFF;
}

#endif
