/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for the tests of read-write locks: a lock on the path of the test, and its two sides. */
#ifndef ZKT_RWLOCKS_H
#define ZKT_RWLOCKS_H

#include "actor.h"
#include "fixture.h"
#include "keep.h"

struct sides {
    zkr_rwlock *l;
    zkr_mutex *r, *w;
    zkr_client *c;
};

static inline void end_kept_rwlock(void *l)
{
    ZKT_MUST(zkr_rwlock_destroy(l));
}

/* Create a lock, which ends with the case. */
static inline struct sides sides_with(zkr_client *c, const zkr_rwlock_options *o)
{
    struct sides s = {.c = c};
    ZKT_MUST(zkr_rwlock_create(&s.l, c, zkt_path(), o));
    s.r = zkr_rwlock_reader(s.l);
    s.w = zkr_rwlock_writer(s.l);
    zkt_keep(s.l, end_kept_rwlock);
    return s;
}

#define SIDES_WITH(c, ...)                                                             \
    sides_with((c), &(const zkr_rwlock_options){.size = sizeof(zkr_rwlock_options),    \
                                                __VA_ARGS__})

static inline struct sides sides_of(zkr_client *c)
{
    return sides_with(c, NULL);
}

static inline struct sides new_sides(void)
{
    enum { SESSION_TIMEOUT_MS = 10000 };
    return sides_of(zkt_client(zkt_servers(), SESSION_TIMEOUT_MS));
}

static inline void end_sides(const struct sides *s)
{
    zkt_unkeep(s->l);
    end_kept_rwlock(s->l);
}

/* Acquire the write side, and then the read side. */
static inline void hold_both(const struct sides *s)
{
    enum { WAIT_MS = 30000 };
    ZKT_MUST(zkr_mutex_acquire(s->w, WAIT_MS));
    ZKT_MUST(zkr_mutex_acquire(s->r, 0));
}

static inline int64_t token_of(zkr_mutex *m)
{
    int64_t token = 0;
    ZKT_MUST(zkr_mutex_fencing_token(m, &token));
    return token;
}

#endif
