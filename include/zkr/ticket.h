/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ticket.h
 * A place in the queue of a lock, and later the hold of that lock. No thread owns a ticket: all code with the handle
 * may use it.
 *
 * A ticket acquires a lock without a waiting thread. After the request, the ticket waits in the same queue as threads
 * and other tickets of all processes, first come, first served. It then becomes a hold that any thread may use and
 * release. Use tickets in programs with an event loop, and for holds that one thread acquires and another releases.
 *
 * A ticket is not re-entrant: two tickets exclude each other, and they exclude threads, even if all of them belong to
 * one mutex object.
 *
 * **States.** A ticket waits until the lock is granted (ZKR_TICKET_HELD) or its timeout has passed (ZKR_TICKET_FAILED).
 * A hold can be lost, for the reasons given in mutex.h (ZKR_TICKET_LOST). Every ticket ends with zkr_ticket_release()
 * (ZKR_TICKET_RELEASED). A grant takes effect when the application first learns of it, through the callback or through
 * a return of zkr_ticket_wait(), zkr_ticket_state() or another function of this header. If the hold is lost earlier,
 * the ticket only loses time, because it queues again within its timeout.
 *
 * **Memory.** A waiting ticket needs no thread. It takes about 700 bytes plus twice the length of its node's path, or
 * once the length if it waits behind another ticket or thread of the same client. This is less than 1 KiB for paths of
 * up to 150 bytes. libzookeeper keeps one or two watches for the ticket, and a client needs up to 22 bytes for each
 * watch. In addition, a client keeps half a KiB for the metrics of each path, for up to 1000 paths.
 *
 * **Limits.** The nodes of one client may take 1,000,000 bytes. A node takes 4 bytes and the length of its path, with
 * the chroot. For a mutex, the path of a node is 56 bytes longer than the path of the lock: 11,000 tickets fit on paths
 * of 30 characters, and 7,000 on paths of 80. A node of a zkr_rwlock takes 3 more bytes, a node of a latch 1 more, and
 * a permit 8 more. The limit also includes the nodes of threads, latches and selectors, kept nodes (options.keep_ms),
 * and requests that wait for a kept node. A node counts from its request until its delete is confirmed. A request
 * without room fails with ZKR_ELIMIT; use a second client. The limit exists because the servers write the paths of all
 * nodes into one transaction when the session ends. If this transaction is longer than jute.maxbuffer (1 MiB by
 * default), the servers crash and cannot start again. If jute.maxbuffer is set lower, one client must have fewer nodes.
 *
 * The needed watches of one client may take 850,000 bytes (client.h). A watch takes 4 bytes and the length of its path,
 * like the node that it watches. These watches are needed:
 *
 * | ticket | watch |
 * |---|---|
 * | directly behind a node of another client | on that node; tickets behind the same node share the watch |
 * | behind a ticket of its own client | none |
 * | with options.watch_node or on_revoke | on its own node, from the request on |
 * | for several locks, at least one of which is not free | on its own node at each free path |
 * | for permits, if too few are free | one on the leases of each semaphore; for the first in line, also on its node in `PATH/locks` |
 *
 * If each ticket of a mutex waits on a separate path, behind another client, 9,400 tickets fit on paths of 30
 * characters, and 6,000 on paths of 80. On paths of 100 characters, 5,000 tickets fit, whether they hold, wait in one
 * queue or wait on separate paths. A ticket without room for a needed watch fails with ZKR_ELIMIT, at the request or
 * while it waits. The tickets behind it keep their places.
 *
 * Any other ticket watches its own node only if there is room. Without this watch, a waiting ticket notices the
 * deletion of its node only at its turn, and then queues again. A held ticket notices the deletion at the next lease
 * probe, and does not notice a revocation request.
 */
#ifndef ZKR_TICKET_H
#define ZKR_TICKET_H

#include <stddef.h>
#include <stdint.h>

#include <zkr/export.h>
#include <zkr/mutex.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zkr_ticket zkr_ticket;

/** States of a ticket. */
enum zkr_ticket_state {
    ZKR_TICKET_WAITING = 1, /**< in the queue, or about to join it */
    ZKR_TICKET_HELD = 2,
    ZKR_TICKET_FAILED = 3,   /**< not granted; zkr_ticket_error() returns the reason */
    ZKR_TICKET_LOST = 4,     /**< it was held, but was lost */
    ZKR_TICKET_RELEASED = 5, /**< after zkr_ticket_release() */
    ZKR_TICKET_QUEUED = 6,   /**< only in callbacks: WAITING, behind others */
    ZKR_TICKET_WARNED = 7 /**< only in callbacks: HELD, but the lease is about to end */
};

