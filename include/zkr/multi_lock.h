/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file multi_lock.h
 * Several locks at once: all or none, with one deadline and one fencing token.
 *
 * A multi-lock mirrors Curator's InterProcessMultiLock. On each path, it creates the same node as a mutex. Multi-locks,
 * mutexes (zkr/mutex.h) and the locks of Curator, kazoo and go-zookeeper therefore exclude each other on each path that
 * they share.
 *
 * **No deadlock.** One transaction creates the nodes on all paths. All multi-locks are therefore in the same order in
 * every queue that they share, whatever the order of their paths, and they cannot wait for each other in a circle. A
 * multi-lock that loses a node while it waits also gives up the other nodes, and queues again with all of them.
 *
 * A program that takes the same locks one after another, like Curator's multi-lock, keeps no such order. It can
 * deadlock with a multi-lock until the deadline of one of them passes. If such a program shares the paths, do not use a
 * multi-lock. Instead, acquire one mutex per path, in the order in which that program takes the locks.
 *
 * **A hold** is a ticket (zkr/ticket.h), which any thread may release. It is granted when all its nodes are first in
 * their queues. It is lost when one of its nodes is lost; the client then deletes the other nodes. One fencing token is
 * valid on all paths. zkr_ticket_node() returns the node on the first path, and zkr_ticket_guard() checks that node.
 * zkr_ticket_multi() and zkr_ticket_release_multi() check all nodes.
 *
 * While a multi-lock waits, it may be first in some of its queues. It then blocks the contenders behind it in these
 * queues, although nobody holds those locks. This is the cost of taking all locks or none.
 */
#ifndef ZKR_MULTI_LOCK_H
#define ZKR_MULTI_LOCK_H

#include <stddef.h>
#include <stdint.h>

#include <zkr/client.h>
#include <zkr/export.h>
#include <zkr/ticket.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zkr_multi_lock zkr_multi_lock;

/** The most paths of a multi-lock. */
#define ZKR_MULTI_LOCK_MAX 1000

/** Options of zkr_multi_lock_create(). Zero in a field means its default; contents are copied. */
typedef struct zkr_multi_lock_options {
    size_t size;       /**< sizeof(zkr_multi_lock_options) */
    const char *owner; /**< owner text of the nodes; default the client's */
    /** Data of each node instead of an owner text; NULL = owner text. */
    const void *data;
    size_t data_len; /**< bytes at data, at most 65536 */
    /** Not 0: missing parents become persistent nodes instead of container nodes. */
    int64_t persistent_parent;
    /**
     * Not 0: from the grant on, notice if somebody deletes a node; 0: only from the first lease probe on. Costs one or
     * two more requests for each path.
     */
    int64_t watch_node;
    int64_t
        tell_queued; /**< not 0: ZKR_TICKET_QUEUED and zkr_ticket_ahead(), see zkr_mutex_options */
    int64_t warn_ms; /**< lease left at ZKR_TICKET_WARNED, see zkr_mutex_options */
} zkr_multi_lock_options;

#define ZKR_MULTI_LOCK_OPTIONS_INIT                                                    \
    {                                                                                  \
        sizeof(zkr_multi_lock_options), 0, 0, 0, 0, 0, 0, 0                            \
    }

/**
 * Create a multi-lock object for some paths. This sends no request.
 *
 * @out      the multi-lock on success; end it with zkr_multi_lock_destroy().
 * @c        borrowed until then.
 * @paths    @count paths, copied; each as for a mutex. No two paths may be equal, and no path may lie below another
 *           path, where it would be among the lock nodes.
 * @count    1 to ZKR_MULTI_LOCK_MAX. One request creates all nodes, and servers drop connections that send more than
 *           jute.maxbuffer, 1 MiB by default. Therefore, paths, data and about 100 bytes for each node must together
 *           fit into 900000 bytes.
 * @options  NULL = defaults; borrowed during the call.
 *
 * Returns ZKR_OK, ZKR_EINVAL (zkr_last_error() names the paths), ZKR_ENOMEM, ZKR_ECLOSED (the client is
 * being closed), ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Session:  the object outlives sessions.
 * Cost:     no request; about 200 bytes of memory for each path, plus the path.
 * Curator:  new InterProcessMultiLock(client, paths).   Since: 0.1.
 */
