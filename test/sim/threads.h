/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of simulated processes: coroutines that are actors of the fake, which picks who goes on
 * next, in its virtual time. Each belongs to a client of the fake, and stands still while that is stopped.
 *
 * A thread runs until it blocks, or gives way at a point of choice. Nothing takes the processor from
 * it elsewhere, so the test's own data need no locks.
 */
#ifndef ZKT_SIM_THREADS_H
#define ZKT_SIM_THREADS_H

#include "base/thread.h"
#include "coro.h"
#include "fake.h"

/* How threads are scheduled, in per cent. */
struct sim_pace {
    int64_t switches; /* of the points of choice, where others may go first */
    int64_t late;     /* of the moments when a thread could go on and is late */
    int64_t spurious; /* of the waits, that end for no reason */
};

enum sim_wait {
    SIM_RUNS, /* or will when its turn comes */
    SIM_LOCK,
    SIM_CONDITION,
    SIM_JOIN,
    SIM_CLOSE, /* until a handle does not call the library */
    SIM_ENDED
};

struct sim_thread {
    struct zkf_actor actor;
    struct coro *co;
    int client;
    const char *name;
    void *(*fn)(void *arg);
    void *arg;
    struct zkr__thread self; /* what the library keeps for it */
    enum sim_wait wait;
    const void *on;          /* what it waits for */
    struct sim_thread *next; /* who waits for the same */
    int64_t deadline;        /* SIM_CONDITION: by the client's clock */
    bool woken;              /* by a signal */
    int64_t over;            /* the last wait ended by this deadline, */
    const void *over_on;     /* on this condition */
    bool canceled_off;       /* it cannot be canceled now */
    bool joined, detached;
    struct sim_visit *visits; /* calls of the application that it is in */
    bool cut;                 /* the application ends it */
    bool fed;                 /* it gets all the memory that it wants */
    int locks;                /* that it holds */
    long signals;             /* that have woken it */
    struct zkf_actor *caller; /* of the fake, that acts in it */
};

/* The one that runs; NULL: the program itself. */
struct sim_thread *sim_self(void);

void sim_threads_begin(const struct sim_pace *pace);
/* Forget all, ended or not. */
void sim_threads_end(void);
/* From here on all are on time, and none gives way without need. */
void sim_threads_calm(void);

struct sim_thread *
sim_thread_start(int client, const char *name, void *(*fn)(void *arg), void *arg);
void sim_thread_join(struct sim_thread *t);
void sim_thread_detach(struct sim_thread *t);
/* The calling thread ends here, as by pthread_exit(). */
void sim_thread_exit(void);

/* For zkf_hooks. */
void sim_act(struct zkf_actor *actor);

/* A point of choice: others may go first. */
void sim_point(void);
/* Sleep, in true time. */
void sim_sleep(int64_t ns);
/* For zkf_hooks: a call at the door takes so long, and returns when nothing comes from it. */
void sim_stand(int client, int64_t span);
/* Block on @on until sim_wake(), or until the client's clock shows @deadline. */
void sim_block(enum sim_wait wait, const void *on, int64_t deadline);
/* It may go on, soon. */
void sim_wake(struct sim_thread *t);
/* One of a list, taken out of it; NULL: it is empty. */
struct sim_thread *sim_take_any(struct sim_thread **list);
bool sim_take(struct sim_thread **list, struct sim_thread *t);

/* How long threads of @client have been late so far, in all: what no deadline can help. */
int64_t sim_lateness(int client);
/* Threads that have not ended; with @report each is traced, with what it waits for. */
int sim_threads_left(bool report);
/* The first that has not ended and waits for ever, or NULL. */
const struct sim_thread *sim_stuck(void);
const char *sim_wait_name(enum sim_wait wait);

#endif
