/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_WORKER_H
#define ZKC_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <zkr/zkr.h>

#include "control.h"
#include "locks.h"
#include "record.h"

/* A client process and its threads. */

struct zkc_process {
    const struct zkc_client_args *args;
    int history;
    const struct zkc_control *control;
    zkr_client *client;
    struct zkc_handle *handle; /* guarded.h */
    int threads_before;        /* in this process, before it opened the client */
    atomic_bool quit;
    pthread_mutex_t lock;
    /* Held tickets that another thread must end; protected by @lock. */
    struct zkc_ticket *left;
};

struct zkc_worker {
    struct zkc_process *process;
    int number;
    uint64_t random;
    struct zkc_locks *locks;
    int store;
    pthread_t thread;
    atomic_bool done;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    struct zkc_ticket *waiting; /* protected by @lock */
};

/** Returns a record of this process with only the time and the arguments filled in. */
zkc_record zkc_client_record(const struct zkc_process *p, enum zkc_kind kind, int path);

/** Run a thread: rounds until the process quits or the run calms. */
void *zkc_worker_run(void *worker);

#endif
