/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file semaphore.h
 * A fair counting semaphore across threads, processes and hosts.
 *
 * A semaphore mirrors Curator's InterProcessSemaphoreV2 and can share its paths. Each permit is one protected
 * ephemeral-sequential node `_c_<uuid>-lease-NNNNNNNNNN` below `PATH/leases`. Contenders wait for permits in the queue
 * `PATH/locks`. A semaphore of 1 is Curator's InterProcessSemaphoreMutex. It does not exclude a mutex at the same path.
 *
 * Tickets hold the permits. zkr/ticket.h provides the functions that wait for, query, release and destroy a ticket,
 * from any thread. A ticket holds all of its permits or none. It is granted when the number of nodes below `leases`, up
 * to and including its own nodes, does not exceed the maximum. It is lost when one of its nodes is lost; the client
 * then deletes its other nodes. For a ticket with several permits, zkr_ticket_node() and zkr_ticket_guard() use the
 * first node, and zkr_ticket_multi() checks all nodes. Two tickets with one permit each are equivalent to one ticket
 * with two permits, but a thread that holds one ticket while it waits for another may wait for itself.
 *
 * **Fairness.** The order is first come, first served, whatever the number of permits. Contenders that want few permits
 * do not overtake one that waits for many, and a contender that wants more than the current maximum keeps all others
 * waiting. If others wait, contenders are served in the order in which they joined the queue. While the path is
 * missing, initially or after the servers have removed it, a later request of another client may be served first.
 * Requests of one client keep their order even in this case.
 *
 * Only a try (a timeout of 0) does not queue: it takes permits that are free at that moment. A permit is not free while
 * it is held, reserved by the nodes of a waiter, or being acquired by another contender. A try that finds too few free
 * permits creates no node, so it does not disturb other tries.
 *
 * **The maximum** is a convention among all users of the path. The nodes of permits contain it only for display
 * (contenders.h), and nothing checks that all users pass the same number. With options.max_from, the client reads the
 * maximum from a node, Curator's SharedCount, and follows its changes. If the maximum is raised, waiting contenders get
 * permits. If it is lowered, held permits stay held, and no contender gets a permit until enough permits have been
 * released. While a client reads a changed maximum, for one round trip, its tries get nothing.
 *
 * **Loss** is as in mutex.h, with one difference: the fencing token of a ticket increases with each grant only if the
 * maximum is 1. Otherwise, tokens only distinguish holds.
 *
 * Every other child of `PATH/leases` also counts as a permit, as with Curator.
 */
#ifndef ZKR_SEMAPHORE_H
#define ZKR_SEMAPHORE_H

#include <stddef.h>
#include <stdint.h>

#include <zkr/client.h>
#include <zkr/contenders.h>
#include <zkr/export.h>
#include <zkr/ticket.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zkr_semaphore zkr_semaphore;

/** The most permits of one ticket. */
#define ZKR_SEMAPHORE_PERMITS_MAX 1000

/** Options of zkr_semaphore_create(). Zero in a field means its default; contents are copied. */
typedef struct zkr_semaphore_options {
    size_t size; /**< sizeof(zkr_semaphore_options) */
    /**
     * Path of a node that contains the maximum: 4 bytes, big-endian, in the format of Curator's SharedCount. While
     * there is no such node, @max of zkr_semaphore_create() applies. Other data, compressed data and negative numbers
     * count as a maximum of 0, which the client logs. NULL = the maximum is fixed.
     */
    const char *max_from;
    /**
     * Owner text of the nodes; default the client's. If the text has at most 220 bytes, the nodes of permits also have
     * the field `max` (zkr_contender_field()), the maximum at their creation.
     */
    const char *owner;
    const void *data; /**< replaces owner text and fields; NULL = not replaced */
    size_t data_len;  /**< bytes at data, at most 65536 */
    /** Not 0: missing parents become persistent nodes instead of container nodes. */
    int64_t persistent_parent;
    /**
     * Not 0: from the grant on, notice if somebody deletes a node; 0: only from the first lease probe on. Costs one or
     * two more requests for each node.
     */
    int64_t watch_node;
    int64_t warn_ms; /**< lease left at ZKR_TICKET_WARNED, see zkr_mutex_options */
} zkr_semaphore_options;

#define ZKR_SEMAPHORE_OPTIONS_INIT                                                     \
    {                                                                                  \
        sizeof(zkr_semaphore_options), 0, 0, 0, 0, 0, 0, 0                             \
    }

/**
 * Create a semaphore object for a path.
 *
 * @out      the semaphore on success; end it with zkr_semaphore_destroy().
 * @c        borrowed until then.
 * @path     absolute, without trailing slash, not "/"; the path, and `locks` and `leases` below it, are created when
 *           first needed.
 * @max      total number of permits, 1 to 2147483647; with options.max_from, applies only while that node is missing.
 * @options  NULL = defaults; borrowed during the call.
 *
 * Returns ZKR_OK, ZKR_EINVAL (also: @max is 0 or below), ZKR_ENOMEM, ZKR_ECLOSED (the client is being
 * closed), ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Session:  the object outlives sessions.
 * Cost:     no request; with options.max_from, 1 read now and 1 after each change and each new session. Its watch may
 *           exceed the limit on watches (client.h).
 * Curator:  new InterProcessSemaphoreV2(client, path, maxLeases), or with a SharedCountReader.   Since: 0.1.
 */
