/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_ACTOR_H
#define ZKT_ACTOR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <zkr/zkr.h>

/* A thread that acquires a mutex, holds it until told, and releases. */
struct zkt_actor {
    zkr_mutex *m;
    int64_t timeout_ms;
    pthread_t thread;
    atomic_int acquired; /* 1 = not back yet, else the code */
    atomic_int released; /* 1 = not yet, else the code */
    atomic_bool let_go;
    atomic_int *turn; /* shared by several: counts grants */
    int granted_as;   /* its number by that count, from 1 */
    int64_t token;
    char node[256];
};

enum { ZKT_NOT_YET = 1 };

/** Start; @turn may be NULL. */
void zkt_actor_start(struct zkt_actor *a,
                     zkr_mutex *m,
                     int64_t timeout_ms,
                     atomic_int *turn);
/** Start, and wait until its claim is queued, behind others or as the first. */
void zkt_actor_queue(struct zkt_actor *a,
                     zkr_client *c,
                     zkr_mutex *m,
                     atomic_int *turn);
/** Wait for the acquire to return; its code. */
int zkt_actor_acquired(struct zkt_actor *a);
/** It is granted; then it releases, and ends. */
void zkt_actor_is_served(struct zkt_actor *a);
/** Its acquire fails with @code, and it ends. */
void zkt_actor_is_refused(struct zkt_actor *a, int code);
/** Tell it to release; returns the code of that once the thread has ended. */
int zkt_actor_end(struct zkt_actor *a);

/** Claims of @c that wait now. */
int64_t zkt_waiting(zkr_client *c);
/** How often it has connected again within a session. */
int64_t zkt_reconnects(zkr_client *c);

#endif