ZKR_API int zkr_multi_lock_create(zkr_multi_lock **out,
                                  zkr_client *c,
                                  const char *const *paths,
                                  size_t count,
                                  const zkr_multi_lock_options *options);

/**
 * Acquire all locks, waiting at most @timeout_ms.
 *
 * @l           borrowed until the ticket is destroyed.
 * @timeout_ms  milliseconds for the whole call; ZKR_FOREVER = no limit; 0 = one try, as in
 *              zkr_mutex_acquire().
 * @out         on success, a ticket that is held; end it with zkr_ticket_release() and
 *              zkr_ticket_destroy().
 *
 * Returns ZKR_OK, ZKR_ETIMEDOUT (another contender holds one of the locks; zkr_last_error() names it), ZKR_ENOANSWER,
 * ZKR_ECONNLOSS, ZKR_ECLOSED, ZKR_EAUTH, ZKR_EDEADLK, ZKR_ESEQUENCE, ZKR_ENONODE, ZKR_ELIMIT, ZKR_EFOREIGN, ZKR_EINVAL,
 * ZKR_ENOMEM, ZKR_ESYS, as zkr_mutex_acquire(); ZKR_ESTATE (in a callback, or in a forked child). After any error, this
 * call holds nothing, and its nodes are deleted at once or as soon as a server can be reached.
 *
 * A multi-lock is not re-entrant: two tickets of one multi-lock exclude each other, even within one thread.
 *
 * Blocks:   yes, with no internal lock held.
 * Threads:  any number at once.
 * Session:  if the session ends during the wait, the places in all queues are lost, and the wait continues at
 *           their tails, within the deadline.
 * Cost:     if all are free: one write followed by a list of each path, all sent together, so 1 round trip for any
 *           number of paths. Otherwise: as zkr_mutex_acquire() for each path that is not free, all at the same time. If
 *           some paths were not free when this client saw them last, a try first reads these paths, for one more round
 *           trip. If one of them is still not free, the try creates no node, so it blocks nobody on the other paths.
 * Curator:  InterProcessMultiLock.acquire.   Since: 0.1.
 */
ZKR_API int zkr_multi_lock_acquire(zkr_multi_lock *l,
                                   int64_t timeout_ms,
                                   zkr_ticket **out);

/**
 * Request all locks without waiting for them, like zkr_mutex_request() for one lock.
 *
 * @l           borrowed until the ticket is destroyed.
 * @timeout_ms  milliseconds after which the ticket fails if it has not been granted; ZKR_FOREVER, 0 as above.
 * @fn          called with the outcome; NULL = none.
 * @ctx         passed to @fn.
 * @out         the ticket on success; end it with zkr_ticket_destroy().
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESTATE (in a forked child). On an error @fn is never
 * called.
 *
 * Blocks:   no.
 * Threads:  any, including callbacks.
 * Session:  as zkr_multi_lock_acquire().
 * Cost:     as zkr_multi_lock_acquire(), but the call does not wait. The release is one write for all nodes.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_multi_lock_request(zkr_multi_lock *l,
                                   int64_t timeout_ms,
                                   zkr_ticket_fn fn,
                                   void *ctx,
                                   zkr_ticket **out);

/**
 * Free a multi-lock that has no tickets.
 *
 * @l  taken on success; NULL is a no-op.
 *
 * Returns ZKR_OK, ZKR_EBUSY (tickets of it exist; nothing happened), ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.
 * Threads:  any; no other call on @l may run or follow.
 * Session:  the client continues to delete released nodes until their deletion is confirmed.
 * Cost:     no request.
 * Curator:  none (garbage collection).   Since: 0.1.
 */
ZKR_API int zkr_multi_lock_destroy(zkr_multi_lock *l);

#ifdef __cplusplus
}
#endif

#endif
