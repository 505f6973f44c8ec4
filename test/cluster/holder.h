/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_HOLDER_H
#define ZKT_HOLDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <zkr/zkr.h>

/* A client, and a thread that holds a mutex and records until when zkr_mutex_valid_for_ms() promises the hold. */
struct holder {
    zkr_client *c;
    zkr_mutex *m;
    pthread_t thread;
    atomic_int acquired, released; /* ZKT_NOT_YET, or the code that the call returned */
    atomic_bool let_go;
    int64_t token;
    char node[256];
    _Atomic int64_t granted_at;
    /* The latest promised time. If the hold is released before its promise ends, the time of the release. */
    _Atomic int64_t sure_until;
    _Atomic int64_t valid_for; /* the last result of zkr_mutex_valid_for_ms() */
    atomic_int lost;
    _Atomic int64_t lost_at;
};

/** Returns a holder for @c. The holder lives as long as the program, because the threads of a failed test continue. */
struct holder *holder_new(zkr_client *c);

/**
 * Acquires @path with @c in a new thread. Returns when the lock is granted or, if @ahead > 0, when the holder waits
 * behind @ahead contenders.
 */
struct holder *holder_begin(zkr_client *c, const char *path, int ahead);
void holder_await_grant(struct holder *h);

/** Called by the holding thread. Records until when the hold is promised, and returns whether it is promised now. */
bool holder_look(struct holder *h);

/** Lets the thread release the mutex, and returns the code of the release. */
int holder_finish(struct holder *h);

/** Destroys the mutex and closes the client. */
void holder_close(struct holder *h);

#endif
