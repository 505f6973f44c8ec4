/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_LIES_H
#define ZKT_LIES_H

#include <stdatomic.h>

#include "proxy.h"

/* A proxy whose server lies: on their way to libzookeeper, answers are changed into impossible ones. */

enum zkt_lie_kind {
    ZKT_LIE_TIMEOUT,  /* number: the session timeout of a connection */
    ZKT_LIE_SESSION,  /* number: the session of a connection */
    ZKT_LIE_PATH,     /* text: the path of the new node */
    ZKT_LIE_DIGITS,   /* text: the digits of the number of the new node */
    ZKT_LIE_CZXID,    /* number: the transaction that created the new node */
    ZKT_LIE_OWNER,    /* number: the session that owns the new node */
    ZKT_LIE_CODE,     /* number: the code with which the create has failed */
    ZKT_LIE_REFUSED,  /* number: the code with which a request of this op failed */
    ZKT_LIE_UNKNOWN,  /* the server lacks all operations that create a node */
    ZKT_LIE_FEW,      /* a transaction has only one result */
    ZKT_LIE_NAMES,    /* text: the only child */
    ZKT_LIE_NO_NAMES, /* there are no children */
    /* A read does not find a node of a session other than ours (number). */
    ZKT_LIE_NO_STRANGER
};

struct zkt_lie {
    enum zkt_lie_kind kind;
    const char *text;
    int64_t number;
    int op;          /* operation of the protocol */
    int times;       /* how often at most; 0 = always */
    atomic_int told; /* how often the lie was told so far */
};

/** From now on, change answers according to @lie. @lie must exist until the next call. NULL = stop lying. */
void zkt_proxy_lie(zkt_proxy *p, struct zkt_lie *lie);

#endif
