/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ticket.h
 * A place in the queue of a lock, and the hold that it becomes, owned by whoever has the handle.
 *
 * What zkr_mutex_acquire() does for a thread, a ticket does without one: it is asked for, waits in
 * the same queue as threads and other tickets of all processes, first come, first served, and becomes
 * a hold that any thread may use and release. For programs with an event loop, and for holds that
 * one thread takes and another gives back.
 *
 * A ticket is not re-entrant: two tickets exclude each other, and exclude threads, also where all
 * are of one mutex object.
 *
 * **States.** A ticket waits until the lock is granted or its time-out has passed: ZKR_TICKET_HELD or
 * ZKR_TICKET_FAILED. A hold can be lost, for the reasons that mutex.h gives: ZKR_TICKET_LOST. Each
 * ends with zkr_ticket_release(): ZKR_TICKET_RELEASED. A grant counts as had from the moment when
 * somebody is told: the callback, a return of zkr_ticket_wait(), a zkr_ticket_state() that says
 * so, or another question of this header. One that is over before that costs nothing but time: the
 * ticket queues again by itself, within its time-out.
 *
 * **Memory.** A ticket that waits takes no thread, about 700 bytes, and the length of its node's path
 * twice, or once behind another ticket or thread of the same client: less than 1 KiB with paths of up to
 * 150 bytes. libzookeeper keeps two watches for it beside that, or one. Besides, a client keeps half a KiB
 * for the metrics of each path, of up to 1000.
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

/** Where a ticket stands. */
enum zkr_ticket_state {
    ZKR_TICKET_WAITING = 1, /**< in the queue, or on its way into it */
    ZKR_TICKET_HELD = 2,
    ZKR_TICKET_FAILED = 3,  /**< not granted: zkr_ticket_error() says why */
    ZKR_TICKET_LOST = 4,    /**< it was held, and is no more */
    ZKR_TICKET_RELEASED = 5 /**< by zkr_ticket_release() */
};

/**
 * Called on the client's dispatch thread with ZKR_TICKET_HELD or ZKR_TICKET_FAILED, once, and
 * after ZKR_TICKET_HELD at most once more, with ZKR_TICKET_LOST. HELD means that the ticket surely held
 * at that moment, or that somebody had been told so before.
 *
 * It may call anything but what blocks, and may release and destroy @t. After zkr_ticket_release()
 * no call begins; one that has begun may still run.
 */
typedef void (*zkr_ticket_fn)(zkr_ticket *t, int state, void *ctx);

/**
 * Ask for the lock, and do not wait for it.
 *
 * @m           borrowed until the ticket is destroyed.
 * @timeout_ms  milliseconds until the ticket fails unless it is granted; ZKR_FOREVER = no limit;
 *              0 = one try, as zkr_mutex_acquire() has it.
 * @fn          is told of the outcome; NULL = nobody.
 * @ctx         for @fn.
 * @out         the ticket on success; end it with zkr_ticket_destroy().
 *
 * The outcome is the ticket's, never this call's, also where it is known at once (a try without a
 * connection): zkr_ticket_error() has the codes of zkr_mutex_acquire(), ZKR_ETIMEDOUT and
 * ZKR_ENOANSWER at the time-out.
 *
 * @fn is not called before @out is set and this call has done all that it does: requested on the
 * dispatch thread, not before the callback that requests has returned; requested on another, @fn may run
 * while this call returns, as no library can tell what follows the return. A lock of the program's own
 * that is held around this call and taken in @fn puts them in order.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESTATE (in a forked child). On an error @fn is
 * never called.
 *
 * Blocks:   no.
 * Threads:  any, callbacks included. The owner text of the node names the calling one.
 * Session:  as zkr_mutex_acquire(): a session that ends costs the place, and the ticket queues again.
 * Cost:     1 round trip when free, 2 until it is queued behind others; none is waited for.
 * Curator:  InterProcessSemaphoreMutex, whose holder is no thread either.   Since: 0.1.
 */
ZKR_API int zkr_mutex_request(zkr_mutex *m,
                              int64_t timeout_ms,
                              zkr_ticket_fn fn,
                              void *ctx,
                              zkr_ticket **out);

/**
 * Wait until the ticket is held or will not be.
 *
 * @t           borrowed.
 * @timeout_ms  of this wait, not of the ticket; 0 = only look, ZKR_FOREVER = no limit.
 *
 * Returns ZKR_OK (held), ZKR_ETIMEDOUT (this wait's time has passed, or the ticket's: zkr_ticket_state()
 * tells which), ZKR_ECANCELED (released, before or meanwhile), ZKR_ESESSION (lost), the
 * code of zkr_ticket_error() when the ticket has failed, ZKR_EINVAL, ZKR_ESYS, ZKR_ESTATE (in a
 * callback, or in a forked child).
 *
 * Blocks:   yes, with no internal lock held.
 * Threads:  any number at once.
 * Cost:     no request.
 * Curator:  InterProcessSemaphoreMutex.acquire.   Since: 0.1.
 */
