/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads of several clients use read-write locks at random, and a model checks who is inside and what they see of
 * each other. A second test does so while sessions end now and then.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zkr/guard.h>

#include "rwlocks.h"

enum {
    LONG_MS = 10000,
    SHORT_MS = 2000, /* the end of a session is noticed within two thirds of this */
    PATIENCE_MS = 60000,
    CLIENTS = 3,
    THREADS = 4,
    PACE_MS = 200
};

/* A writer counts as this many readers. */
enum { WRITER = 1000 };

static struct model {
    atomic_int inside;
    _Atomic int64_t last_token; /* of writers */
    /* Written by writers; equal whenever no writer is inside. */
    atomic_int x, y;
    atomic_bool stop;
    atomic_int wrong, reads, writes, downgrades, together, timeouts, losses;
} M;

struct worker {
    pthread_t thread;
    struct sides s;
    unsigned seed;
};

static int below(struct worker *w, int n)
{
    return (int)((unsigned)rand_r(&w->seed) % (unsigned)n);
}

#define must(what) must_be((what), #what)

static void must_be(bool fine, const char *what)
{
    if (!fine) {
        print_error("wrong: %s, last error %s\n", what, zkr_last_error()->message);
        atomic_fetch_add(&M.wrong, 1);
    }
}

static void linger(struct worker *w)
{
    if (below(w, 4) == 0) {
        zkt_sleep_ms(below(w, 4));
    }
}

static void look(struct worker *w)
{
    int x = atomic_load(&M.x);
    linger(w);
    must(atomic_load(&M.y) == x);
    int inside = atomic_load(&M.inside);
    must(inside > 0 && inside < WRITER);
    if (inside > 1) {
        atomic_fetch_add(&M.together, 1);
    }
}

static void read_inside(struct worker *w)
{
    bool again = below(w, 3) == 0;
    atomic_fetch_add(&M.inside, 1);
    look(w);
    if (again) {
        ZKT_MUST(zkr_mutex_acquire(w->s.r, ZKR_FOREVER));
        must(zkr_mutex_acquire(w->s.w, ZKR_FOREVER) == ZKR_EDEADLK);
        look(w);
        ZKT_MUST(zkr_mutex_release(w->s.r));
    }
    atomic_fetch_add(&M.reads, 1);
    if (below(w, 4) == 0) { /* a guarded check, and a release with a guarded check */
        ZKT_MUST(zkr_mutex_multi(w->s.r, 0, NULL, NULL, PATIENCE_MS));
        atomic_fetch_sub(&M.inside, 1);
        ZKT_MUST(zkr_mutex_release_multi(w->s.r, 0, NULL, NULL, PATIENCE_MS));
        return;
    }
    atomic_fetch_sub(&M.inside, 1);
    ZKT_MUST(zkr_mutex_release(w->s.r));
}

static void write_inside(struct worker *w)
{
    int64_t token = token_of(w->s.w);
    must(atomic_fetch_add(&M.inside, WRITER) == 0);
    must(token > atomic_exchange(&M.last_token, token));
    atomic_fetch_add(&M.x, 1);
    linger(w);
    atomic_fetch_add(&M.y, 1);
    must(atomic_load(&M.inside) == WRITER);
    atomic_fetch_add(&M.writes, 1);
    int way = below(w, 3);
    if (way > 0) {
        ZKT_MUST(zkr_mutex_acquire(w->s.r, 0));
    }
    if (way == 1) { /* releases without a downgrade */
        ZKT_MUST(zkr_mutex_release(w->s.r));
    }
    if (way < 2) {
        atomic_fetch_sub(&M.inside, WRITER);
        ZKT_MUST(zkr_mutex_release(w->s.w));
        return;
    }
    atomic_fetch_sub(&M.inside, WRITER - 1);
    ZKT_MUST(zkr_mutex_release(w->s.w));
    int x = atomic_load(&M.x);
    look(w);
    must(atomic_load(&M.x) == x);
    must(token_of(w->s.r) == token);
    atomic_fetch_add(&M.downgrades, 1);
    atomic_fetch_sub(&M.inside, 1);
    ZKT_MUST(zkr_mutex_release(w->s.r));
}

