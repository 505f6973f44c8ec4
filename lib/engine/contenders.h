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

#include "engine/contend.h"
#include "engine/contender.h"
#include "session/client.h"

/*
 * Learn that contenders of a queue came or went, whosever they are. It lists the directory and
 * leaves one watch there, only while somebody wants to know.
 *
 * When the directory is missing the watch is one on its appearance, by exists(): the one place
 * where we do that. Such a watch stays at the server until the directory appears or the session
 * ends, also when nobody wants to know any more; there is at most one for each path and session.
 */

struct zkr__children_watch;

/*
 * Make one. @on_change, which may be NULL, makes it look from now on, and is called with the lock
 * held when contenders came or went since they were last known; it must neither block nor end
 * the watch. Returns ZKR_OK, ZKR_ENOMEM or ZKR_ESYS.
 */
int zkr__children_watch_create(struct zkr__children_watch **out,
                               zkr_client *c,
                               const char *dir,
                               void (*on_change)(void *ctx),
                               void *ctx) ZKR__LOCKED;
/* NULL is a no-op. Nobody may wait. */
void zkr__children_watch_end(struct zkr__children_watch *w) ZKR__LOCKED;

/* A number for a name. Its sum over a list stands for the list, whatever its order. */
uint64_t zkr__fingerprint(const char *name);

/* The owner has read a list with that sum: from here on only what differs from it is a change. */
void zkr__children_watch_know(struct zkr__children_watch *w,
                              uint64_t fingerprint) ZKR__LOCKED;

/*
 * Sleep until something changed. Returns ZKR_OK, ZKR_ETIMEDOUT, or why we cannot look (ZKR_EAUTH and
 * the like). One round trip, unless the watch is still there; one more after each event.
 */
int zkr__children_watch_wait(struct zkr__children_watch *w,
                             int64_t deadline) ZKR__LOCKED;
bool zkr__children_watch_busy(
    const struct zkr__children_watch *w); /* someone waits; NULL: no */

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
