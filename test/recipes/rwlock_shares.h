/* SPDX-License-Identifier: Apache-2.0 */
/* Read-write locks with share_readers, and threads that do with them what they are told, one thing at a time. */
#ifndef ZKT_RWLOCK_SHARES_H
#define ZKT_RWLOCK_SHARES_H

#include <zkr/guard.h>

#include "recipes/mutex.h"
#include "rwlocks.h"

enum { SESSION_MS = 30000, PATIENCE_MS = 30000, HOUR_MS = 3600000 };

/* Holds may be joined for @open_ms; 0 = for as long as the library has it. */
static inline struct sides
shares_of(zkr_client *c, int64_t open_ms, const zkr_rwlock_options *options)
{
    zkr_rwlock_options o = ZKR_RWLOCK_OPTIONS_INIT;
    if (options) {
        o = *options;
    }
    o.share_readers = 1;
    struct sides s = sides_with(c, &o);
    if (open_ms > 0) {
        s.r->lock.share_ms = open_ms;
    }
    return s;
}

typedef int (*task)(const struct sides *s, void *arg);

struct worker {
    pthread_t thread;
    const struct sides *s;
    task todo; /* NULL: end */
    void *arg;
    int rc;
    atomic_int step; /* IDLE, BUSY, IDLE, ... */
};

enum { IDLE, BUSY };

static inline void *work(void *arg)
{
    struct worker *w = arg;
    for (;;) {
        while (atomic_load(&w->step) != BUSY) {
            zkt_sleep_ms(1);
        }
        if (!w->todo) {
            return NULL;
        }
        w->rc = w->todo(w->s, w->arg);
        atomic_store(&w->step, IDLE);
    }
}

/* Have it do @todo. */
static inline void start(struct worker *w, task todo, void *arg)
{
    w->todo = todo;
    w->arg = arg;
    atomic_store(&w->step, BUSY);
}

static inline bool done(struct worker *w)
{
    return atomic_load(&w->step) == IDLE;
}

/* What came of it. */
static inline int result(struct worker *w)
{
    ZKT_EVENTUALLY(done(w), PATIENCE_MS);
    return w->rc;
}

static inline int in(struct worker *w, task todo, void *arg)
{
    start(w, todo, arg);
    return result(w);
}

static inline void hire(struct worker *w, const struct sides *s)
{
    memset(w, 0, sizeof(*w));
    w->s = s;
    assert_int_equal(pthread_create(&w->thread, NULL, work, w), 0);
}

static inline void dismiss(struct worker *w)
{
    start(w, NULL, NULL);
    assert_int_equal(pthread_join(w->thread, NULL), 0);
}

/* --- tasks --- */

static inline int to_read(const struct sides *s, void *arg)
{
    (void)arg;
    return zkr_mutex_acquire(s->r, PATIENCE_MS);
}

static inline int to_try(const struct sides *s, void *arg)
{
    (void)arg;
    return zkr_mutex_acquire(s->r, 0);
}

static inline int to_write(const struct sides *s, void *arg)
{
    (void)arg;
    return zkr_mutex_acquire(s->w, PATIENCE_MS);
}

static inline int to_release(const struct sides *s, void *arg)
{
    (void)arg;
    return zkr_mutex_release(s->r);
}

static inline int to_say_held(const struct sides *s, void *arg)
{
    (void)arg;
    return zkr_mutex_is_held(s->r);
}

static inline int to_say_depth(const struct sides *s, void *arg)
{
    (void)arg;
    return zkr_mutex_depth(s->r);
}

static inline int to_tell_token(const struct sides *s, void *arg)
{
    return zkr_mutex_fencing_token(s->r, arg);
}

#endif
