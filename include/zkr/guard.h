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

#ifdef __cplusplus
}
#endif

#endif
