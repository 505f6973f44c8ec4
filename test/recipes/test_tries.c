/* SPDX-License-Identifier: Apache-2.0 */
/* A try gets what is free, even if others try in vain at the same time. */
#include <pthread.h>
#include <stdlib.h>

#include <zkr/multi_lock.h>
#include <zkr/rwlock.h>

#include "fourlw.h"
#include "multi_locks.h"
#include "rwlocks.h"
#include "semaphores.h"

enum { TRIES = 500 };

/* Repeats a try that always fails. */
struct poller {
    int (*once)(void *of);
    void *of;
    pthread_t thread;
    atomic_bool ends;
    atomic_int tries, wrong;
};

static void *poll_often(void *ctx)
{
    struct poller *p = ctx;
    while (!atomic_load(&p->ends)) {
        p->wrong += p->once(p->of) != ZKR_ETIMEDOUT;
        p->tries++;
    }
    return NULL;
}

/* Check that @once succeeds TRIES times beside a poller that knows from the start that the lock is held. */
static void try_beside(struct poller *p, int (*once)(void *of), void *of)
{
    zkt_settle(zkt_servers());
    assert_int_equal(pthread_create(&p->thread, NULL, poll_often, p), 0);
    ZKT_EVENTUALLY(atomic_load(&p->tries) > 0, PATIENCE_MS);
    for (int i = 0; i < TRIES; i++) {
        ZKT_MUST(once(of));
    }
    int before = atomic_load(&p->tries);
    ZKT_EVENTUALLY(atomic_load(&p->tries) > before, PATIENCE_MS);
    atomic_store(&p->ends, true);
    assert_int_equal(pthread_join(p->thread, NULL), 0);
    assert_int_equal(atomic_load(&p->wrong), 0);
}

static int try_five(void *s)
{
    return try(s, 5);
}

static int try_one(void *s)
{
    return try(s, 1);
}

/* Four of five permits are free. */
ZKT_CASE(for_fewer_permits)
{
    zkr_client *c[3];
    zkr_semaphore *s[3];
    for (int i = 0; i < 3; i++) {
        c[i] = zkt_client(zkt_servers(), SESSION_MS);
        s[i] = semaphore(c[i], 5);
    }
    zkr_ticket *held = take(s[0], 1);
    struct poller p = {.once = try_five, .of = s[1]};
    try_beside(&p, try_one, s[2]);
    end(held);
}

static int try_mutex(void *m)
{
    int rc = zkr_mutex_acquire(m, 0);
    return rc == ZKR_OK ? zkr_mutex_release(m) : rc;
}

/* Somebody reads, so writers try in vain. */
ZKT_CASE(for_readers_beside_writers)
{
    struct sides s[3];
    for (int i = 0; i < 3; i++) {
        s[i] = sides_of(zkt_client(zkt_servers(), SESSION_MS));
    }
    ZKT_MUST(zkr_mutex_acquire(s[0].r, PATIENCE_MS));
    struct poller p = {.once = try_mutex, .of = s[1].w};
    try_beside(&p, try_mutex, s[2].r);
    ZKT_MUST(zkr_mutex_release(s[0].r));
}

static int try_multi(void *l)
{
    zkr_ticket *t = NULL;
    int rc = zkr_multi_lock_acquire(l, 0, &t);
    if (rc == ZKR_OK) {
        end(t);
    }
    return rc;
}

/* One path of two is held. */
ZKT_CASE(for_one_path_of_several)
{
    zkr_client *c[3];
    for (int i = 0; i < 3; i++) {
        c[i] = zkt_client(zkt_servers(), SESSION_MS);
    }
    zkr_multi_lock *held = MULTI_LOCK(c[0], 0);
    zkr_multi_lock *both = MULTI_LOCK(c[1], 0, 1);
    zkr_multi_lock *free = MULTI_LOCK(c[2], 1);
    zkr_ticket *t = ask(held, PATIENCE_MS, NULL);
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    struct poller p = {.once = try_multi, .of = both};
    try_beside(&p, try_multi, free);
    end(t);
}
