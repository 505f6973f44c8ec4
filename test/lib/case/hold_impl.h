/* SPDX-License-Identifier: Apache-2.0 */
/* Between hold.c and hold_kinds.c. */
#ifndef ZKT_HOLD_IMPL_H
#define ZKT_HOLD_IMPL_H

#include <pthread.h>

#include "hold.h"

/* What callbacks tell of the holds by one object. */
struct zkt_tales {
    atomic_int gains, losses, reason, failed;
    atomic_int wrong; /* calls out of turn */
    _Atomic int64_t token;
    char node[256];
};

/* What a kind can do; all but make and unmake run in the thread of the hold. */
struct zkt_kind {
    const char *name;
    enum zkt_kinds waits_for;
    int (*make)(struct zkt_hold *h);
    int (*unmake)(struct zkt_hold *h);
    int nodes; /* of one that holds */
    const char *parents
        [4]; /* of nodes, below the path; the first one's children are those who stand in line */
    int (*acquire)(struct zkt_hold *h, int64_t timeout_ms);
    int (*release)(struct zkt_hold *h);
    void (*cancel)(struct zkt_hold *h);
    int64_t (*valid_for_ms)(struct zkt_hold *h);
    bool (*is_sure)(struct zkt_hold *h);
    int (*token)(struct zkt_hold *h, int64_t *token);
    int (*node)(struct zkt_hold *h, char *buf, size_t size);
    int (*request)(struct zkt_hold *h,
                   int64_t timeout_ms,
                   zkr_ticket **t); /* of tickets */
};

struct zkt_hold {
    const struct zkt_kind *kind;
    zkr_client *c;
    char path[192];
    struct zkt_hold *owner; /* of the object; NULL = itself */
    void *object;
    zkr_mutex *m; /* by which its thread holds */
    _Atomic(zkr_ticket *) t;
    struct zkt_tales *tales;
    atomic_bool canceled;
    bool holds, asked, watched;
    /* its thread */
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
