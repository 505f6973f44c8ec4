/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transactions of the real door: ZKR__OP_CHECK, ZKR__OP_MULTI and ZKR__OP_CREATES.
 *
 * When the answer arrives, libzookeeper writes results, names of new nodes and Stats to the addresses given at
 * submission. By then the caller may have given up. So these addresses point into the request's scratch memory, and
 * zkr__zk_results() copies the contents for a caller that still waits.
 */
#ifndef ZKR_SESSION_ZK_MULTI_H
#define ZKR_SESSION_ZK_MULTI_H

#include "session/zk.h"

/*
 * Check operations before a submission. Returns ZKR_OK, or ZKR_EINVAL with the thread's last error set. Refuses
 * operations on which libzookeeper would abort or leak: bad paths, creations of containers or of nodes with a time to
 * live, and all operations other than create, delete, set and check.
 */
int zkr__zk_ops_check(const struct zoo_op *ops, size_t count);

/*
 * Fill @results, one for each of @ops, and the buffers and Stats of @ops. Called during the answer to a ZKR__OP_MULTI.
 * If no server answered, all results have the same code.
 */
void zkr__zk_results(const struct zkr__answer *answer,
                     const struct zoo_op *ops,
                     size_t count,
                     struct zoo_op_result *results);

/* --- functions of the door --- */

/* Returns how many bytes of scratch memory @op, a transaction, needs. */
size_t zkr__zk_scratch(const struct zkr__op *op);
/* Send @op on @zh, a zhandle_t. Returns 0 or ZooKeeper's code. */
int zkr__zk_multi_submit(void *zh, const struct zkr__op *op, struct zkr__asker *asker);

#endif
