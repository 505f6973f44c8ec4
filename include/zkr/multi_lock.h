/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file multi_lock.h
 * Several locks at once: all or none, under one deadline, with one fencing token.
 *
 * Mirrors Curator's InterProcessMultiLock. On each path stands the same node that a mutex of that path
 * makes, so multi-locks, mutexes (zkr/mutex.h) and the locks of Curator, kazoo and go-zookeeper
 * exclude each other on each path that they share.
 *
 * **No deadlock.** The nodes of all paths are made in one transaction. All multi-locks that wait for a
 * path therefore stand in the same order in every queue that they share, in whatever order each names
 * its paths: no circle of waiting can form among them. One that loses a node while it waits gives up
 * the others as well and queues anew with all. A program that takes the same locks one after the other
 * keeps no such order, and can still get into a circle with anybody: the deadline ends that. Curator's
 * multi-lock is such a program.
 *
 * **A hold** is a ticket (zkr/ticket.h): it belongs to whoever has the handle, and any thread may
 * release it. It is had when all nodes are first in their queues, and lost when one of them is: the
 * others are then deleted. All nodes have one fencing token, that of each path. zkr_ticket_node() gives
 * the node of the first path, zkr_ticket_guard() fills a check of that one; zkr_ticket_multi() and
 * zkr_ticket_release_multi() check all nodes.
 *
 * While it waits, a place that is first in one queue blocks those behind it there, held by nobody: the
 * price of all or none.
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

/** A multi-lock has so many paths at most. */
#define ZKR_MULTI_LOCK_MAX 1000

/** Options of zkr_multi_lock_create(). Zero in a field means its default; contents are copied. */
typedef struct zkr_multi_lock_options {
    size_t size;       /**< sizeof(zkr_multi_lock_options) */
    const char *owner; /**< owner text of the nodes; default the client's */
    const void
        *data; /**< data of each node instead of an owner text; NULL = owner text */
    size_t data_len; /**< bytes at data, at most 65536 */
    int64_t
        persistent_parent; /**< not 0: missing parents become persistent, not container, nodes */
    int64_t
        watch_node; /**< not 0: that somebody deletes a node is noticed from the grant on,
                           not from the first lease probe on; one or two requests more for each path */
} zkr_multi_lock_options;

#define ZKR_MULTI_LOCK_OPTIONS_INIT                                                    \
    {                                                                                  \
        sizeof(zkr_multi_lock_options), 0, 0, 0, 0, 0                                  \
    }

/**
 * Make a multi-lock object for some paths. Nothing is sent.
 *
 * @out      the multi-lock on success; end it with zkr_multi_lock_destroy().
 * @c        borrowed until then.
 * @paths    @count of them, copied; each as that of a mutex. No two may be equal, and none may lie below
 *           another, whose lock nodes would be its neighbours.
 * @count    1 to ZKR_MULTI_LOCK_MAX. All nodes are made by one request, and servers drop connections that
 *           send more than jute.maxbuffer, 1 MiB by default: paths, data and about 100 bytes for
 *           each node must fit into 900000 bytes together.
 * @options  NULL = defaults; borrowed during the call.
 *
 * Returns ZKR_OK, ZKR_EINVAL (zkr_last_error() names the paths), ZKR_ENOMEM, ZKR_ECLOSED (the client is
 * being closed), ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Session:  the object outlives sessions.
 * Cost:     no request; about 200 bytes of memory for each path, and the path.
 * Curator:  new InterProcessMultiLock(client, paths).   Since: 0.1.
 */
ZKR_API int zkr_multi_lock_create(zkr_multi_lock **out,
                                  zkr_client *c,
                                  const char *const *paths,
                                  size_t count,
                                  const zkr_multi_lock_options *options);

/**
 * Acquire all, waiting at most @timeout_ms.
 *
 * @l           borrowed until the ticket is destroyed.
 * @timeout_ms  milliseconds for the whole call; ZKR_FOREVER = no limit; 0 = one try, as
 *              zkr_mutex_acquire() has it.
 * @out         the ticket, held, on success; end it with zkr_ticket_release() and
 *              zkr_ticket_destroy().
 *
 * Returns ZKR_OK, ZKR_ETIMEDOUT (one of them is held by another, and zkr_last_error() says which),
 * ZKR_ENOANSWER, ZKR_ECONNLOSS, ZKR_ECLOSED, ZKR_EAUTH, ZKR_ESEQUENCE, ZKR_ENONODE, ZKR_EINVAL, ZKR_ENOMEM,
 * ZKR_ESYS, as zkr_mutex_acquire(); ZKR_ESTATE (in a callback, or in a forked child). After any error this
 * call holds nothing, and its nodes are deleted, or will be as soon as a server can be reached.
 *
 * Not re-entrant: two tickets of one multi-lock exclude each other, also within one thread.
 *
 * Blocks:   yes, with no internal lock held.
 * Threads:  any number at once.
 * Session:  a session that ends while waiting costs the places in all queues, and the wait goes on at
 *           their ends within the deadline.
 * Cost:     when all are free one write, and a list of each path behind it, all sent together:
 *           1 round trip, however many paths; else as zkr_mutex_acquire() for each that is not, at the same
 *           time.
 * Curator:  InterProcessMultiLock.acquire.   Since: 0.1.
 */
ZKR_API int
zkr_multi_lock_acquire(zkr_multi_lock *l, int64_t timeout_ms, zkr_ticket **out);

/**
 * Ask for all, and do not wait: as zkr_mutex_request().
 *
 * @l           borrowed until the ticket is destroyed.
 * @timeout_ms  milliseconds until the ticket fails unless it is granted; ZKR_FOREVER, 0 as above.
 * @fn          is told of the outcome; NULL = nobody.
 * @ctx         for @fn.
 * @out         the ticket on success; end it with zkr_ticket_destroy().
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESTATE (in a forked child). On an error @fn is never
 * called.
 *
 * Blocks:   no.
 * Threads:  any, callbacks included.
 * Session:  as zkr_multi_lock_acquire().
 * Cost:     the same; none is waited for. The release is one write for all nodes.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_multi_lock_request(zkr_multi_lock *l,
                                   int64_t timeout_ms,
                                   zkr_ticket_fn fn,
                                   void *ctx,
                                   zkr_ticket **out);

/**
 * Free a multi-lock of which no ticket exists.
 *
 * @l  taken on success; NULL is a no-op.
 *
 * Returns ZKR_OK, ZKR_EBUSY (tickets of it exist; nothing happened), ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.
 * Threads:  any; no other call on @l may run or follow.
 * Session:  released nodes that are not yet confirmed gone stay with the client.
 * Cost:     no request.
 * Curator:  none (garbage collection).   Since: 0.1.
 */
ZKR_API int zkr_multi_lock_destroy(zkr_multi_lock *l);

#ifdef __cplusplus
}
#endif

#endif
