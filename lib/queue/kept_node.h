/* SPDX-License-Identifier: Apache-2.0 */
/* The node of a released hold stays, and the next hold takes it over: keep.h. All functions need the client's lock. */
#ifndef ZKR_QUEUE_KEPT_NODE_H
#define ZKR_QUEUE_KEPT_NODE_H

#include "queue/claim.h"

/*
 * Called instead of zkr__claim_leave(). True: the node stays, and the claim belongs to the engine until it is taken.
 * False: nothing has changed.
 */
bool zkr__claim_keep(struct zkr__claim *claim) ZKR__LOCKED;
/* Called instead of zkr__claim_enter(): take over the kept node. False: there is none. */
bool zkr__claim_take(struct zkr__claim **out,
                     struct zkr__queue *q,
                     const struct zkr__entry *entry) ZKR__LOCKED;

#endif
