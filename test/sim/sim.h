/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole library, searched: processes with threads of their own call what applications call, on the
 * fake, in virtual time. A seed makes the scene, the programs of the threads, and who goes on when.
 *
 * Files, bottom to top; calls go down only.
 *
 *   test_sim   the program: many seeds
 *   run        one seed from its beginning to its end
 *   process    a client, what is made on it, and its threads, from open to close
 *   ops_*      what a thread may do next: calls, and what must hold of their outcome
 *   tell       callbacks of the application
 *   history    what was done, for the judge of test/history
 *   check      what must hold after each step, whoever called what; wishes, permits: of these
 *   faults     of networks, servers and people, one after the other; visitors: strangers in the directories
 *   habits     of the world: which of them took effect, and which together
 *   lease      where a promise leans on what cannot be measured
 *   scene      what the seed has chosen
 *   sim_sync, sim_thread, sim_mem, sim_door, sim_guardian, sim_nearby     the library's seams
 *   threads    -> coro
 */
#ifndef ZKT_SIM_H
#define ZKT_SIM_H

#include <stdio.h>

#include <zkr/zkr.h>

#include "fake.h"
#include "queue/hold.h"
#include "recipes/leader_latch.h"
#include "recipes/ticket.h"
#include "session/bound.h"
#include "session/open.h"
#include "session/request.h"
#include "session/service.h"
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

/* What the seed has chosen. */
struct scene {
    uint64_t seed;
    int clients, servers;
    int64_t session, tick; /* ns */
    int64_t length, pace, fault_pace;
    int64_t longest_stop;
    bool peace; /* no faults at all */
    bool sit;   /* who holds holds for long */
    bool split; /* servers cut off, one after the other, and little else */
    bool isolations, lags, hands, kills, limits;
    bool
        grows; /* one server grants short time-outs, another long ones; sessions go to and fro */
    int64_t attempts;
    int64_t epoch;      /* of the first leader */
    int64_t margin_ppm; /* by which clocks may differ, 0 = as it is by default */
    bool disasters;     /* all servers killed, or emptied */
    bool forbids;       /* permissions come and go, with peace, too */
    enum zkf_counting counting;
    unsigned lacks;
    bool renews;        /* servers give a new session at each re-connection */
    bool lapses;        /* one is missing for a moment, and what happens is not told */
    bool replaces;      /* nodes that are deleted by hand come back as another's */
    bool throttles;     /* servers are too busy at times */
    bool auth;          /* credentials are handed in, and refused at times */
    bool door;          /* libzookeeper fails */
    bool starved;       /* memory is short at times */
    int64_t number;     /* given out first, -1 = 0 */
    bool visits;        /* strangers put children beside ours */
    bool named;         /* some of them by numbers of their own */
    bool remakes;       /* directories are made again as they are empty */
    bool forgetful;     /* clients remember short lists only */
    bool narrow;        /* their nodes are made one at a time */
    bool lies;          /* servers answer what cannot be */
    bool guarded;       /* processes have a guardian */
    bool nearby;        /* processes of one host tell each other news */
    bool exits;         /* callbacks end their threads */
    int64_t watch_most; /* room for watches of a session; 0 = as much as is usual */
    int64_t look_ahead; /* the option of that name */
    struct sim_pace turns;
    int64_t apps, ops;
    bool mutexes, tickets, rw, permits, multis, latches, selectors;
    bool rush; /* one call follows the other */
    bool timeouts, tries, cancels, shutdowns, early_ends, misuse, no_threads;
    bool reads, wait_on_release, by_hand, watch_node;
    bool wishes;  /* holders are asked to let go */
    bool writes;  /* under a lock, and with its release */
    bool resizes; /* of the semaphore, as long as there is no count: */
    int64_t max;
    int64_t max_waiters; /* of the third lock; 0 = any */
    int64_t keep_ms;     /* of mutexes; 0 = their nodes are not kept */
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
    int64_t hold; /* its number in the history; 0 = it is not told */
    bool both;    /* of a multi-lock: the second path, too */
};

/* The connection when permits were asked for; if it is still the same, nothing took the place away. */
struct setting {
    bool connected;
    int64_t session, reconnects;
};

