/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that the drivers in C share. ../README.md describes the contract. A driver defines how its lock is acquired.
 * This code handles arguments, commands, threads, times and answers.
 */
#ifndef ZKR_BENCH_DRIVER_H
#define ZKR_BENCH_DRIVER_H

#include <stdbool.h>

/* Options from the command line, each as name=value. */
struct driver_options {
    const char *servers;
    const char *path;
    const char *kind; /* which way to lock, for a peer that has several */
    const char *lock; /* mutex, rw or semaphore */
    int sessions;
    int threads; /* number of threads for each session */
    int locks;   /* contender i takes the lock with the number i modulo this */
    int first;   /* number of the first contender of this process */
    int permits; /* permits of a semaphore */
    int hold_us; /* how long each holder works */
    int ttl_ms;  /* timeout of sessions and leases */
};

extern struct driver_options driver_options;

/* If one of these functions fails, it ends the process (bench_die()). */
struct driver_peer {
    void *(*open)(void); /* opens a session */
    /* Makes a lock for the contender with this number. */
    void *(*make)(void *session, const char *path, int number);
    /* Returns false if another contender holds it. */
    bool (*lock)(void *lock, bool wait);
    void (*unlock)(void *lock);
    /*
     * Requests the lock, and calls granted(contender) when it is granted. Used if there are more contenders than there
     * can be threads. NULL = not supported.
     */
    void (*request)(void *lock, void (*granted)(void *contender), void *contender);
    void (*close)(void *session); /* NULL: the end of the process suffices */
    /* Take part in an election, and step down. NULL = the command "lead" is not supported. */
    void (*lead)(void *session, const char *path);
    void (*resign)(void *session);
};

/*
 * Returns whether the contender with this number writes. With a read-write lock, one in eight contenders is a writer.
 */
bool driver_writes(int number);

int driver_main(int argc, char **argv, const struct driver_peer *peer);

#endif
