/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is in a queue: all contenders of all clients, with their data, and what an object of any
 * recipe is asked about them. What blocks here sleeps without the lock. Failures leave their
 * detail in zkr_last_error().
 *
 * @watch belongs to the object that asks and is NULL until it is first needed. The object ends it
 * with zkr__children_watch_end().
 */
#ifndef ZKR_ENGINE_CONTENDERS_H
#define ZKR_ENGINE_CONTENDERS_H

#include <zkr/contenders.h>

#include "engine/children_watch.h"
#include "engine/contend.h"
#include "engine/contender.h"

/*
 * All contenders of @q in their order, read in two round trips within
 * options.connect_timeout_ms. A node that is deleted meanwhile is left out; a missing directory
 * gives an empty list, a missing chroot ZKR_ENONODE. zkr__contenders_await_change() then reports what differs from this list;
 * for an object that is never asked that, @watch itself is NULL.
 */
int zkr__contenders_list(zkr_contenders **out,
                         struct zkr__queue *q,
                         struct zkr__children_watch **watch);

/* The nodes in @leases of a semaphore, marked as zkr__permits_held() judges with the first at the @gate. */
int zkr__contenders_permits(zkr_contenders **out,
                            struct zkr__queue *leases,
                            struct zkr__queue *gate);

/* The text of the first one; ZKR_ENONODE when there is none or no chroot, ZKR_EINVAL when it does not fit. */
int zkr__contenders_first(char *buf,
                          size_t size,
                          struct zkr__queue *q,
                          struct zkr__children_watch **watch);

/* Sleep until contenders come or go. */
int zkr__contenders_await_change(struct zkr__queue *q,
                                 struct zkr__children_watch **watch,
                                 int64_t timeout_ms);

/* Copy the path of @claim's node; ZKR_EINVAL when it does not fit. */
int zkr__contenders_node(char *buf,
                         size_t size,
                         const struct zkr__claim *claim) ZKR__LOCKED;

#endif
