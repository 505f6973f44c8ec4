/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by hold.c and hold_kinds.c. */
#ifndef ZKT_HOLD_IMPL_H
#define ZKT_HOLD_IMPL_H

#include <pthread.h>

#include "hold.h"

/* The reports of callbacks about the holds of one object. */
struct zkt_tales {
    atomic_int gains, losses, reason, failed;
    atomic_int wrong; /* calls in the wrong order */
    _Atomic int64_t token;
    char node[256];
};

/* The functions of a kind. All except make and unmake run in the thread of the hold. */
struct zkt_kind {
    const char *name;
    enum zkt_kinds waits_for;
    int (*make)(struct zkt_hold *h);
    int (*unmake)(struct zkt_hold *h);
    int nodes; /* number of nodes of one holder */
    /* Parents of nodes, below the path. The children of the first parent are the queue. */
    const char *parents[4];
    int (*acquire)(struct zkt_hold *h, int64_t timeout_ms);
    int (*release)(struct zkt_hold *h);
    void (*cancel)(struct zkt_hold *h);
    int64_t (*valid_for_ms)(struct zkt_hold *h);
    bool (*is_sure)(struct zkt_hold *h);
    int (*token)(struct zkt_hold *h, int64_t *token);
    int (*node)(struct zkt_hold *h, char *buf, size_t size);
    int (*request)(struct zkt_hold *h,
                   int64_t timeout_ms,
                   zkr_ticket **t); /* of kinds with tickets */
};

struct zkt_hold {
    const struct zkt_kind *kind;
    zkr_client *c;
    char path[192];
    struct zkt_hold *owner; /* owner of the object; NULL = this hold itself */
    void *object;
    zkr_mutex *m; /* the mutex by which the thread holds */
    _Atomic(zkr_ticket *) t;
    struct zkt_tales *tales;
    atomic_bool canceled;
    bool holds, asked, watched;
    /* The thread of the hold. */
    pthread_t thread;
    pthread_mutex_t mu;
    pthread_cond_t news;
    int (*todo)(struct zkt_hold *h, void *arg);
    void *arg;
    int64_t timeout_ms;
    int rc;
    bool busy, ends, ended;
};

extern const struct zkt_kind zkt_kinds[ZKT_KINDS + 1];

#endif
