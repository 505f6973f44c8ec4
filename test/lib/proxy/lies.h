/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_LIES_H
#define ZKT_LIES_H

#include <stdatomic.h>

#include "proxy.h"

/* A proxy whose server lies: what it answers is changed so that it cannot be, on its way to the real libzookeeper. */

enum zkt_lie_kind {
    ZKT_LIE_TIMEOUT,  /* a connection has this session time-out: number */
    ZKT_LIE_SESSION,  /* this session: number */
    ZKT_LIE_PATH,     /* what was made is at this path: text */
    ZKT_LIE_DIGITS,   /* its number reads so: text */
    ZKT_LIE_CZXID,    /* it was made by this transaction: number */
    ZKT_LIE_OWNER,    /* it belongs to this session: number */
    ZKT_LIE_CODE,     /* the create has failed with this code: number */
    ZKT_LIE_FEW,      /* a transaction has but one result */
    ZKT_LIE_NAMES,    /* the only child is this: text */
    ZKT_LIE_NO_NAMES, /* there are no children */
    ZKT_LIE_NO_STRANGER /* what belongs to another session than number is not there when it is read */
};

struct zkt_lie {
    enum zkt_lie_kind kind;
    const char *text;
    int64_t number;
    int times;       /* at most; 0 = always */
    atomic_int told; /* so far */
};

/** From now on; @lie lives as long. NULL = the truth. */
void zkt_proxy_lie(zkt_proxy *p, struct zkt_lie *lie);

#endif
