/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of simulated processes: coroutines that are actors of the fake. In its virtual time, the fake chooses which
 * one continues next. Each thread belongs to a client of the fake, and stands still while that client is stopped.
 *
 * A thread runs until it blocks, or yields at a point of choice. It is never preempted elsewhere, so the test's own
 * data need no locks.
 */
#ifndef ZKT_SIM_THREADS_H
#define ZKT_SIM_THREADS_H

#include "base/thread.h"
#include "coro.h"
#include "fake.h"

/* How threads are scheduled, in percent. */
struct sim_pace {
    int64_t switches; /* of the points of choice: other threads may run first */
    int64_t late;     /* of the moments when a thread could continue: it is late */
    int64_t spurious; /* of the waits: they end without a reason */
};

enum sim_wait {
    SIM_RUNS, /* runs, or will run at its turn */
    SIM_LOCK,
    SIM_CONDITION,
    SIM_JOIN,
    SIM_CLOSE, /* until a handle makes no call to the library */
    SIM_ENDED
};

struct sim_thread {
    struct zkf_actor actor;
    struct coro *co;
    int client;
    const char *name;
    void *(*fn)(void *arg);
    void *arg;
    struct zkr__thread self; /* the data that the library keeps for it */
    enum sim_wait wait;
    const void *on;          /* the object it waits for */
    struct sim_thread *next; /* the next thread that waits for the same object */
    int64_t deadline;        /* SIM_CONDITION: by the client's clock */
    bool woken;              /* woken by a signal */
    int64_t over;            /* the deadline by which the last wait ended, */
    const void *over_on;     /* on this condition */
    bool canceled_off;       /* it cannot be canceled now */
    bool joined, detached;
    struct sim_visit *visits; /* calls of the application in progress */
    bool cut;                 /* the application ends it */
    bool fed;                 /* none of its allocations fails */
    int locks;                /* number of locks that it holds */
    long signals;             /* number of signals that have woken it */
    struct zkf_actor *caller; /* the actor of the fake that acts in this thread */
};

/* Returns the running thread, or NULL for the test program itself. */
struct sim_thread *sim_self(void);

void sim_threads_begin(const struct sim_pace *pace);
/* Forget all threads, ended or not. */
void sim_threads_end(void);
/* From here on, all threads are on time, and none yields unless it must. */
void sim_threads_calm(void);

struct sim_thread *
sim_thread_start(int client, const char *name, void *(*fn)(void *arg), void *arg);
void sim_thread_join(struct sim_thread *t);
void sim_thread_detach(struct sim_thread *t);
/* End the calling thread, as pthread_exit() does. */
void sim_thread_exit(void);

/* For zkf_hooks. */
void sim_act(struct zkf_actor *actor);

/* A point of choice: other threads may run first. */
void sim_point(void);
/* Sleep for @ns of true time. */
void sim_sleep(int64_t ns);
/* For zkf_hooks: let a call at the door take @span, and return when the handle makes no call. */
void sim_stand(int client, int64_t span);
/* Block on @on until sim_wake(), or until the client's clock shows @deadline. */
void sim_block(enum sim_wait wait, const void *on, int64_t deadline);
/* Let the thread continue soon. */
void sim_wake(struct sim_thread *t);
/* Remove a random thread from the list, and return it. Returns NULL if the list is empty. */
struct sim_thread *sim_take_any(struct sim_thread **list);
bool sim_take(struct sim_thread **list, struct sim_thread *t);

/* Returns for how long the threads of @client have been late so far, in total. No deadline can prevent that. */
int64_t sim_lateness(int client);
/* Returns how many threads have not ended. With @report, trace each one and the object it waits for. */
int sim_threads_left(bool report);
/* Returns the first thread that has not ended and waits for ever, or NULL. */
const struct sim_thread *sim_stuck(void);
const char *sim_wait_name(enum sim_wait wait);

#endif