/**
 * Called on the client's dispatch thread: once with ZKR_TICKET_HELD or ZKR_TICKET_FAILED, and after ZKR_TICKET_HELD at
 * most once more, with ZKR_TICKET_LOST. HELD means that the ticket was certain to hold the lock at that moment, or that
 * another function had already reported HELD. With options.tell_queued of the lock, a call with ZKR_TICKET_QUEUED may
 * come first, if others are ahead; zkr_ticket_position() returns their number. With options.warn_ms of the lock, a call
 * with ZKR_TICKET_WARNED may follow ZKR_TICKET_HELD when less than warn_ms of the lease is left. Save the data that the
 * lock protects. The ticket is certain to hold the lock at that moment, and zkr_ticket_valid_for_ms() returns the
 * remaining lease. lease.h explains the rules.
 *
 * The callback may call every function that does not block, and it may release and destroy @t. No callback begins after
 * zkr_ticket_release(), but a callback that has begun may still be running.
 */
typedef void (*zkr_ticket_fn)(zkr_ticket *t, int state, void *ctx);

/**
 * Request the lock, without waiting for it.
 *
 * @m           borrowed until the ticket is destroyed.
 * @timeout_ms  milliseconds after which the ticket fails if it has not been granted; ZKR_FOREVER = no limit; 0 = one
 *              try, as in zkr_mutex_acquire().
 * @fn          called with the outcome; NULL = none.
 * @ctx         passed to @fn.
 * @out         the ticket on success; end it with zkr_ticket_destroy().
 *
 * The outcome is a state of the ticket, never a return code of this call, even if the outcome is known at once (as for
 * a try without a connection). zkr_ticket_error() returns the codes of zkr_mutex_acquire(); at the timeout, it returns
 * ZKR_ETIMEDOUT or ZKR_ENOANSWER.
 *
 * @fn is never called before @out is set. If you call this function on the dispatch thread, @fn is called after your
 * callback has returned. If you call it on another thread, @fn may run while this call returns. To make @fn wait for
 * the return, hold your own lock during this call, and take that lock in @fn.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESTATE (in a forked child). On an error @fn is
 * never called.
 *
 * Blocks:   no.
 * Threads:  any, including callbacks. The default owner text names the calling thread.
 * Session:  as zkr_mutex_acquire(): if the session ends, the ticket queues again at the tail.
 * Cost:     1 round trip if free; 2 until it is queued behind others. The call does not wait.
 * Curator:  InterProcessSemaphoreMutex, which also has no owning thread.   Since: 0.1.
 */
ZKR_API int zkr_mutex_request(zkr_mutex *m,
                              int64_t timeout_ms,
                              zkr_ticket_fn fn,
                              void *ctx,
                              zkr_ticket **out);

/**
 * Wait until the ticket is held, has failed, or was lost or released.
 *
 * @t           borrowed.
 * @timeout_ms  limit of this wait, not of the ticket; 0 = only check, ZKR_FOREVER = no limit.
 *
 * Returns ZKR_OK (held), ZKR_ETIMEDOUT (the timeout of this wait or of the ticket has passed; zkr_ticket_state() shows
 * which), ZKR_ECANCELED (released before or during the wait), ZKR_ESESSION (lost), the code of zkr_ticket_error() if
 * the ticket has failed, ZKR_EINVAL, ZKR_ESYS, ZKR_ESTATE (in a callback, or in a forked child).
 *
 * Blocks:   yes, with no internal lock held.
 * Threads:  any number at once.
 * Cost:     no request.
 * Curator:  InterProcessSemaphoreMutex.acquire.   Since: 0.1.
 */
ZKR_API int zkr_ticket_wait(zkr_ticket *t, int64_t timeout_ms);

/**
 * Release the hold, or leave the queue.
 *
 * @t  borrowed; it must still be destroyed.
 *
 * Returns ZKR_OK, also if the ticket was waiting, had failed or was released before; ZKR_ESESSION (the hold was lost;
 * further calls also return this code), ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no, neither with options.wait_on_release nor for a running callback. zkr_client_flush() waits until the
 *           node is deleted.
 * Threads:  any, including callbacks of @t; threads in zkr_ticket_wait() return.
 * Session:  the client repeats the delete in the background until it is confirmed.
 * Cost:     0 round trips waited for; 1 request.
 * Curator:  InterProcessSemaphoreMutex.release.   Since: 0.1.
 */
ZKR_API int zkr_ticket_release(zkr_ticket *t);

/**
 * The state of a ticket.
 *
 * @t  borrowed.
 *
 * Returns one of ZKR_TICKET_…; ZKR_EINVAL for NULL, ZKR_ESTATE in a forked child. ZKR_TICKET_HELD means that the ticket
 * is certain to hold the lock now.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  InterProcessSemaphoreMutex.isAcquiredInThisProcess.   Since: 0.1.
 */
ZKR_API int zkr_ticket_state(zkr_ticket *t);

/**
 * The number of contenders ahead of a ticket when the client last listed the queue.
 *
 * @t      borrowed.
 * @ahead  filled on success: 0 = held, 1 = next.
 *
 * The number may be too high. A client lists the queue when it joins and when its turn is near; until then, contenders
 * that leave the middle of the queue still count. The number is never too low, because new contenders join at the tail.
 * With options.tell_queued of the lock, the number becomes 1 as soon as the data of the node directly ahead show that
 * its contender holds. For a multi-lock, the number refers to its longest queue. For permits, it is the number of
 * requests ahead in the queue for permits.
 *
 * Returns ZKR_OK, ZKR_ENOANSWER (no server has answered yet), ZKR_ESTATE (the ticket does not wait and is not held, or
 * in a forked child), ZKR_EINVAL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.2.
 */
