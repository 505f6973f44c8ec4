/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contenders in a queue, of all clients, with their data. The objects of recipes offer these functions. All but
 * zkr__contenders_ahead() may block, and then sleep without the lock. A failure sets zkr_last_error().
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
 * Returns all contenders of @q in order, read in two round trips within options.connect_timeout_ms. A node deleted
 * meanwhile is left out. A missing directory gives an empty list, a missing chroot ZKR_ENONODE.
 *
 * @gate: the other queue of a semaphore, if @q has its leases (see zkr__permits_held()); else NULL.
 *
 * zkr__contenders_await_change() then reports differences from this list. @watch itself may be NULL, for an object that
 * never waits for changes.
 */
int zkr__contenders_list(zkr_contenders **out,
                         struct zkr__queue *q,
                         struct zkr__queue *gate,
                         struct zkr__node_watch **watch);

/*
 * Copy the owner text of the first contender to @buf. Returns ZKR_ENONODE without a contender or chroot, or ZKR_EINVAL
 * if the text does not fit.
 */
int zkr__contenders_first(char *buf,
                          size_t size,
                          struct zkr__queue *q,
                          struct zkr__node_watch **watch);

/*
 * Returns the node right in front of a waiting @claim, as a list of one contender, in its state when the watch was last
 * set. Does not block. Returns ZKR_ENOANSWER if that node is unknown. The caller holds the client's lock.
 */
int zkr__contenders_ahead(zkr_contenders **out,
                          const struct zkr__claim *claim) ZKR__LOCKED;

/* Sleep until the queue has no contender. @timeout_ms 0 = check once. Returns ZKR_ENONODE if the chroot is missing. */
int zkr__contenders_await_none(const struct zkr__queue *q, int64_t timeout_ms);

/* Sleep until the set of contenders changes. Returns ZKR_ENONODE if the chroot is missing. */
int zkr__contenders_await_change(struct zkr__queue *q,
                                 struct zkr__node_watch **watch,
                                 int64_t timeout_ms);

#endif
