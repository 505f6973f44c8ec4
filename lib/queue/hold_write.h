/* SPDX-License-Identifier: Apache-2.0 */
/* Writes of the application that the servers carry out only while a hold is held. */
#ifndef ZKR_QUEUE_HOLD_WRITE_H
#define ZKR_QUEUE_HOLD_WRITE_H

#include "queue/hold.h"

struct zoo_op;
struct zoo_op_result;

struct zkr__writes {
    size_t count;
    const struct zoo_op *ops;      /* already checked by zkr__zk_ops_check() */
    struct zoo_op_result *results; /* NULL = not wanted */
    int64_t timeout_ms;
    /* End the hold together with the writes by deleting its nodes last. */
    bool release;
    bool even_shut; /* write even if the client is shut down, before or meanwhile */
};

/* Check the arguments of the writes. Called without any lock. Returns ZKR_OK, or ZKR_EINVAL with an error text. */
int zkr__writes_check(const struct zkr__writes *writes, const char *dir);

/*
 * Send the writes, and sleep until they are answered. The hold must not be freed meanwhile, but the owner may leave it.
 * Returns ZKR_OK, or a code with an error text:
 * - ZKR_ENOANSWER, ZKR_ENOMEM: nothing was written.
 * - ZKR_ESESSION: nothing was written, because the hold is over.
 * - ZKR_ECONNLOSS, and ZKR_ECLOSED after a shutdown: the writes may have been made.
 * - Any other code is that of the caller's first failed operation. Nothing was written.
 *
 * Sets *@over if `release` is set and the hold is over, so that the caller must leave it.
 */
int zkr__hold_write(struct zkr__hold *hold,
                    const struct zkr__writes *writes,
                    bool *over) ZKR__LOCKED;

#endif
