/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_HOLDER_H
#define ZKT_HOLDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <zkr/zkr.h>

/* A client and a thread that holds a mutex and notes for how long it is sure. */
struct holder {
    zkr_client *c;
    zkr_mutex *m;
    pthread_t thread;
    atomic_int acquired, released; /* ZKT_NOT_YET, else the code */
    atomic_bool let_go;
    int64_t token;
    char node[256];
    _Atomic int64_t granted_at;
    _Atomic int64_t sure_until; /* the latest moment it has claimed, or its release */
    _Atomic int64_t valid_for;  /* its last claim */
    atomic_int lost;
    _Atomic int64_t lost_at;
};

/** One for @c, which lives as long as the program: the threads of a failed test go on. */
struct holder *holder_new(zkr_client *c);

/** Start to acquire @path with @c; back when granted, or queued behind the @ahead there are. */
struct holder *holder_begin(zkr_client *c, const char *path, int ahead);
void holder_await_grant(struct holder *h);

/** By the holding thread: note what it claims now. Returns whether it is sure. */
bool holder_look(struct holder *h);

/** Let it go; the code of its release. */
int holder_finish(struct holder *h);

/** Destroy the mutex, close the client. */
void holder_close(struct holder *h);

#endif
