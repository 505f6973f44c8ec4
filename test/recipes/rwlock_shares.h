/* SPDX-License-Identifier: Apache-2.0 */
/* Read-write locks with share_readers, and threads that read by them. */
#ifndef ZKT_RWLOCK_SHARES_H
#define ZKT_RWLOCK_SHARES_H

#include <zkr/guard.h>

#include "hold.h"
#include "recipes/mutex.h"
#include "rwlocks.h"

enum { SESSION_MS = 30000, PATIENCE_MS = 30000, HOUR_MS = 3600000 };

/* Holds may be joined for @open_ms; 0 = for as long as the library has it. */
static inline struct sides
shares_with(zkr_client *c, int64_t open_ms, zkr_rwlock_options o)
{
    o.size = sizeof(o);
    o.share_readers = 1;
    struct sides s = sides_with(c, &o);
    if (open_ms > 0) {
        s.r->lock.share_ms = open_ms;
    }
    return s;
}

static inline struct sides shares_of(zkr_client *c, int64_t open_ms)
{
    return shares_with(c, open_ms, (zkr_rwlock_options){0});
}

/* Readers, each a thread, by the lock; none reads yet. */
static inline void
readers_of(struct zkt_hold **w, int count, zkr_client *c, const struct sides *s)
{
    for (int i = 0; i < count; i++) {
        w[i] = zkt_hold_by(c, s->r);
    }
}

static inline void end_readers(struct zkt_hold **w, int count)
{
    for (int i = 0; i < count; i++) {
        zkt_hold_end(w[i]);
    }
}

#endif
