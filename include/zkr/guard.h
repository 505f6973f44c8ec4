/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file guard.h
 * Writes to ZooKeeper that succeed only while the lock is held. zkr_client_get() (node.h) reads the data that earlier
 * holders wrote.
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
 * Make @op the first operation of your own zoo_multi() or zoo_amulti(), on any handle with the same chroot. Once the
 * hold is over, the whole multi fails with ZNONODE, whatever the clocks show. Wait for the answer of the multi before
 * you release, because after the release, the next thread of the same client holds the lock at once, while the
 * servers are still deleting the node of this hold. With options.keep_ms, the node outlives the hold, and the check
 * fails only after the lock has left the client.
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
 * Fill @op with a check that fails unless the lock node of a ticket's hold exists. See zkr_mutex_guard().
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
 * Write only while the calling thread holds @m. This function sends a zoo_multi() on the client's own session, with the
 * check of zkr_mutex_guard() before the operations.
 *
 * The servers execute all operations or none. They apply the writes before a later release, so the next holder sees
 * them.
 *
 * @m           borrowed.
 * @count       number of operations; 0 = only check on the servers that the hold still exists.
 * @ops         made with zoo_create_op_init(), zoo_delete_op_init(), zoo_set_op_init() and zoo_check_op_init();
 *              borrowed during the call, with all data that they point to. Paths are relative to the client's chroot.
 * @results     one for each of @ops, filled when the servers have answered, like the buffers and Stats that @ops point
 *              to; NULL = not wanted.
 * @timeout_ms  milliseconds for the whole call; ZKR_FOREVER = no limit; 0 = one try, as in zkr_mutex_acquire().
 *
 * Returns ZKR_OK (all operations were executed).
 *
 * Returns one of these if nothing was written: ZKR_ENOTOWNER, ZKR_ESESSION (the hold is over), ZKR_ENOANSWER (no
 * connection in time), ZKR_EINVAL (also for operations that libzookeeper cannot do in a multi, such as creating
 * containers), ZKR_ENOMEM, ZKR_ESYS, ZKR_ESTATE (in a callback, or in a forked child), or the code of the first of @ops
 * that failed: ZKR_ENONODE, ZKR_EEXIST, ZKR_EAUTH, ZKR_EZK() for others.
 *
 * Returns one of these if the outcome is unknown: ZKR_ECONNLOSS (the connection broke or the timeout passed before the
 * answer), ZKR_ECLOSED (zkr_client_shutdown(); calls that begin after the shutdown have written nothing).
 *
 * If you release while an answer is outstanding, the lock is not handed over at once: the next contender gets it when
 * the servers have executed both the multi and the release.
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
 * Write and release in one transaction. This function is a zkr_mutex_multi() that also deletes the lock node.
 *
 * @m, @count, @ops, @results, @timeout_ms  as in zkr_mutex_multi().
 *
 * Returns the codes of zkr_mutex_multi(), and ZKR_ESTATE also if @m is held more than once. @m is released after
 * ZKR_OK, after ZKR_ESESSION, after ZKR_ECLOSED, and if the outcome is unknown; in the last case, the client deletes
 * the node in the background. After any other code, @m is held as before.
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
 * @count, @ops, @results, @timeout_ms  as in zkr_mutex_multi().
 *
 * Returns the codes of zkr_mutex_multi(), but ZKR_ESTATE if @t is not held.
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
 * zkr_mutex_release_multi() for a ticket. The ticket must still be destroyed.
 *
 * @t                                   borrowed; do not destroy it before this returns.
 * @count, @ops, @results, @timeout_ms  as in zkr_mutex_release_multi().
 *
 * Returns the codes of zkr_mutex_release_multi(), but ZKR_ESTATE if @t is not held.
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
