/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_ACTOR_H
#define ZKT_ACTOR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <zkr/zkr.h>

/* A thread that acquires a mutex, holds it until the test tells it to release, and ends. */
struct zkt_actor {
    zkr_mutex *m;
    int64_t timeout_ms;
    pthread_t thread;
    atomic_int acquired; /* 1 = not done yet, or the code of the acquire */
    atomic_int released; /* 1 = not done yet, or the code of the release */
    atomic_bool let_go;
    atomic_int *turn; /* counts the grants of several actors; may be NULL */
    int granted_as;   /* number of the actor's own grant among them, from 1 */
    int64_t token;
    char node[256];
};

enum { ZKT_NOT_YET = 1 };

/** Start the actor. */
void zkt_actor_start(struct zkt_actor *a,
                     zkr_mutex *m,
                     int64_t timeout_ms,
                     atomic_int *turn);
/** Start the actor, and wait until its claim is in the queue, first or behind others. */
void zkt_actor_queue(struct zkt_actor *a,
                     zkr_client *c,
                     zkr_mutex *m,
                     atomic_int *turn);
/** Wait until the acquire has returned. Returns its code. */
int zkt_actor_acquired(struct zkt_actor *a);
/** Check that the acquire succeeds, and let the actor release and end. */
void zkt_actor_is_served(struct zkt_actor *a);
/** Check that the acquire fails with @code, and that the actor ends. */
void zkt_actor_is_refused(struct zkt_actor *a, int code);
/** Let the actor release, and wait until its thread has ended. Returns the code of the release. */
int zkt_actor_end(struct zkt_actor *a);

/** Returns how many claims of @c wait now. */
int64_t zkt_waiting(zkr_client *c);
/** Returns how often @c has reconnected within a session. */
int64_t zkt_reconnects(zkr_client *c);

#endif
