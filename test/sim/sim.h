/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole library, searched: processes with threads of their own call what applications call, on the
 * fake, in virtual time. A seed makes the scenario, the programs of the threads, and who goes on when.
 *
 * Files, bottom to top; calls go down only.
 *
 *   run        one seed from its beginning to its end
 *   process    a client, what is made on it, and its threads, from open to close
 *   ops_*      what a thread may do next: calls, and what must hold of their outcome
 *   tell       callbacks of the application
 *   check      what must hold after each step, whoever called what; wishes, permits: of these
 *   scene      what the seed has chosen
 *   sim_sync, sim_thread, sim_mem, sim_door        the library's seams
 *   threads    -> coro
 */
#ifndef ZKT_SIM_H
#define ZKT_SIM_H

#include <zkr/zkr.h>

#include "search.h"
#include "threads.h"

enum {
    SIM_CLIENTS = 3,
    SIM_APPS = 4,
    SIM_PASSES = 12,
    SIM_PERMITS = 3,
    SIM_PATH = 200
};

/* Lock objects of a process. The first two have one path. */
enum sim_lock { LOCK_A, LOCK_A2, LOCK_B, LOCK_C, READER, WRITER, SIM_LOCKS };

/* Directories, where holds exclude each other. */
enum sim_dir {
    AT_LOCK,
    AT_SECOND,
    AT_THIRD,
    AT_RW,
    AT_PERMITS,
    AT_LATCH,
    AT_SELECTOR,
    SIM_DIRS,
    AT_GATE = SIM_DIRS /* nobody holds anything by that */
};

/* What the seed has chosen, beside S.s. */
struct scene {
    struct sim_pace pace;
    int64_t apps, ops;
    bool mutexes, tickets, rw, permits, multis, latches, selectors;
    bool rush; /* one call follows the other */
    bool timeouts, tries, cancels, shutdowns, early_ends, misuse, no_threads;
    bool shares, wait_on_release, by_hand, watch_node;
    bool starved;        /* memory is short at times */
    bool wishes;         /* holders are asked to let go */
    bool writes;         /* under a lock, and with its release */
    int64_t max_waiters; /* of the third lock; 0 = any */
    int64_t keep_ms;     /* of mutexes; 0 = their nodes are not kept */
    int64_t max;         /* permits */
    int64_t rounds;
};

struct process;

/* By a client's clock; and how long its threads had been late by then, or stood still. */
struct moment {
    int64_t at, late; /* 0 = never */
};

/* It was told that it surely holds until then. */
struct promise {
    int64_t until; /* true time; 0 = none */
    enum sim_dir dir;
    bool shared;
};

/* A ticket, and who is to give it back. */
struct pass {
    struct process *p;
    struct app *owner; /* NULL = this place is free */
    zkr_ticket *ticket;
    enum sim_dir dir;
    int users; /* threads in a call on it */
    int told;  /* by its callback; 0 = nothing yet */
    bool shared, destroyed;
    struct promise promise;
    int permits;      /* that it is for; 0 = none */
    long asked, done; /* ticks: of the request for these, and of its return */
    bool once, granted;
    struct setting asked_in;
    int64_t gate;        /* czxid of its last node at the gate */
    int64_t beside_gate; /* since then it waits with no place there; 0 = it does not */
};

/* A thread of the application. */
struct app {
    struct process *p;
    struct sim_thread *thread;
    int at;
    int depth[SIM_LOCKS]; /* what it has to release */
    bool lost[SIM_LOCKS]; /* it was told so */
    struct promise promise[SIM_LOCKS];
    int passes;                /* that it owns */
    enum sim_lock acquiring;   /* it is in a call; SIM_LOCKS: in none */
    bool releasing[SIM_LOCKS]; /* by a write that is under way */
    long acquires;
    struct moment canceled; /* that call, by others */
};

struct process {
    int client;
    zkr_client *c;
    bool open, ending, shut;
    zkr_mutex *locks[SIM_LOCKS];
    zkr_rwlock *rw;
    zkr_semaphore *semaphore;
    zkr_multi_lock *multi;
    zkr_leader_latch *latch;
    zkr_leader_selector *selector;
    struct app apps[SIM_APPS];
    struct pass passes[SIM_PASSES];
    int calling;  /* callbacks that run now */
    bool led;     /* latch: between on_gain and on_loss */
    bool silent;  /* a stop since then has left out the loss, perhaps */
    int stopping; /* such stops that are under way */
    int leading;  /* take_leadership() that run now */
    long begun[SIM_LOCKS], lost[SIM_LOCKS],
        told[SIM_LOCKS]; /* holds; seen; by on_lost */
    int64_t stopped;     /* true time that it stood still, in all */
    long wishes, asked;  /* written to its nodes; told */
};

struct sim_did {
    long steps, threads, calls, acquired, timed_out, canceled, lost, wakes, tickets,
        permits, multis, downgrades, joined, gains, terms, callbacks, refused, closes,
        ends_holding, on_lost, shutdowns, wishes, asked, written, write_releases,
        resizes, several_permits, permits_in_turn, no_memory, kills, looks;
};

extern struct scene scene;
extern struct process processes[SIM_CLIENTS];
extern struct sim_did did;
extern bool sim_quiet; /* the end: who can lets go and ends */

/* run.c: run one seed. False: S.violation says what was wrong. */
bool sim_run(uint64_t seed, bool trace);

/* scene.c */
void sim_choose(uint64_t seed, bool trace);
const char *sim_dir(enum sim_dir dir);
/* What is written under the locks there. */
const char *sim_written(enum sim_dir dir);
bool sim_no_thread(void);
void sim_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool sim_peace(void); /* nothing at all goes wrong */

/* sim_door.c, sim_mem.c, sim_sync.c */
const struct zkr__door *sim_door(void);
long sim_blocks(void); /* of the library's memory */
bool sim_locked(struct zkr__mu *mu);

/* check.c */
void sim_check_begin(void);
void sim_check(void);
void sim_on_deleting(const struct zkf_node *node);
bool sim_may_hide(int client);
/* A node of this client that is on its way out, or to be a reader's. */
bool sim_makes_way(int client, const struct zkf_node *n, bool reads);
/* Neither people nor what cannot be measured have touched it. */
bool sim_trusted(int client, const struct zkr__claim *claim);
bool sim_may_judge(int client);
/* ops_mutex.c: nobody has held yet. */
void sim_taken_begin(void);
/* From @since on, true time, it is promised for @valid_ms of the client's. */
void sim_promise(struct process *p,
                 struct promise *promise,
                 enum sim_dir dir,
                 bool shared,
                 int64_t since,
                 int64_t valid_ms);

/* wishes.c */
void sim_wishes_begin(void);
void sim_wish_sent(const struct zkr__op *op);
void sim_check_wishes(int client, const struct zkr__claim *claim, int64_t held_at);

/* permits.c */
void sim_permits_begin(void);
const char *sim_max_from(void);
/* Tells what comes after what. */
long sim_permits_tick(void);
void sim_permits_asked(struct pass *pass, int n, bool once);
void sim_look_at_permits(struct process *p);
void sim_check_permits(int64_t held, int64_t earliest);
/* Everybody can be served. */
void sim_resize_enough(void);

/* process.c */
void sim_process_start(int client);

/* ops.c: one step of a thread's program; then its end */
void sim_op(struct app *a);
void sim_let_go(struct app *a, bool all);

#endif