static void *use(void *arg)
{
    struct worker *w = arg;
    static const int64_t timeouts[] = {ZKR_FOREVER, ZKR_FOREVER, 0, 5, 50};
    while (!atomic_load(&M.stop)) {
        bool writes = below(w, 3) == 0;
        int rc = zkr_mutex_acquire(writes ? w->s.w : w->s.r, timeouts[below(w, 5)]);
        if (rc == ZKR_OK && writes) {
            write_inside(w);
        } else if (rc == ZKR_OK) {
            read_inside(w);
        } else {
            must(zkt_timed_out(rc));
            atomic_fetch_add(&M.timeouts, 1);
        }
    }
    return NULL;
}

/* Run @fn in all threads until @enough. */
static void run(int64_t session_ms,
                void *(*fn)(void *),
                bool (*enough)(void),
                void (*meanwhile)(zkr_client *const *clients))
{
    zkr_client *clients[CLIENTS];
    struct sides sides[CLIENTS];
    struct worker workers[CLIENTS * THREADS];
    memset(&M, 0, sizeof(M));
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = zkt_client(zkt_servers(), session_ms);
        sides[i] = sides_of(clients[i]);
    }
    for (int i = 0; i < CLIENTS * THREADS; i++) {
        workers[i] =
            (struct worker){.s = sides[i % CLIENTS], .seed = (unsigned)i * 7 + 1};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, fn, &workers[i]), 0);
    }
    int64_t end = zkt_now_ms() + PATIENCE_MS;
    while (!enough() && zkt_now_ms() < end) {
        zkt_sleep_ms(PACE_MS);
        if (meanwhile) {
            meanwhile(clients);
        }
    }
    bool in_time = enough();
    atomic_store(&M.stop, true);
    for (int i = 0; i < CLIENTS * THREADS; i++) {
        (void)pthread_join(workers[i].thread, NULL);
    }
    for (int i = 0; i < CLIENTS; i++) {
        ZKT_MUST(zkr_client_flush(clients[i], PATIENCE_MS));
        end_sides(&sides[i]);
        zkt_close(clients[i]);
    }
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
    assert_int_equal(atomic_load(&M.wrong), 0);
    assert_true(in_time);
}

static bool used_enough(void)
{
    return M.reads > 200 && M.writes > 100 && M.downgrades > 30 && M.together > 20 &&
           M.timeouts > 0;
}

/* Readers are inside with readers, and a writer is alone. Tokens rise, and a downgrade leaves no gap. */
ZKT_CASE(threads_never_see_each_other_wrongly)
{
    run(LONG_MS, use, used_enough, NULL);
    printf("%d reads, %d writes, %d downgrades, %d together, %d time-outs\n", M.reads,
           M.writes, M.downgrades, M.together, M.timeouts);
}

/* --- with losses --- */

/*
 * Use the lock in every way. The hold may be lost at any step: each call reports that, and afterwards the lock can be
 * acquired again.
 */
static void *use_and_lose(void *arg)
{
    struct worker *w = arg;
    while (!atomic_load(&M.stop)) {
        bool writes = below(w, 2) == 0, both = writes && below(w, 2) == 0;
        int rc = zkr_mutex_acquire(writes ? w->s.w : w->s.r, ZKR_FOREVER);
        must(rc == ZKR_OK);
        bool lost = false;
        if (both) {
            int read = zkr_mutex_acquire(w->s.r, 0);
            lost = read == ZKR_ESESSION;
            must(read == ZKR_OK || lost);
            both = read == ZKR_OK;
        }
        zkt_sleep_ms(below(w, 40)); /* long enough to lose it sometimes */
        for (int i = 0; i < 2; i++) {
            bool ours = i == 0 ? writes : both || !writes;
            rc = ours ? zkr_mutex_release(i == 0 ? w->s.w : w->s.r) : ZKR_OK;
            must(rc == ZKR_OK || rc == ZKR_ESESSION);
            must(!(lost && ours && rc == ZKR_OK)); /* a lost hold remains lost */
            lost = lost || rc == ZKR_ESESSION;
        }
        must(zkr_mutex_depth(w->s.w) == 0 && zkr_mutex_depth(w->s.r) == 0);
        atomic_fetch_add(lost ? &M.losses : &M.reads, 1);
    }
    return NULL;
}

static bool lost_enough(void)
{
    return M.reads > 50 && M.losses > 10;
}

static void expire_one(zkr_client *const *clients)
{
    static int next;
    zkt_expire_start(clients[next++ % CLIENTS]);
}

/* When a session ends, its holds are lost. Each side reports the loss, and no node is left. */
ZKT_CASE(sessions_that_end_leave_nothing_behind)
{
    run(SHORT_MS, use_and_lose, lost_enough, expire_one);
    printf("%d cycles, %d losses\n", M.reads, M.losses);
}
