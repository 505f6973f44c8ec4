/* SPDX-License-Identifier: Apache-2.0 */
/* The start, identity and end of threads, and the detection of fork(). */
#ifndef ZKR_BASE_THREAD_H
#define ZKR_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <zkr/error.h>

struct zkr__exit_hook;

/* The library's data for one thread. */
struct zkr__thread {
    uint64_t id;     /* 0 = not assigned yet */
    bool ours;       /* zkr__thread_start() has started this thread */
    const void *arg; /* argument of the start; NULL if not ours */
    struct zkr__exit_hook *exit_hooks;
    /* The application callbacks that the thread is running (dispatch.c). */
    const void *calls;
    zkr_error error; /* the error of zkr_last_error() (error.c) */
};

/* Returns the calling thread's data. */
struct zkr__thread *zkr__thread_self(void);

/*
 * Start a thread of the library. @name is a constant of at most 15 bytes. Returns 0 or errno.
 *
 * Signals belong to the application, so the thread blocks all signals except two kinds. If the signals of its own
 * faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS) were blocked, they would kill the process without running a
 * handler. SIGPROF lets profilers sample each thread. The thread's children inherit the mask. The thread can be
 * canceled only in zkr__thread_call_cancelable().
 */
int zkr__thread_start(pthread_t *thread,
                      const char *name,
                      void *(*fn)(void *arg),
                      void *arg);

/*
 * Call @fn, which is application code, and then @finish. The application may end the thread in @fn, by pthread_exit()
 * or cancellation. Then @fn does not return, @cut is true, and the thread ends when @finish returns. The caller must
 * not hold a lock.
 */
void zkr__thread_call(void (*fn)(void *arg),
                      void (*finish)(void *arg, bool cut),
                      void *arg);
/* Like zkr__thread_call(), but a thread of the library can be canceled during @fn. */
void zkr__thread_call_cancelable(void (*fn)(void *arg),
                                 void (*finish)(void *arg, bool cut),
                                 void *arg);
/*
 * Start a thread in place of the calling library thread, which is ending. Called in @finish when @cut is true. The new
 * thread joins the calling thread before it calls @fn. Returns 0, or errno with *thread unchanged.
 */
int zkr__thread_replace(pthread_t *thread,
                        const char *name,
                        void *(*fn)(void *arg),
                        void *arg);
/*
 * Returns whether the library started the calling thread with @arg. This is also true in the thread's destructors of
 * thread-specific data, and after zkr__thread_replace(). Such a thread must not wait for the end of the threads of
 * @arg, because it is one of them.
 */
static inline bool zkr__thread_is_of(const void *arg)
{
    return zkr__thread_self()->arg == arg;
}

/* Sleep for 10 ms between two attempts. */
void zkr__thread_rest(void);

/*
 * Each thread of the library must be joined or detached, once. zkr__thread_pin_code() must be called before a detach.
 */
void zkr__thread_join(pthread_t thread);
void zkr__thread_detach(pthread_t thread);
/*
 * Keep the library's code mapped, even if it is part of a plugin that dlclose() unloads. Blocks while another thread
 * runs dlopen() or dlclose(). Returns false if memory runs out.
 */
bool zkr__thread_pin_code(void);
bool zkr__thread_is_self(pthread_t thread);

/* Test whether two more threads can be started: start two, and wait until they have ended. Returns 0 or errno. */
int zkr__thread_try_two(void);

/*
 * Returns the thread's number, which is never 0. Unlike a pthread_t, the number is never reused in a process, so no
 * thread inherits the locks of a dead thread.
 */
uint64_t zkr__thread_id(void);

/* Returns the thread ID that ps -L and top -H show. */
long zkr__thread_os_id(void);

/* Returns the number of forks between the first process and this one. A client stores this number when it is opened. */
unsigned zkr__fork_generation(void);

/* A function that is called when the thread ends. Embedded in the owner's struct. */
struct zkr__exit_hook {
    struct zkr__exit_hook *next, **link;
    void (*at_exit)(struct zkr__exit_hook *hook);
};

/*
 * Add a hook to the calling thread, or remove it. Only the thread that added a hook may remove it. Adding returns false
 * if memory runs out. When the thread ends, it removes each remaining hook and calls its at_exit().
 */
bool zkr__exit_hook_add(struct zkr__exit_hook *hook);
void zkr__exit_hook_drop(struct zkr__exit_hook *hook);

#endif
