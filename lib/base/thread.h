/* SPDX-License-Identifier: Apache-2.0 */
/* Start, identity and end of threads, and the check for fork(). */
#ifndef ZKR_BASE_THREAD_H
#define ZKR_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <zkr/error.h>

struct zkr__exit_hook;

/* All that the library keeps for each thread. */
struct zkr__thread {
    uint64_t id;     /* 0 = not asked for yet */
    bool ours;       /* zkr__thread_start() has started it */
    const void *arg; /* with this argument; NULL = it is not ours */
    struct zkr__exit_hook *exit_hooks;
    const void *calls; /* of the application that the thread runs now (dispatch.c) */
    zkr_error error;   /* the last one (error.c) */
};

/* The calling thread's. */
struct zkr__thread *zkr__thread_self(void);

/*
 * Start a thread of ours. @name is a constant of at most 15 bytes. Signals are the application's, so the thread blocks
 * all but those of its own faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS), which would kill past any
 * handler, and SIGPROF, by which profilers sample each thread. Threads that it starts inherit both. It cannot be
 * canceled outside zkr__thread_call_cancelable(). 0 or errno.
 */
int zkr__thread_start(pthread_t *thread,
                      const char *name,
                      void *(*fn)(void *arg),
                      void *arg);

/*
 * Call @fn, which is code of the application, and @finish. The application may end the thread, by pthread_exit() or a
 * cancellation: then @fn does not return, @cut is set, and the thread ends when @finish returns. No lock is held.
 */
void zkr__thread_call(void (*fn)(void *arg),
                      void (*finish)(void *arg, bool cut),
                      void *arg);
/* The same, and a thread of ours can be canceled while it runs @fn. */
void zkr__thread_call_cancelable(void (*fn)(void *arg),
                                 void (*finish)(void *arg, bool cut),
                                 void *arg);
/*
 * Start another thread in the place of the calling thread of ours, which is cut; for use in @finish. The new thread joins
 * the calling one before it calls @fn. 0 or errno, with *thread unchanged.
 */
int zkr__thread_replace(pthread_t *thread,
                        const char *name,
                        void *(*fn)(void *arg),
                        void *arg);
/*
 * Is the calling thread one of ours that was started with @arg? True also while its destructors of thread-specific data
 * run, and after zkr__thread_replace(). It must not wait for the end of the threads of @arg, of which it is one.
 */
static inline bool zkr__thread_is_of(const void *arg)
{
    return zkr__thread_self()->arg == arg;
}

/* Pause between two attempts to start a thread. */
void zkr__thread_rest(void);

/* Each thread of ours is joined or detached, once. Pin the code before a detach. */
void zkr__thread_join(pthread_t thread);
void zkr__thread_detach(pthread_t thread);
/*
 * Pin the code of the library: if it is part of a plugin, dlclose() of the plugin no longer unmaps it. Waits while another
 * thread runs dlopen() or dlclose(). False: no memory.
 */
bool zkr__thread_pin_code(void);
bool zkr__thread_is_self(pthread_t thread);

/* Can two more threads be started? Starts two, and waits for their end. 0 or errno. */
int zkr__thread_try_two(void);

/* Not 0. Never reused within a process, unlike pthread_t, so no thread inherits the locks of a dead thread. */
uint64_t zkr__thread_id(void);

/* The number that ps -L and top -H show. */
long zkr__thread_os_id(void);

/* How many forks lie between the first process and this one. A client remembers it from its opening. */
unsigned zkr__fork_generation(void);

/* What is to be done when the thread ends. Embedded in the owner's struct. */
struct zkr__exit_hook {
    struct zkr__exit_hook *next, **link;
    void (*at_exit)(struct zkr__exit_hook *hook);
};

/*
 * Add a hook to the calling thread, or drop it, which no other thread may. False: no memory. When the thread ends, each
 * hook that is left is taken from the thread, and at_exit() called.
 */
bool zkr__exit_hook_add(struct zkr__exit_hook *hook);
void zkr__exit_hook_drop(struct zkr__exit_hook *hook);

#endif
