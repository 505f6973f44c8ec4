/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_ACTOR_H
#define ZKT_ACTOR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <zkr/zkr.h>

/* A thread that acquires a mutex, holds it until it is told to release, and ends. */
struct zkt_actor {
    zkr_mutex *m;
    int64_t timeout_ms;
    pthread_t thread;
    atomic_int acquired; /* 1 = not yet, else the code */
    atomic_int released; /* 1 = not yet, else the code */
    atomic_bool let_go;
    atomic_int *turn; /* counts the grants of several actors; may be NULL */
    int granted_as;   /* number of the actor's grant by that count, from 1 */
    int64_t token;
    char node[256];
};

enum { ZKT_NOT_YET = 1 };

/** Start. */
void zkt_actor_start(struct zkt_actor *a,
                     zkr_mutex *m,
                     int64_t timeout_ms,
                     atomic_int *turn);
/** Start, and wait until the claim is in the queue, first or behind others. */
void zkt_actor_queue(struct zkt_actor *a,
                     zkr_client *c,
                     zkr_mutex *m,
                     atomic_int *turn);
/** Wait for the acquire to return. Returns its code. */
int zkt_actor_acquired(struct zkt_actor *a);
/** The acquire succeeds; the actor releases, and ends. */
void zkt_actor_is_served(struct zkt_actor *a);
/** The acquire fails with @code, and the actor ends. */
void zkt_actor_is_refused(struct zkt_actor *a, int code);
/** Tell the actor to release. Returns the code of the release when the thread has ended. */
int zkt_actor_end(struct zkt_actor *a);

/** Claims of @c that wait now. */
int64_t zkt_waiting(zkr_client *c);
/** How often @c has connected again within a session. */
int64_t zkt_reconnects(zkr_client *c);

#endif
