/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the node of a released hold, and gives it to the next hold (keep.h). All functions need the client's lock. */
#ifndef ZKR_QUEUE_KEPT_NODE_H
#define ZKR_QUEUE_KEPT_NODE_H

#include "queue/claim.h"

/*
 * Called instead of zkr__claim_leave(). Returns true if the node stays. The claim then belongs to the engine until it
 * is taken. If this returns false, nothing has changed.
 */
bool zkr__claim_keep(struct zkr__claim *claim) ZKR__LOCKED;
/* Called instead of zkr__claim_enter(). Take over the kept node. Returns false if no node is kept for @q. */
bool zkr__claim_take(struct zkr__claim **out,
                     struct zkr__queue *q,
                     const struct zkr__entry *entry) ZKR__LOCKED;

#endif