ZKR_API int zkr_ticket_wait(zkr_ticket *t, int64_t timeout_ms);

/**
 * Give the hold back, or leave the queue.
 *
 * @t  borrowed; it still has to be destroyed.
 *
 * Returns ZKR_OK, also when it waited, had failed or was released before; ZKR_ESESSION (the hold
 * had been lost; each further call says so again), ZKR_EINVAL, ZKR_ESTATE (in a forked child).
 *
 * Blocks:   no, whatever options.wait_on_release says, nor for a callback that runs; zkr_client_flush()
 *           waits until the node is gone.
 * Threads:  any, callbacks of @t included; threads in zkr_ticket_wait() return.
 * Session:  the delete is repeated in the background until it is confirmed.
 * Cost:     0 round trips waited for; 1 request.
 * Curator:  InterProcessSemaphoreMutex.release.   Since: 0.1.
 */
ZKR_API int zkr_ticket_release(zkr_ticket *t);

/**
 * Where it stands.
 *
 * @t  borrowed.
 *
 * Returns a ZKR_TICKET_ state; ZKR_EINVAL for NULL, ZKR_ESTATE in a forked child. ZKR_TICKET_HELD
 * is surely so now.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  InterProcessSemaphoreMutex.isAcquiredInThisProcess.   Since: 0.1.
 */
ZKR_API int zkr_ticket_state(zkr_ticket *t);

/**
 * Why it is not held.
 *
 * @t  borrowed.
 *
 * Returns ZKR_OK while it waits or is held, and when it was released while held; the reason when it has
 * failed; ZKR_ESESSION when it was lost; ZKR_ECANCELED when it was released before it was held;
 * ZKR_EINVAL for NULL; ZKR_ESTATE in a forked child. zkr_last_error() has the reason in words.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none (an exception).   Since: 0.1.
 */
ZKR_API int zkr_ticket_error(zkr_ticket *t);

/**
 * For how long from now the ticket surely holds. See zkr_client_valid_for_ms().
 *
 * @t  borrowed.
 *
 * Returns milliseconds, 0 = not surely held, ZKR_UNKNOWN = held, but the client's probes are turned off.
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
 * Returns ZKR_OK, ZKR_ESTATE (not held: it waits, has failed, was released, or in a forked child),
 * ZKR_ESESSION (lost), ZKR_EINVAL.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_ticket_fencing_token(zkr_ticket *t, int64_t *token);

/**
 * Why the hold of a ticket was lost, and what the client had observed by then.
 *
 * @t     borrowed; its fn has been told ZKR_TICKET_LOST, or zkr_ticket_state() says so.
 * @out   filled on success; what it points to lives until @t is destroyed or asked again.
 * @size  sizeof(zkr_lost) of the caller; a smaller (older) one is filled as far as it goes, the rest of a larger one is
 *        zeroed.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ESTATE (it was not lost, or is released by now; or in a forked child).
 *
 * Blocks:   no.   Threads:  any.
 * Session:  of several nodes (permits, a multi-lock) the one that went first tells.
 * Cost:     no request.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_ticket_lost(zkr_ticket *t, zkr_lost *out, size_t size);

/**
 * The full path of the node by which the ticket holds.
 *
 * @t     borrowed.
 * @buf   filled on success, always terminated.
 * @size  bytes at @buf.
 *
 * Returns as zkr_ticket_fencing_token(), and ZKR_EINVAL also when @buf is too small.
 *
 * Blocks:   no.   Threads:  any.
 * Cost:     no request.
 * Curator:  Lease.getNodeName.   Since: 0.1.
 */
ZKR_API int zkr_ticket_node(zkr_ticket *t, char *buf, size_t size);

/**
 * Free a ticket that neither waits nor holds.
 *
 * @t  taken on success; NULL is a no-op. Callbacks that wait to be called are dropped, one that
 *     runs is waited for (except when called from it).
 *
 * Returns ZKR_OK, ZKR_EBUSY (it waits, is held or is waited on: release it first; nothing
 * happened), ZKR_ESTATE (in a forked child).
 *
 * Blocks:   only for a running callback of @t.
 * Threads:  any; no other call on @t may run or follow.
 * Session:  a released node that is not yet confirmed gone stays with the client.
 * Cost:     no request.
 * Curator:  none (garbage collection).   Since: 0.1.
 */
ZKR_API int zkr_ticket_destroy(zkr_ticket *t);

#ifdef __cplusplus
}
#endif

#endif
