/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file guard.h
 * Writes to ZooKeeper that only happen while the lock is held.
 *
 * Apart from the other headers because it needs <zookeeper/zookeeper.h>.
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
 * chroot: the whole multi fails with ZNONODE once the hold is over, whatever the clocks say. Have
 * its answer before you release: to the next thread of the same client the lock goes at once,
 * while the node of this hold is still being deleted.
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
 * Write while the calling thread holds @m, and only then: zoo_multi() on the client's own session, with the check of
 * zkr_mutex_guard() ahead of the operations.
 *
 * All are done, or none. What is written is there before a later release is, so that the next holder sees it.
 *
 * @m           borrowed.
 * @count       of the operations; 0 = only ask the servers whether the hold is there.
 * @ops         made with zoo_create_op_init(), zoo_delete_op_init(), zoo_set_op_init() and zoo_check_op_init();
 *              borrowed during the call, with all they point to. Paths are the client's, below its chroot.
 * @results     one for each of @ops, filled with the buffers and Stats that @ops name when the servers have answered;
 *              NULL = not wanted.
 * @timeout_ms  milliseconds for the whole call; ZKR_FOREVER = no limit; 0 = a try, as zkr_mutex_acquire() has it.
 *
 * Returns ZKR_OK; nothing was written: ZKR_ENOTOWNER, ZKR_ESESSION (the hold is over), ZKR_ENOANSWER (no connection in
 * time), ZKR_EINVAL (also for operations that libzookeeper cannot do in a multi, as creations of containers), ZKR_ENOMEM,
 * ZKR_ESYS, ZKR_ESTATE (in a callback, or in a forked child), or the code of the first of @ops that failed: ZKR_ENONODE,
 * ZKR_EEXIST, ZKR_EAUTH, ZKR_EZK() of others; not known: ZKR_ECONNLOSS (the connection or the time went before the
 * answer), ZKR_ECLOSED (zkr_client_shutdown(); of a later call nothing was written).
 *
 * A release that follows while an answer is still missing does not hand the lock over at once: the next one has
 * it when the servers are through with both.
 *
 * Blocks:   yes, with no internal lock held.
 * Threads:  the thread that holds @m.
 * Session:  a session that ends takes the hold along; ZKR_ECONNLOSS when something was on the way.
 * Cost:     1 round trip, which also proves the lease.
 * Curator:  none (CURATOR-689 asks for it).   Since: 0.1.
 */
ZKR_API int zkr_mutex_multi(zkr_mutex *m,
                            int count,
                            const zoo_op_t *ops,
                            zoo_op_result_t *results,
                            int64_t timeout_ms);

/**
 * Write and release, in one transaction: zkr_mutex_multi(), which deletes the node of the hold as well.
 *
 * @m, @count, @ops, @results, @timeout_ms  as there.
 *
 * Returns as zkr_mutex_multi(), and ZKR_ESTATE also when @m is held more than once. @m is released by ZKR_OK, by
 * ZKR_ESESSION, and when it is not known what was written: then the node goes in the background. After all others it
 * is held as before.
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
 * @t                                   borrowed; not to be destroyed before this returns.
 * @count, @ops, @results, @timeout_ms  as there.
 *
 * Returns as zkr_mutex_multi(), but ZKR_ESTATE when @t is not held.
 *
 * Blocks:   yes, with no internal lock held.
 * Threads:  any number at once; in the order of their calls.
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
 * @t                                   borrowed; not to be destroyed before this returns.
 * @count, @ops, @results, @timeout_ms  as there.
 *
 * Returns as zkr_mutex_release_multi(), but ZKR_ESTATE when @t is not held.
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
