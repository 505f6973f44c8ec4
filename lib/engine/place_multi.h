/* SPDX-License-Identifier: Apache-2.0 */
/* Writes of the application that happen only while a place is held: a transaction that checks its nodes first. */
#ifndef ZKR_ENGINE_PLACE_MULTI_H
#define ZKR_ENGINE_PLACE_MULTI_H

#include "engine/place.h"

struct zoo_op;
struct zoo_op_result;

struct zkr__writes {
    size_t count;
    const struct zoo_op *ops;      /* that zkr__zk_ops_check() has let through */
    struct zoo_op_result *results; /* NULL: not wanted */
    int64_t timeout_ms;
    bool release;    /* delete the nodes as well, last */
    bool keep_nodes; /* with release: do not, for others hold by them */
};

/* Before any lock: ZKR_OK, or ZKR_EINVAL with its text. */
int zkr__writes_check(const struct zkr__writes *writes, const char *dir);

/*
 * Send them, and sleep until they are answered; nobody may end the place meanwhile, but it may be left. ZKR_OK, or
 * a code with its text: ZKR_ENOANSWER and ZKR_ENOMEM: nothing was written; ZKR_ESESSION: nor was it, for the hold
 * is over; ZKR_ECONNLOSS, and ZKR_ECLOSED of a client that is shut down: it may have been; else what the server says of the caller's first operation that failed.
 *
 * *@over: with release, the hold is over, so that the place is to be left.
 */
int zkr__place_multi(struct zkr__place *place,
                     const struct zkr__writes *writes,
                     bool *over) ZKR__LOCKED;

#endif
