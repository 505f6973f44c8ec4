/* SPDX-License-Identifier: Apache-2.0 */
/* Start, identity and end of threads, and the check for fork(). */
#ifndef ZKR_BASE_THREAD_H
#define ZKR_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <zkr/error.h>

struct zkr__thread_duty;

/* All that the library keeps for each thread. */
struct zkr__thread {
    uint64_t id; /* 0 = nobody has asked for it */
    struct zkr__thread_duty *duties;
    const void *calls; /* that it runs now (dispatch.c) */
    zkr_error error;   /* the last one (error.c) */
};

/* The calling thread's. */
struct zkr__thread *zkr__thread_self(void);

/*
 * Start a thread of ours: named @name (at most 15 bytes, a constant), and deaf to signals, which are
 * the application's. Threads that it starts itself inherit both.
 *
 * Left unblocked are the signals of a fault of the very thread (SIGSEGV, SIGBUS, SIGFPE, SIGILL,
 * SIGTRAP, SIGSYS), as blocked ones would kill past any handler, and SIGPROF, by which profilers
 * sample each thread. 0 or errno.
 */
int zkr__thread_start(pthread_t *thread,
                      const char *name,
                      void *(*fn)(void *arg),
                      void *arg);

/* Wait for the end of a thread of ours, or never; one of both, once. */
void zkr__thread_join(pthread_t thread);
void zkr__thread_detach(pthread_t thread);
bool zkr__thread_is_self(pthread_t thread);

/*
 * Whether two more threads could be started right now, as far as can be known: two are, and have ended when this
 * returns. 0 or errno.
 */
int zkr__thread_try_two(void);

/* Never reused within a process, unlike pthread_t: no thread inherits a dead one's lock. Not 0. */
uint64_t zkr__thread_id(void);

/* The number that ps -L and top -H show. */
long zkr__thread_os_id(void);

/* Counts the forks between the first process and this one; a handle notes it when made. */
unsigned zkr__fork_generation(void);

/* Something to be done if a thread ends while it still has it; embedded in the owner's struct. */
struct zkr__thread_duty {
    struct zkr__thread_duty *next, **link;
    void (*at_exit)(struct zkr__thread_duty *duty);
};

/*
 * Add to and take from the calling thread's duties; only that thread may. False: no memory.
 * At the thread's end each one left is taken from the list and its at_exit() called.
 */
bool zkr__thread_duty_add(struct zkr__thread_duty *duty);
void zkr__thread_duty_drop(struct zkr__thread_duty *duty);

#endif
