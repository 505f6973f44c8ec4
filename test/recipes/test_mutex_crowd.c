/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads and processes on one path: never two holders, first come first served. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor.h"
#include "lock.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 60000, PROCESSES_MAX = 8, ROUNDS = 40 };

/* Shared by all processes: what an observer of the lock sees. */
struct crowd {
    atomic_int inside;
    atomic_int violations;
    atomic_int served;
    _Atomic int64_t last_token;
    int threads;
    int rounds;
    char hosts[256];
    char path[128];
};

static void visit(struct crowd *k, zkr_mutex *m)
{
    int64_t token = 0;
    int bad = atomic_fetch_add(&k->inside, 1) != 0;
    bad += zkt_fencing_token(m, &token) != ZKR_OK;
    bad += token <= atomic_exchange(&k->last_token, token); /* the order of grants */
    bad += !zkt_is_held(m);
    bad += atomic_fetch_sub(&k->inside, 1) != 1;
    atomic_fetch_add(&k->violations, bad);
    atomic_fetch_add(&k->served, 1);
}

struct visitor {
    struct crowd *k;
    zkr_mutex *m;
    pthread_t thread;
};

static void *visit_often(void *arg)
{
    struct visitor *v = arg;
    for (int i = 0; i < v->k->rounds; i++) {
        int rc = zkt_acquire(v->m, PATIENCE_MS);
        if (rc == ZKR_OK) {
            visit(v->k, v->m);
            rc = zkt_release(v->m);
        }
        atomic_fetch_add(&v->k->violations, rc != ZKR_OK);
    }
    return NULL;
}

static int one_process(void *arg)
{
    struct crowd *k = arg;
    struct visitor visitors[16];
    zkr_client *c = NULL;
    zkr_mutex *m = NULL;
    if (zkr_client_open(&c, k->hosts, NULL) != ZKR_OK ||
        zkr_mutex_create(&m, c, k->path, NULL) != ZKR_OK) {
        return 1;
    }
    for (int i = 0; i < k->threads; i++) {
        visitors[i] = (struct visitor){.k = k, .m = m};
        if (pthread_create(&visitors[i].thread, NULL, visit_often, &visitors[i]) != 0) {
            return 2;
        }
    }
    for (int i = 0; i < k->threads; i++) {
        pthread_join(visitors[i].thread, NULL);
    }
    if (zkr_client_flush(c, PATIENCE_MS) != ZKR_OK || zkr_mutex_destroy(m) != ZKR_OK) {
        return 3;
    }
    return zkr_client_close(c) == ZKR_OK ? 0 : 4;
}

static void gather(int processes, int threads)
{
    struct crowd *k = zkt_shared(sizeof(*k));
    pid_t pids[PROCESSES_MAX];
    k->threads = threads;
    k->rounds = ROUNDS;
    (void)snprintf(k->hosts, sizeof(k->hosts), "%s", zkt_servers());
    (void)snprintf(k->path, sizeof(k->path), "%s", zkt_path());
    for (int i = 0; i < processes; i++) {
        pids[i] = zkt_fork(one_process, k);
    }
    for (int i = 0; i < processes; i++) {
        assert_int_equal(zkt_join(pids[i], PATIENCE_MS), 0);
    }
    assert_int_equal(atomic_load(&k->violations), 0);
    assert_int_equal(atomic_load(&k->served), processes * threads * ROUNDS);
    zkt_shared_free(k, sizeof(*k));
}

/* Ten threads of one process. */
ZKT_BOTH_CASE(threads_exclude_each_other)
{
    gather(1, 10);
}

/* Eight processes. */
ZKT_BOTH_CASE(processes_exclude_each_other)
{
    gather(8, 1);
}

/* Both. */
ZKT_BOTH_CASE(threads_of_processes_exclude_each_other)
{
    gather(4, 4);
}

/* --- killed --- */

struct stock {
    atomic_int left;
    atomic_int inside;
    atomic_int violations;
    char hosts[256];
    char path[128];
};

static int take_until_killed(void *arg)
{
    struct stock *k = arg;
    zkr_client_options options = ZKR_CLIENT_OPTIONS_INIT;
    options.session_timeout_ms = 1000;
    zkr_client *c = NULL;
    zkr_mutex *m = NULL;
    if (zkr_client_open(&c, k->hosts, &options) != ZKR_OK ||
        zkr_mutex_create(&m, c, k->path, NULL) != ZKR_OK) {
        return 1;
    }
    for (;;) {
        if (zkt_acquire(m, PATIENCE_MS) == ZKR_OK) {
            atomic_fetch_add(&k->left, 1);
            if (zkt_release(m) != ZKR_OK) {
                atomic_fetch_add(&k->violations, 1);
            }
        }
    }
}

/* Processes killed at random moments: the others go on, and in the end nothing is left. */
ZKT_BOTH_CASE(killed_processes_do_not_stop_the_others)
{
    enum { VICTIMS = 6 };
    struct stock *k = zkt_shared(sizeof(*k));
    pid_t pids[VICTIMS];
    (void)snprintf(k->hosts, sizeof(k->hosts), "%s", zkt_servers());
    (void)snprintf(k->path, sizeof(k->path), "%s", zkt_path());
    for (int i = 0; i < VICTIMS; i++) {
        pids[i] = zkt_fork(take_until_killed, k);
    }
    for (int i = 0; i < VICTIMS; i++) {
        int seen = atomic_load(&k->left);
        ZKT_EVENTUALLY(atomic_load(&k->left) > seen + 20, PATIENCE_MS);
        kill(pids[i], SIGKILL);
        (void)zkt_join(pids[i], PATIENCE_MS);
    }
    assert_int_equal(atomic_load(&k->violations), 0);
    ZKT_BECOMES(zkt_nodes(), 0, PATIENCE_MS);
    zkt_shared_free(k, sizeof(*k));
}
