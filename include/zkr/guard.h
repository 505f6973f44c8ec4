/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file guard.h
 * Writes to ZooKeeper that succeed only while the lock is held. zkr_client_get() (node.h) reads what earlier holders wrote.
 *
 * This header is not part of zkr.h because it needs <zookeeper/zookeeper.h>.
 */
#ifndef ZKR_GUARD_H
#define ZKR_GUARD_H

#include <zookeeper/zookeeper.h>

#include <zkr/export.h>
#include <zkr/mutex.h>
#include <zkr/ticket.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Fill @op with a check that fails unless the lock node of the calling thread's hold exists.
 *
 * Put it first into a zoo_multi() or zoo_amulti() of your own, on any handle with the same
 * chroot. Once the hold is over, the whole multi fails with ZNONODE, whatever the clocks say. Wait for
 * its answer before you release: the next thread of the same client gets the lock at once, while the
 * node of this hold is still being deleted. With options.keep_ms the node outlives the hold: the check fails once the
 * lock has left the client.
 *
 * @m   borrowed.
 * @op  filled on success. It points to a path that lives until the calling thread releases
 *      @m, so send the multi before that.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ENOTOWNER, ZKR_ESESSION (the hold is lost), ZKR_ESTATE
 * (called in a forked child).
 *
 * Blocks:   no.
 * Threads:  the thread that holds @m.
 * Session:  the check fails on the server from the moment the session's nodes are deleted.
 * Cost:     no request; a check inside a multi adds no round trip to it.
 * Curator:  none (CURATOR-689 asks for it).   Since: 0.1.
 */
ZKR_API int zkr_mutex_guard(zkr_mutex *m, struct zoo_op *op);

/**
 * The same for a ticket: a check that fails unless the node of its hold exists.
 *
 * @t   borrowed.
 * @op  filled on success. It points to a path that lives until @t is released, so send the multi
 *      before that.
 *
 * Returns ZKR_OK, ZKR_EINVAL, ZKR_ESTATE (not held, or in a forked child), ZKR_ESESSION (lost).
 *
 * Blocks:   no.
 * Threads:  any.
 * Session:  the check fails on the server from the moment the session's nodes are deleted.
 * Cost:     no request; a check inside a multi adds no round trip to it.
 * Curator:  none (CURATOR-689 asks for it).   Since: 0.1.
 */
ZKR_API int zkr_ticket_guard(zkr_ticket *t, struct zoo_op *op);

/**
 * Write only while the calling thread holds @m: a zoo_multi() on the client's own session, with the check of
 * zkr_mutex_guard() before the operations.
 *
 * All operations are done, or none. The writes come before a later release, so the next holder sees them.
 *
 * @m           borrowed.
 * @count       number of operations; 0 = only ask the servers whether the hold still exists.
 * @ops         made with zoo_create_op_init(), zoo_delete_op_init(), zoo_set_op_init() and zoo_check_op_init();
 *              borrowed during the call, with everything they point to. Paths are relative to the client's chroot.
 * @results     one for each of @ops, with the buffers and Stats that @ops name, filled when the servers have answered;
 *              NULL = not wanted.
 * @timeout_ms  milliseconds for the whole call; ZKR_FOREVER = no limit; 0 = one try, as in zkr_mutex_acquire().
 *
 * Returns ZKR_OK (all was written).
 *
 * Returns one of these if nothing was written: ZKR_ENOTOWNER, ZKR_ESESSION (the hold is over), ZKR_ENOANSWER (no
 * connection in time), ZKR_EINVAL (also for operations that libzookeeper cannot do in a multi, such as creating
 * containers), ZKR_ENOMEM, ZKR_ESYS, ZKR_ESTATE (in a callback, or in a forked child), or the code of the first of @ops
 * that failed: ZKR_ENONODE, ZKR_EEXIST, ZKR_EAUTH, ZKR_EZK() for others.
 *
 * Returns one of these if it is unknown whether it was written: ZKR_ECONNLOSS (the connection was lost or the time was
 * over before the answer), ZKR_ECLOSED (zkr_client_shutdown(); calls that begin after that have written nothing).
 *
 * If you release while an answer is outstanding, the lock is not handed over at once: the next contender gets it
 * when the servers have done both.
 *
 * Blocks:   yes, with no internal lock held.
 * Threads:  the thread that holds @m.
 * Session:  the hold ends with the session; ZKR_ECONNLOSS if a request was in flight.
 * Cost:     1 round trip, which also proves the lease.
 * Curator:  none (CURATOR-689 asks for it).   Since: 0.1.
 */
ZKR_API int zkr_mutex_multi(zkr_mutex *m,
                            int count,
                            const zoo_op_t *ops,
                            zoo_op_result_t *results,
                            int64_t timeout_ms);

/**
 * Write and release in one transaction: zkr_mutex_multi(), which also deletes the node of the hold.
 *
 * @m, @count, @ops, @results, @timeout_ms  as there.
 *
 * Returns as zkr_mutex_multi(), and ZKR_ESTATE also if @m is held more than once. @m is released after ZKR_OK, after
 * ZKR_ESESSION, after ZKR_ECLOSED, and if it is unknown what was written: then the node is deleted in the background.
 * After any other code it is held as before.
 *
 * Blocks:   yes, with no internal lock held.
 * Threads:  the thread that holds @m.
 * Session:  as zkr_mutex_multi().
 * Cost:     1 round trip for both.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_mutex_release_multi(zkr_mutex *m,
                                    int count,
                                    const zoo_op_t *ops,
                                    zoo_op_result_t *results,
                                    int64_t timeout_ms);

/**
 * zkr_mutex_multi() for a ticket.
 *
 * @t                                   borrowed; do not destroy it before this returns.
 * @count, @ops, @results, @timeout_ms  as there.
 *
 * Returns as zkr_mutex_multi(), but ZKR_ESTATE if @t is not held.
 *
 * Blocks:   yes, with no internal lock held.
 * Threads:  any number at once; the writes happen in the order of the calls.
 * Session:  as zkr_mutex_multi().
 * Cost:     1 round trip.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_ticket_multi(zkr_ticket *t,
                             int count,
                             const zoo_op_t *ops,
                             zoo_op_result_t *results,
                             int64_t timeout_ms);

/**
 * zkr_mutex_release_multi() for a ticket, which still has to be destroyed.
 *
 * @t                                   borrowed; do not destroy it before this returns.
 * @count, @ops, @results, @timeout_ms  as there.
 *
 * Returns as zkr_mutex_release_multi(), but ZKR_ESTATE if @t is not held.
 *
 * Blocks:   yes, with no internal lock held.
 * Threads:  any.
 * Session:  as zkr_mutex_multi().
 * Cost:     1 round trip for both.
 * Curator:  none.   Since: 0.1.
 */
ZKR_API int zkr_ticket_release_multi(zkr_ticket *t,
                                     int count,
                                     const zoo_op_t *ops,
                                     zoo_op_result_t *results,
                                     int64_t timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