ZKR_API int zkr_ticket_position(zkr_ticket *t, int64_t *ahead);

/**
 * The contender directly ahead of a ticket, as the client last saw it. Needs options.tell_queued of the lock.
 *
 * @t    borrowed.
 * @out  filled on success with a list of one entry, owned by the caller; free it with zkr_contenders_free().
 *
 * A waiting client watches and reads the node directly ahead of its own node. It reads the node again when its data
 * change, for example when the holder adds the time of the grant. `holds` is true if that node was the first in the
 * queue. If a ticket or thread of the same client is directly ahead, the entry describes it, with a `created_ms` of 0.
 * Node data of more than 512 bytes are left out. For a multi-lock, the entry is the contender directly ahead in its
 * longest queue.
 *
 * Returns ZKR_OK, ZKR_ENOANSWER (no server has answered yet; the ticket waits for permits, not behind a node; or the
 * lock has no tell_queued), ZKR_ESTATE (the ticket does not wait, or in a forked child), ZKR_ENOMEM, ZKR_EINVAL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.2.
 */
ZKR_API int zkr_ticket_ahead(zkr_ticket *t, zkr_contenders **out);

/**
 * The reason why a ticket is not held.
 *
 * @t  borrowed.
 *
 * Returns ZKR_OK while the ticket waits or is held, and if it was released while held; the reason if it has failed;
 * ZKR_ESESSION if it was lost; ZKR_ECANCELED if it was released before it was held; ZKR_EINVAL for NULL; ZKR_ESTATE in
 * a forked child. zkr_last_error() then returns the reason as text.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none (an exception).   Since: 0.1.
 */
ZKR_API int zkr_ticket_error(zkr_ticket *t);

/**
 * The remaining lease: the time for which the ticket is guaranteed to hold the lock. See zkr_client_valid_for_ms().
 *
 * @t  borrowed.
 *
 * Returns milliseconds; 0 = not certain to be held; ZKR_UNKNOWN = held, but the client's probes are turned off.
 *
 * Blocks:   no.   Threads:  any.
 * Session:  reaches 0 before any server can have given the lock away.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int64_t zkr_ticket_valid_for_ms(zkr_ticket *t);

/**
 * The fencing token of the hold: the czxid of its node. See zkr_mutex_fencing_token().
 *
 * @t      borrowed.
 * @token  filled on success.
 *
 * Returns ZKR_OK, ZKR_ESTATE (the ticket waits, has failed or was released; or in a forked child),
 * ZKR_ESESSION (lost), ZKR_EINVAL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_ticket_fencing_token(zkr_ticket *t, int64_t *token);

/**
 * The number of the hold among the holds with the same node. See zkr_mutex_pass(); always 1 for recipes other than a
 * mutex.
 *
 * @t     borrowed.
 * @pass  filled on success.
 *
 * Returns the same codes as zkr_ticket_fencing_token().
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.2.
 */
ZKR_API int zkr_ticket_pass(zkr_ticket *t, int64_t *pass);

/**
 * The reason why the hold of a ticket was lost, and the observations of the client.
 *
 * @t     borrowed; its state is ZKR_TICKET_LOST.
 * @out   filled on success; its pointers are valid until @t is destroyed or this function is called again.
 * @size  sizeof(zkr_lost) of the caller. A smaller (older) struct gets only the first fields; the rest of a larger
 *        struct is zeroed.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESTATE (the ticket was not lost, or was released; or in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Session:  for a ticket with several nodes (permits, a multi-lock), the loss is that of the first lost node.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_ticket_lost(zkr_ticket *t, zkr_lost *out, size_t size);

/**
 * The full path of the node through which the ticket holds the lock.
 *
 * @t     borrowed.
 * @buf   filled on success, always terminated.
 * @size  bytes at @buf.
 *
 * Returns the codes of zkr_ticket_fencing_token(), and ZKR_EINVAL also if @buf is too small.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  Lease.getNodeName.   Since: 0.1.
 */
ZKR_API int zkr_ticket_node(zkr_ticket *t, char *buf, size_t size);

/**
 * Free a ticket that neither waits nor holds.
 *
 * @t  taken on success; NULL is a no-op. The call drops pending callbacks. It waits for a running callback, unless that
 *     callback makes the call.
 *
 * Returns ZKR_OK, ZKR_EBUSY (the ticket waits or is held, or a thread waits for it: release it first; nothing
 * happened), ZKR_ESTATE (in a forked child).
 *
 * Blocks:   only for a running callback of @t.
 * Threads:  any; no other call on @t may run or follow.
 * Session:  the client continues to delete a released node until the deletion is confirmed.
 * Cost:     no request.
 * Curator:  none (garbage collection).   Since: 0.1.
 */
ZKR_API int zkr_ticket_destroy(zkr_ticket *t);

#ifdef __cplusplus
}
#endif

#endif