/* A ticket, and who is to give it back. */
struct pass {
    struct process *p;
    struct app *owner; /* NULL = this place is free */
    zkr_ticket *ticket;
    enum sim_dir dir;
    int users; /* threads in a call on it */
    int told;  /* by its callback; 0 = nothing yet */
    bool warned;
    bool shared, released, destroyed;
    struct promise promise;
    int count;        /* of permits; 0 = it is for none */
    int permits;      /* the same, if it was asked for without waiting */
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
    zkr_client *checked; /* the same, while it is looked at after each step */
    bool open, ending, shut;
    bool vanishes; /* its close is its death */
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
    int64_t term; /* latch: the token of the last on_gain */
    bool term_warned;
    int exits;    /* threads that callbacks have ended */
    bool silent;  /* a stop since then has left out the loss, perhaps */
    int stopping; /* such stops that are under way */
    int leading;  /* take_leadership() that run now */
    long begun[SIM_LOCKS], lost[SIM_LOCKS], told[SIM_LOCKS],
        warned[SIM_LOCKS]; /* holds; seen; by on_lost; by on_warn */
    int64_t stopped;       /* true time that it stood still, in all */
    long wishes, asked;    /* written to its nodes; told */
    /* For the one rule of the lease bound that leans on what cannot be measured. */
    bool stalled;       /* stopped, or heard by nobody */
    int64_t stalled_at; /* last time of that */
    int64_t lease_seen; /* the bound at the last look */
    bool alone;         /* it comes from one write alone */
    /* The servers count with this time-out, of which it has not heard; 0 = no. */
    int64_t shortened;
    int64_t reconnects; /* it had made by then */
    int64_t shrunk;     /* the session whose time-out became shorter last; 0 = none */
};

struct sim_did {
    long steps, threads, calls, acquired, timed_out, lost, wakes, tickets, permits,
        multis, downgrades, gains, terms, callbacks, refused, closes, ends_holding,
        on_lost, shutdowns, wishes, asked, written, write_releases, resizes,
        several_permits, permits_in_turn, no_memory, kills, looks, faults, cuts, stops,
        isolations, crashes, hands, shortened, moves, leaderless, numbers_spent,
        replaced, visits, visits_named, remakes, remakes_counted_on, bare, wrong,
        lists_shared, placed_behind, lined_up, limited, prepared, swept, lags, silences,
        drifts, guarded, exits, news, news_lost, news_forged, news_grants, warned;
};

extern struct scene scene;
extern struct process processes[SIM_CLIENTS];
extern struct sim_did did;
extern char sim_violated[400]; /* what was wrong; "" = nothing */
extern bool sim_beyond; /* clocks differ by more than was promised, in all scenes */
extern struct zkf_actor sim_faults;
extern bool sim_still; /* before the end: no faults, and no thread calls anything */
extern bool sim_quiet; /* the end: who can lets go and ends */

/* run.c: run one seed. False: sim_violated says what was wrong. */
bool sim_run(uint64_t seed, bool trace);

/* scene.c */
void sim_choose(uint64_t seed, bool trace);
const char *sim_dir(enum sim_dir dir);
/* What is written under the locks there. */
const char *sim_written(enum sim_dir dir);
bool sim_no_thread(void);
void sim_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For so long one that need not wait may not know. */
int64_t sim_patience(void);
bool sim_peace(void); /* nothing at all goes wrong */

/* sim_door.c, sim_mem.c, sim_sync.c */
const struct zkr__door *sim_door(void);
long sim_blocks(void); /* of the library's memory */
bool sim_locked(struct zkr__mu *mu);

/* sim_guardian.c: nothing is to be ended yet. */
void sim_guardian_begin(void);

/* sim_nearby.c: no letter is on its way. */
void sim_nearby_begin(void);
const struct zkr__nearby_door *sim_nearby_door(void);
/* The owner of this node has let go, and has told the next process so. */
bool sim_handed(const char *path);

/* faults.c */
/* Of the scene; zkf_chance() and the like are at hand. */
void sim_choose_faults(struct scene *s);
/* What stands from the beginning: limits of servers, numbers, the door. The fake runs. */
void sim_begin_faults(void);
/* By how much a client's clock is faster, in parts of a million. */
int64_t sim_skew(void);
/* What was forbidden is allowed, and strangers leave. */
void sim_clean_up(void);
void sim_fault(void *unused);
void sim_calm(void);

