/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_LIES_H
#define ZKT_LIES_H

#include <stdatomic.h>

#include "proxy.h"

/* A proxy whose server lies: answers are changed, on their way to libzookeeper, into what cannot be. */

enum zkt_lie_kind {
    ZKT_LIE_TIMEOUT,  /* a connection has this session timeout: number */
    ZKT_LIE_SESSION,  /* a connection has this session: number */
    ZKT_LIE_PATH,     /* the new node is at this path: text */
    ZKT_LIE_DIGITS,   /* the number of the new node reads so: text */
    ZKT_LIE_CZXID,    /* the new node was made by this transaction: number */
    ZKT_LIE_OWNER,    /* the new node belongs to this session: number */
    ZKT_LIE_CODE,     /* the create has failed with this code: number */
    ZKT_LIE_REFUSED,  /* a request by this op has failed with this code: number */
    ZKT_LIE_UNKNOWN,  /* the server knows no operation that makes a node */
    ZKT_LIE_FEW,      /* a transaction has but one result */
    ZKT_LIE_NAMES,    /* the only child is this: text */
    ZKT_LIE_NO_NAMES, /* there are no children */
    ZKT_LIE_NO_STRANGER /* a node of another session is not there when it is read; ours: number */
};

struct zkt_lie {
    enum zkt_lie_kind kind;
    const char *text;
    int64_t number;
    int op;          /* of the protocol */
    int times;       /* at most; 0 = always */
    atomic_int told; /* so far */
};

/** Tell @lie from now on; @lie lives as long as it is told. NULL = the truth. */
void zkt_proxy_lie(zkt_proxy *p, struct zkt_lie *lie);

#endif