ZKR_API int zkr_semaphore_create(zkr_semaphore **out,
                                 zkr_client *c,
                                 const char *path,
                                 int64_t max,
                                 const zkr_semaphore_options *options);

/**
 * Acquire @n permits, all or none, waiting at most @timeout_ms.
 *
 * @s           borrowed until the ticket is destroyed.
 * @n           1 to ZKR_SEMAPHORE_PERMITS_MAX. One request creates @n nodes, each with the data of the options, so
 *              these must fit into one request.
 * @timeout_ms  milliseconds for the whole call, including reconnections; ZKR_FOREVER = no limit; 0 = one try, as in
 *              zkr_mutex_acquire().
 * @out         on success, a ticket that is held; end it with zkr_ticket_release() and zkr_ticket_destroy().
 *
 * If @n exceeds a fixed maximum, the call returns ZKR_EINVAL at once. With options.max_from, it waits until the maximum
 * is raised.
 *
 * Returns ZKR_OK, ZKR_EINVAL, and as zkr_mutex_acquire() ZKR_ETIMEDOUT (too few permits were free), ZKR_ENOANSWER,
 * ZKR_ECONNLOSS, ZKR_ECLOSED, ZKR_EAUTH, ZKR_ESEQUENCE, ZKR_ENONODE, ZKR_ELIMIT, ZKR_ENOMEM, ZKR_ESYS, ZKR_ESTATE.
 * After any error, this call holds no permit and creates no ticket, and its nodes are deleted at once or as soon as a
 * server can be reached.
 *
 * Blocks:   yes, with no internal lock held. zkr_client_shutdown() ends the wait.
 * Threads:  any; no thread owns the permits.
 * Session:  if the session ends during the wait, the place in the queue is lost, and the wait continues at the
 *           tail, within the deadline. A reconnect within the session keeps the place.
 * Cost:     if enough permits are free: 1 round trip, with 1 write for any @n and 2 reads. If too few permits were free
 *           when this client saw them last, the call queues first, and takes 2 round trips if they are free after all.
 *           During the wait: 1 round trip after each release, for the first in the queue and for requests that found
 *           the queue empty. A try: 1 write and 1 read if this client has last seen enough free permits; otherwise 1
 *           read first, and nothing more if too few permits are free.
 * Curator:  InterProcessSemaphoreV2.acquire(qty, time, unit), which takes 5 for each permit.   Since: 0.1.
 */
ZKR_API int zkr_semaphore_acquire(zkr_semaphore *s,
                                  int n,
                                  int64_t timeout_ms,
                                  zkr_ticket **out);

/**
 * Request @n permits, without waiting for them.
 *
 * @s           borrowed until the ticket is destroyed.
 * @n           as in zkr_semaphore_acquire(); ZKR_EINVAL if it exceeds a fixed maximum.
 * @timeout_ms  milliseconds after which the ticket fails if it has not been granted; ZKR_FOREVER = no limit; 0 = one
 *              try.
 * @fn          called with the outcome; NULL = none.
 * @ctx         passed to @fn.
 * @out         the ticket on success; end it with zkr_ticket_destroy().
 *
 * In all other respects, the function works like zkr_mutex_request().
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESTATE (in a forked child). On an error @fn is
 * never called.
 *
 * Blocks:   no.
 * Threads:  any, including callbacks. The owner text of the nodes names the calling thread.
 * Session:  as zkr_semaphore_acquire().
 * Cost:     as zkr_semaphore_acquire(), but the call does not wait.
 * Curator:  none; asked for in CURATOR-459.   Since: 0.1.
 */
ZKR_API int zkr_semaphore_request(zkr_semaphore *s,
                                  int n,
                                  int64_t timeout_ms,
                                  zkr_ticket_fn fn,
                                  void *ctx,
                                  zkr_ticket **out);

/**
 * List the holders of permits in all processes and languages.
 *
 * @s    borrowed.
 * @out  the list on success, in the order of the nodes, with one entry for each permit, empty if there is none; free it
 *       with zkr_contenders_free(). The permits of one ticket have the same fencing token. The last entries may be
 *       nodes of the first contender in the queue, which is still waiting for these permits; their `holds` is false.
 *       For a moment, the list may also include permits that a contender is about to return, because too few permits
 *       were free for it. Other waiting contenders are not in the list.
 *
 * Returns the same codes as zkr_mutex_contenders().
 *
 * Blocks:   yes, at most options.connect_timeout_ms of the client.
 * Threads:  any.
 * Cost:     2 round trips for any number of holders. Nodes deleted in between are left out.
 * Curator:  InterProcessSemaphoreV2.getParticipantNodes + getData.   Since: 0.1.
 */
ZKR_API int zkr_semaphore_holders(zkr_semaphore *s, zkr_contenders **out);

/**
 * Free a semaphore.
 *
 * @s  taken on success; NULL is a no-op.
 *
 * Returns ZKR_OK, ZKR_EBUSY (tickets of it are not destroyed yet; nothing happened), ZKR_ESTATE (in a forked
 * child).
 *
 * Blocks:   no.
 * Threads:  any; no other call on @s may run or follow.
 * Session:  the client continues to delete released nodes until their deletion is confirmed.
 * Cost:     no request.
 * Curator:  none (garbage collection).   Since: 0.1.
 */
ZKR_API int zkr_semaphore_destroy(zkr_semaphore *s);

#ifdef __cplusplus
}
#endif

#endif
