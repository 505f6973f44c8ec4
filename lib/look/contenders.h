/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contenders of all clients in a queue, with their data. The objects of recipes offer these functions. All of them
 * except zkr__contenders_ahead() may block, and then sleep without the lock. A failure sets zkr_last_error().
 *
 * @watch belongs to the object, and is NULL until it is needed. The object ends it with zkr__node_watch_end().
 */
#ifndef ZKR_LOOK_CONTENDERS_H
#define ZKR_LOOK_CONTENDERS_H

#include <zkr/contenders.h>

#include "look/contender.h"
#include "look/node_watch.h"
#include "queue/claim.h"
#include "session/client.h"

/*
 * Returns in *@out all contenders of @q in order, read in two round trips within options.connect_timeout_ms. Leaves out
 * a node that is deleted meanwhile. If the directory is missing, the list is empty. Returns ZKR_ENONODE if the chroot
 * is missing.
 *
 * If @q has the leases of a semaphore, @gate is the semaphore's other queue (see zkr__permits_held()), else NULL.
 *
 * From now on, zkr__contenders_await_change() reports differences from this list. @watch itself may be NULL if the
 * object never waits for changes.
 */
int zkr__contenders_list(zkr_contenders **out,
                         struct zkr__queue *q,
                         struct zkr__queue *gate,
                         struct zkr__node_watch **watch);

/*
 * Copy the owner text of the first contender to @buf. Returns ZKR_ENONODE if there is no contender or no chroot, or
 * ZKR_EINVAL if the text does not fit.
 */
int zkr__contenders_first(char *buf,
                          size_t size,
                          struct zkr__queue *q,
                          struct zkr__node_watch **watch);

/*
 * Returns in *@out a list with one contender, the node directly ahead of a waiting @claim, as it was when the watch on
 * it was last set. Does not block. Returns ZKR_ENOANSWER if that node is not known. The caller holds the client's lock.
 */
int zkr__contenders_ahead(zkr_contenders **out,
                          const struct zkr__claim *claim) ZKR__LOCKED;

/*
 * Sleep until the queue has no contenders. If @timeout_ms is 0, check once. Returns ZKR_ENONODE if the chroot is
 * missing.
 */
int zkr__contenders_await_none(const struct zkr__queue *q, int64_t timeout_ms);

/* Sleep until the set of contenders changes. Returns ZKR_ENONODE if the chroot is missing. */
int zkr__contenders_await_change(struct zkr__queue *q,
                                 struct zkr__node_watch **watch,
                                 int64_t timeout_ms);

#endif
