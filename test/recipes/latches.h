/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for the tests of leader latches. */
#ifndef ZKT_LATCHES_H
#define ZKT_LATCHES_H

#include <stdatomic.h>

#include "fixture.h"
#include "keep.h"

/* The reports of the callbacks of a latch. */
struct zkt_told {
    atomic_int gains, losses, failures, code;
    atomic_int reason;     /* reason of the last loss */
    _Atomic int64_t token; /* token of the last gain */
    _Atomic int64_t lost_at_ms;
    atomic_int bad; /* callbacks out of order, or for a wrong term */
};

static inline void end_kept_latch(void *l)
{
    ZKT_MUST(zkr_leader_latch_stop(l, ZKR_LATCH_SILENT));
    ZKT_MUST(zkr_leader_latch_destroy(l));
}

/* Create a latch on the path of the test. The latch ends with the case. @o may be NULL. */
static inline zkr_leader_latch *
zkt_latch(zkr_client *c, const char *id, const zkr_leader_latch_options *o)
{
    zkr_leader_latch *l = NULL;
    ZKT_MUST(zkr_leader_latch_create(&l, c, zkt_path(), id, o));
    zkt_keep(l, end_kept_latch);
    return l;
}

#define ZKT_LATCH_WITH(c, id, ...)                                                     \
    zkt_latch((c), (id),                                                               \
              &(const zkr_leader_latch_options){                                       \
                  .size = sizeof(zkr_leader_latch_options), __VA_ARGS__})

static inline void zkt_on_gain(zkr_leader_latch *l, int64_t token, void *ctx)
{
    struct zkt_told *t = ctx;
    bool turn = atomic_load(&t->gains) == atomic_load(&t->losses);
    atomic_fetch_add(&t->bad, !turn || token < atomic_load(&t->token));
    atomic_store(&t->token, token);
    atomic_fetch_add(&t->gains, 1);
}

static inline void zkt_on_loss(zkr_leader_latch *l, const zkr_lost *lost, void *ctx)
{
    struct zkt_told *t = ctx;
    bool turn = atomic_load(&t->gains) == atomic_load(&t->losses) + 1;
    atomic_fetch_add(&t->bad, !turn || lost->fencing_token != atomic_load(&t->token) ||
                                  lost->node[0] != '/');
    int64_t token = 0;
    if (zkr_leader_latch_fencing_token(l, &token) == ZKR_OK) {
        /* The latch leads again: in a later term, or in the same term after a suspension. */
        atomic_fetch_add(&t->bad, token < lost->fencing_token);
    }
    atomic_store(&t->reason, (int)lost->reason);
    atomic_store(&t->lost_at_ms, zkt_now_ms());
    atomic_fetch_add(&t->losses, 1);
}

static inline void zkt_on_failed(zkr_leader_latch *l, int code, void *ctx)
{
    struct zkt_told *t = ctx;
    atomic_store(&t->code, code);
    atomic_fetch_add(&t->failures, 1);
}

/* Create a latch whose callbacks record in @t. @more contains further options and may be NULL. */
static inline zkr_leader_latch *zkt_telling_latch(zkr_client *c,
                                                  const char *id,
                                                  struct zkt_told *t,
                                                  const zkr_leader_latch_options *more)
{
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    if (more) {
        o = *more;
    }
    *t = (struct zkt_told){0};
    o.on_gain = zkt_on_gain;
    o.on_loss = zkt_on_loss;
    o.on_failed = zkt_on_failed;
    o.ctx = t;
    return zkt_latch(c, id, &o);
}

/* Destroy a latch that is stopped. */
static inline void zkt_destroy_latch(zkr_leader_latch *l)
{
    zkt_unkeep(l);
    ZKT_MUST(zkr_leader_latch_destroy(l));
}

static inline void zkt_lead(zkr_leader_latch *l)
{
    enum { PATIENCE_MS = 20000 };
    ZKT_MUST(zkr_leader_latch_start(l));
    ZKT_MUST(zkr_leader_latch_await(l, PATIENCE_MS));
}

static inline void zkt_end_latch(zkr_leader_latch *l)
{
    zkt_unkeep(l);
    end_kept_latch(l);
}

#endif
