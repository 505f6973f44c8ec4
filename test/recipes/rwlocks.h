/* SPDX-License-Identifier: Apache-2.0 */
/* A read-write lock on the path of the test, by its two sides. */
#ifndef ZKT_RWLOCKS_H
#define ZKT_RWLOCKS_H

#include "actor.h"
#include "fixture.h"

struct sides {
    zkr_rwlock *l;
    zkr_mutex *r, *w;
};

static inline struct sides sides_of(zkr_client *c)
{
    struct sides s = {NULL, NULL, NULL};
    ZKT_MUST(zkr_rwlock_create(&s.l, c, zkt_path(), NULL));
    s.r = zkr_rwlock_reader(s.l);
    s.w = zkr_rwlock_writer(s.l);
    return s;
}

static inline void end_sides(const struct sides *s)
{
    ZKT_MUST(zkr_rwlock_destroy(s->l));
}

static inline int64_t token_of(zkr_mutex *m)
{
    int64_t token = 0;
    ZKT_MUST(zkr_mutex_fencing_token(m, &token));
    return token;
}

static inline int nodes(void)
{
    return zkt_children_count(zkt_servers(), zkt_path());
}

#endif
