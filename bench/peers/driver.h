/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the drivers in C share: the contract that ../README.md describes. A driver says how its lock
 * is taken; arguments, commands, threads, times and answers are here.
 */
#ifndef ZKR_BENCH_DRIVER_H
#define ZKR_BENCH_DRIVER_H

#include <stdbool.h>

/* From the command line, name=value each. */
struct driver_options {
    const char *servers;
    const char *path;
    const char *kind; /* a peer with several ways to lock: which of them */
    const char *lock; /* mutex, rw or semaphore */
    int sessions;
    int threads; /* of each session */
    int locks;   /* contender i takes the lock i modulo this */
    int first;   /* number of the first contender of this process */
    int permits; /* of a semaphore */
    int hold_us; /* how long each holder is busy */
    int ttl_ms;  /* of sessions and leases */
};

extern struct driver_options driver_options;

/* Failures end the process: bench_die(). */
struct driver_peer {
    void *(*open)(void); /* a session */
    /* A lock for the contender of this number. */
    void *(*make)(void *session, const char *path, int number);
    bool (*lock)(void *lock, bool wait); /* false: held by another */
    void (*unlock)(void *lock);
    /* NULL, or: have granted(contender) called when it is got; for more contenders than one has threads for. */
    void (*request)(void *lock, void (*granted)(void *contender), void *contender);
    void (*close)(void *session); /* NULL: the end of the process will do */
    /* NULL, or those of an election; "lead" is not understood then. */
    void (*lead)(void *session, const char *path);
    void (*resign)(void *session);
};

/* Of a read-write lock one in eight contenders is a writer. */
bool driver_writes(int number);

int driver_main(int argc, char **argv, const struct driver_peer *peer);

#endif