/* visitors.c */
void sim_begin_visitors(void);
void sim_visit(void);
/* One with this very name, for @owner as zkf_stranger_create_for() has it. */
bool sim_visit_as(const char *path, int64_t owner);
/* A stranger that named itself by a number which the servers had yet to come to. */
bool sim_is_ahead_of_count(const struct zkf_node *node);
/* All leave who may be in the way. False: some cannot yet. */
bool sim_end_visits(void);
/* A client sends it: if it makes a node in a directory that is empty, that may be made again. */
void sim_on_create(const struct zkr__op *op);
/* Steps of this client in which it asked for no list, asked for one after all, had one with others. */
void sim_count_lists(int client);
/* Do so, if one is to be. False: none is. */
bool sim_remake(void);

/* habits.c */
void sim_habits_begin(void);
void sim_habits_end(void);
/* What took effect how often. Returns how many pairs never did within one run, though chance would have it. */
int sim_habits_print(void);

/* lease.c */
/* The client was, or is no more, kept from its servers. */
void sim_stalled(int client, bool stalled);
void sim_on_shortened(int client, int64_t session, int64_t timeout);
void sim_on_expired(int64_t session);
void sim_look_at_lease(int client);
/* What it promises now may be more than it can know. */
bool sim_leans(int client);

/* check.c */
void sim_check_begin(void);
/* What threads of the client were promised may be taken from them. */
void sim_forget_promises(int client);
int sim_on_submit(int client, const struct zkr__op *op);
/* @node is about to be deleted by hand, or its session ended. */
void sim_excuse(const struct zkf_node *node);
/* The same, of one that may not hear of it. */
void sim_excuse_always(const struct zkf_node *node);
/* All data are about to go, and with them all that was promised. */
void sim_excuse_all(void);
/* The node in front of this one, or NULL. */
const struct zkf_node *sim_ahead(const struct zkf_node *node);
void sim_check(void);
void sim_on_deleting(const struct zkf_node *node);
bool sim_may_hide(int client);
/* A node of this client that is on its way out, or to be a reader's. */
bool sim_makes_way(int client, const struct zkf_node *n, bool reads);
/* Neither people nor what cannot be measured have touched this node of the client. */
bool sim_trusted(int client, const char *path);
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

/* history.c */
/* NULL = nothing is told; else the judge alone looks who holds. */
extern FILE *sim_history;
/* A run begins. */
void sim_history_begin(void);
/* What an acquire that was called at @called has got. @kind as in the format. */
struct sim_told {
    int client, thread;
    enum sim_dir dir;
    const char *kind;
    int64_t called, token, pass;
    int permits;
};
/* From here on @promise is about this hold. */
void sim_tell_hold(struct promise *promise, const struct sim_told *told);
/* Its owner was told from @since on. */
void sim_tell_sure(const struct promise *promise, int64_t since);
/* It cannot know that what it was promised counts no more. */
void sim_tell_taken(const struct promise *promise);
/* A writer became a reader. */
void sim_tell_reader(struct promise *writer, struct promise *reader, int64_t called);
/* Its owner has let go, in a call that began at @called. */
void sim_tell_over(struct promise *promise, int64_t called);

/* wishes.c */
void sim_wishes_begin(void);
void sim_touch(const struct zkf_node *node);
void sim_wish_sent(const struct zkr__op *op);
void sim_check_wishes(int client, const struct zkr__claim *claim, int64_t held_at);

/* permits.c */
void sim_permits_begin(void);
const char *sim_max_from(void);
/* Tells what comes after what. */
long sim_permits_tick(void);
int64_t sim_max_now(void);
void sim_permits_asked(struct pass *pass, int n, bool once);
void sim_look_at_permits(struct process *p);
void sim_check_permits(int64_t held, int64_t earliest);
void sim_resize(void);
/* Everybody can be served. */
void sim_resize_enough(void);

/* process.c */
void sim_process_start(int client);

/* ops.c: one step of a thread's program; then its end */
void sim_op(struct app *a);
void sim_let_go(struct app *a, bool all);

#endif
