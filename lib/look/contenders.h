/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contenders in a queue, of all clients, with their data. The functions here are what the objects of recipes offer;
 * all of them may block, and sleep without the lock; a failure leaves its detail in zkr_last_error().
 *
 * @watch belongs to the object, and is NULL until it is first needed. The object ends it with zkr__node_watch_end().
 */
#ifndef ZKR_LOOK_CONTENDERS_H
#define ZKR_LOOK_CONTENDERS_H

#include <zkr/contenders.h>

#include "look/contender.h"
#include "look/node_watch.h"
#include "queue/claim.h"
#include "session/client.h"

/*
 * All contenders of @q in their order, read in two round trips within options.connect_timeout_ms. A node that is deleted
 * meanwhile is left out. A missing directory gives an empty list, a missing chroot ZKR_ENONODE.
 *
 * @gate: the other queue of a semaphore, whose leases @q has: zkr__permits_held() tells which of them are held. Else NULL.
 *
 * zkr__contenders_await_change() then reports what differs from this list. @watch itself may be NULL, for an object that
 * never waits for changes.
 */
int zkr__contenders_list(zkr_contenders **out,
                         struct zkr__queue *q,
                         struct zkr__queue *gate,
                         struct zkr__node_watch **watch);

/*
 * The owner text of the first contender. ZKR_ENONODE: there is no contender, or no chroot. ZKR_EINVAL: the text does not
 * fit.
 */
int zkr__contenders_first(char *buf,
                          size_t size,
                          struct zkr__queue *q,
                          struct zkr__node_watch **watch);

/*
 * The node right in front of a @claim that waits, as a list of one contender, and as the node was when the watch was last
 * set. Does not block. ZKR_ENOANSWER: not known. The caller has the client's lock.
 */
int zkr__contenders_ahead(zkr_contenders **out,
                          const struct zkr__claim *claim) ZKR__LOCKED;

/* Sleep until there is no contender. A @timeout_ms of 0: look once. ZKR_ENONODE: no chroot. */
int zkr__contenders_await_none(const struct zkr__queue *q, int64_t timeout_ms);

/* Sleep until contenders come or go. ZKR_ENONODE: no chroot. */
int zkr__contenders_await_change(struct zkr__queue *q,
                                 struct zkr__node_watch **watch,
                                 int64_t timeout_ms);

#endif
