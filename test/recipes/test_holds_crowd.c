/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads and processes: kinds that exclude each other never have two holders, and killed processes block nobody.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "hold.h"

enum { SESSION_MS = 10000, SHORT_MS = 1000, PATIENCE_MS = 60000 };
enum { PROCESSES = 3, THREADS = 3, ROUNDS = 20 };

/* The observations of the lock, in memory that all processes share. */
struct crowd {
    atomic_int inside, violations, served;
    _Atomic int64_t last_token;
};

static void visit(struct crowd *k, struct zkt_hold *h)
{
    int64_t token = 0;
    int bad = atomic_fetch_add(&k->inside, 1) != 0;
    bad += zkt_hold_token(h, &token) != ZKR_OK;
    /* Tokens rise in the order of grants. */
    bad += token <= atomic_exchange(&k->last_token, token);
    bad += !zkt_hold_is_sure(h);
    bad += atomic_fetch_sub(&k->inside, 1) != 1;
    atomic_fetch_add(&k->violations, bad);
    atomic_fetch_add(&k->served, 1);
}

struct visitor {
    struct crowd *k;
    struct zkt_hold *h;
    pthread_t thread;
};

static void *visit_often(void *arg)
{
    struct visitor *v = arg;
    for (int i = 0; i < ROUNDS; i++) {
        int rc = zkt_hold_acquire(v->h, PATIENCE_MS);
        if (rc == ZKR_OK) {
            visit(v->k, v->h);
            rc = zkt_hold_release(v->h);
        }
        atomic_fetch_add(&v->k->violations, rc != ZKR_OK);
    }
    return NULL;
}

static int one_process(void *arg)
{
    struct visitor v[THREADS];
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    for (int i = 0; i < THREADS; i++) {
        v[i] = (struct visitor){arg, i ? zkt_hold_beside(v[0].h) : zkt_hold(c), 0};
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&v[i].thread, NULL, visit_often, &v[i]), 0);
    }
    for (int i = THREADS - 1; i >= 0; i--) {
        (void)pthread_join(v[i].thread, NULL);
    }
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    for (int i = THREADS - 1; i >= 0; i--) {
        zkt_hold_end(v[i].h);
    }
    zkt_close(c);
    return 0;
}

/*
 * Threads of several processes exclude each other, and all of them are served. Readers are tested in
 * test_rwlock_model.c.
 */
ZKT_HOLD_CASE(a_crowd_takes_turns, ZKT_READERS)
{
    struct crowd *k = zkt_shared(sizeof(*k));
    pid_t pids[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = zkt_fork(one_process, k);
    }
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(zkt_join(pids[i], PATIENCE_MS), 0);
    }
    assert_int_equal(atomic_load(&k->violations), 0);
    assert_int_equal(atomic_load(&k->served), PROCESSES * THREADS * ROUNDS);
}

/* --- processes that die --- */

static void *take_for_ever(void *arg)
{
    struct visitor *v = arg;
    while (zkt_hold_acquire(v->h, PATIENCE_MS) == ZKR_OK) {
        atomic_fetch_add(&v->k->served, 1);
        int rc = zkt_hold_release(v->h); /* such a short session may expire */
        atomic_fetch_add(&v->k->violations, rc != ZKR_OK && rc != ZKR_ESESSION);
    }
    return NULL;
}

/* @arg is an array of crowds, one for each kind. */
static int take_until_killed(void *arg)
{
    struct crowd *k = arg;
    zkr_client *c = zkt_client(zkt_servers(), SHORT_MS);
    static struct visitor v[ZKT_KINDS];
    for (int kind = 0; kind < ZKT_KINDS; kind++) {
        v[kind] = (struct visitor){&k[kind], zkt_hold_of(c, (enum zkt_kinds)kind), 0};
    }
    for (int kind = 0; kind < ZKT_KINDS; kind++) {
        (void)pthread_create(&v[kind].thread, NULL, take_for_ever, &v[kind]);
    }
    (void)pthread_join(v[0].thread, NULL);
    return 1;
}

/*
 * Processes are killed at random moments. The other processes go on with holds of every kind, and in the end
 * no node is left.
 */
ZKT_CASE(killed_processes_do_not_stop_the_others)
{
    enum { VICTIMS = 4, LEAST = 5 };
    struct crowd *k = zkt_shared(ZKT_KINDS * sizeof(*k));
    pid_t pids[VICTIMS];
    for (int i = 0; i < VICTIMS; i++) {
        pids[i] = zkt_fork(take_until_killed, k);
    }
    for (int i = 0; i < VICTIMS; i++) {
        for (int kind = 0; kind < ZKT_KINDS; kind++) {
            int seen = atomic_load(&k[kind].served);
            ZKT_EVENTUALLY(atomic_load(&k[kind].served) > seen + LEAST, PATIENCE_MS);
            assert_int_equal(atomic_load(&k[kind].violations), 0);
        }
        (void)kill(pids[i], SIGKILL);
        (void)zkt_join(pids[i], PATIENCE_MS);
    }
    ZKT_BECOMES(zkt_hold_nodes(), 0, PATIENCE_MS);
}
