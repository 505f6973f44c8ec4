/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A search over the whole library: processes with their own threads call what applications call, on the fake servers,
 * in virtual time. A seed determines the scene, the programs of the threads, and the schedule.
 *
 * Files, bottom to top; calls go down only.
 *
 *   test_sim   the program: many seeds
 *   run        one seed from its beginning to its end
 *   process    a client, its objects and its threads, from open to close
 *   ops_*      the operations of threads: calls, and checks of their outcome
 *   tell       callbacks of the application
 *   history    the history of the locks, for the judge of test/history
 *   check      conditions after each step, whichever thread made it; wishes and permits check parts of them
 *   faults     faults of networks, servers and people, one after another; visitors: strangers in the directories
 *   habits     habits of the world: which took effect, and which took effect together
 *   lease      promises that depend on what cannot be measured
 *   scene      the choices of the seed
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

/* Lock objects of a process. The first two share one path. */
enum sim_lock { LOCK_A, LOCK_A2, LOCK_B, LOCK_C, READER, WRITER, SIM_LOCKS };

/* Directories. Holds in the same directory exclude each other. */
enum sim_dir {
    AT_LOCK,
    AT_SECOND,
    AT_THIRD,
    AT_RW,
    AT_PERMITS,
    AT_LATCH,
    AT_SELECTOR,
    SIM_DIRS,
    AT_GATE = SIM_DIRS /* PATH/locks of the semaphore: a node there holds nothing */
};

/* The choices of the seed. */
struct scene {
    uint64_t seed;
    int clients, servers;
    int64_t session, tick; /* ns */
    int64_t length, pace, fault_pace;
    int64_t longest_stop;
    bool peace; /* no faults at all */
    bool sit;   /* holds last long */
    bool split; /* servers are cut off one after another, with few other faults */
    bool isolations, lags, hands, kills, limits;
    /* One server grants short timeouts, another long ones; sessions move between them. */
    bool grows;
    int64_t attempts;
    int64_t epoch;      /* epoch of the first leader */
    int64_t margin_ppm; /* the allowed difference of clocks; 0 = the default */
    bool disasters;     /* all servers are killed or emptied */
    bool forbids;       /* permissions are withdrawn and restored, even in peace */
    enum zkf_counting counting;
    unsigned lacks;
    bool renews; /* servers give a new session at each re-connection */
    /* The permission to read is missing for a moment, and events of that time are lost. */
    bool lapses;
    bool replaces;      /* nodes deleted by a client are created again by another one */
    bool throttles;     /* servers are too busy at times */
    bool auth;          /* credentials are presented, and sometimes refused */
    bool door;          /* libzookeeper fails */
    bool starved;       /* memory is short at times */
    int64_t number;     /* the first sequence number; -1 = 0 */
    bool visits;        /* strangers create children in the directories */
    bool named;         /* some strangers choose the numbers themselves */
    bool remakes;       /* directories are created again while they are empty */
    bool forgetful;     /* clients remember short lists only */
    bool narrow;        /* clients create one node at a time */
    bool lies;          /* servers give impossible answers */
    bool guarded;       /* processes have a guardian */
    bool nearby;        /* processes of one host exchange news */
    bool exits;         /* callbacks end their threads */
    int64_t watch_most; /* room for watches of a session; 0 = the default */
    int64_t look_ahead; /* the option of that name */
    struct sim_pace turns;
    int64_t apps, ops;
    bool mutexes, tickets, rw, permits, multis, latches, selectors;
    bool rush; /* each call follows the last at once */
    bool timeouts, tries, cancels, shutdowns, early_ends, misuse, no_threads;
    bool reads, wait_on_release, by_hand, watch_node;
    bool wishes;  /* holders are asked to release */
    bool writes;  /* guarded writes, and releases with a write */
    bool resizes; /* the maximum changes; before a count exists, it is @max: */
    int64_t max;
    int64_t max_waiters; /* option of the third lock; 0 = no limit */
    int64_t keep_ms;     /* option of mutexes; 0 = their nodes are not kept */
    int64_t rounds;
};

struct process;

/* A time on a client's clock, and the total time for which its threads had been late or stopped by then. */
struct moment {
    int64_t at, late; /* 0 = never */
};

/* A promise to a thread or ticket that it surely holds until @until. */
struct promise {
    int64_t until; /* true time; 0 = none */
    enum sim_dir dir;
    bool shared;
    int64_t hold; /* its number in the history; 0 = not recorded */
    bool both;    /* a multi-lock: also on the second path */
};

/* The connection when permits were requested. If it is still the same, the request has not lost its place. */
struct setting {
    bool connected;
    int64_t session, reconnects;
};

/* A ticket, and the thread that must release it. */
struct pass {
    struct process *p;
    struct app *owner; /* NULL = this entry is free */
    zkr_ticket *ticket;
    enum sim_dir dir;
    int users; /* threads in a call on this ticket */
    int told;  /* the last state that its callback reported; 0 = none */
    bool warned;
    bool shared, released, destroyed;
    struct promise promise;
    int count;        /* number of permits; 0 = not a ticket for permits */
    int permits;      /* the same number, if it was requested without waiting */
    long asked, done; /* ticks of the request and of its return */
    bool once, granted;
    struct setting asked_in;
    int64_t gate; /* czxid of its last node in PATH/locks */
    /* The time since which the ticket waits without a node in PATH/locks; 0 = it does not. */
    int64_t beside_gate;
};

/* A thread of the application. */
struct app {
    struct process *p;
    struct sim_thread *thread;
    int at;
    int depth[SIM_LOCKS]; /* number of releases that the thread owes */
    bool lost[SIM_LOCKS]; /* the loss was reported */
    struct promise promise[SIM_LOCKS];
    int passes;                /* number of tickets that the thread owns */
    enum sim_lock acquiring;   /* the lock of its current call; SIM_LOCKS = none */
    bool releasing[SIM_LOCKS]; /* a write in flight will release */
    long acquires;
    struct moment canceled; /* when other threads canceled that call */
};

struct process {
    int client;
    zkr_client *c;
    zkr_client *checked; /* the same, while the checks after each step may use it */
    bool open, ending, shut;
    bool vanishes; /* its close counts as its death */
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
    bool silent;  /* a stop since then may have omitted on_loss */
    int stopping; /* such stops in progress */
    int leading;  /* running calls of take_leadership() */
    long begun[SIM_LOCKS], lost[SIM_LOCKS], told[SIM_LOCKS],
        warned[SIM_LOCKS]; /* holds; losses seen; on_lost, on_warn calls */
    int64_t stopped;       /* true time for which it was stopped, in total */
    long wishes, asked;    /* wishes written to its nodes, and reported */
    /* For the one rule of the lease bound that depends on what cannot be measured. */
    bool stalled;       /* stopped, or without contact to the servers */
    int64_t stalled_at; /* the last time when it was stalled */
    int64_t lease_seen; /* the bound at the last look */
    bool alone;         /* the bound comes from one write alone */
    /* The servers use this shorter timeout, which the client does not know yet; 0 = none. */
    int64_t shortened;
    int64_t reconnects; /* number of re-connections up to that time */
    int64_t shrunk;     /* the last session whose timeout became shorter; 0 = none */
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
extern char sim_violated[400]; /* the violation; "" = none */
extern bool sim_beyond; /* clocks differ by more than the margin, in all scenes */
extern struct zkf_actor sim_faults;
extern bool sim_still; /* just before the end: no faults, and no thread makes calls */
extern bool sim_quiet; /* the end: threads release what they can, and end */

/* run.c: run one seed. Returns false after a violation, which sim_violated describes. */
bool sim_run(uint64_t seed, bool trace);

/* scene.c */
void sim_choose(uint64_t seed, bool trace);
const char *sim_dir(enum sim_dir dir);
/* Returns the path that is written to under the locks there. */
const char *sim_written(enum sim_dir dir);
bool sim_no_thread(void);
void sim_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns how long a contender may take to notice that it need not wait any more. */
int64_t sim_patience(void);
bool sim_peace(void); /* nothing at all fails */

/* sim_door.c, sim_mem.c, sim_sync.c */
const struct zkr__door *sim_door(void);
long sim_blocks(void); /* allocated by the library */
bool sim_locked(struct zkr__mu *mu);

/* sim_guardian.c: begin without sessions to end. */
void sim_guardian_begin(void);

/* sim_nearby.c: begin without letters in flight. */
void sim_nearby_begin(void);
const struct zkr__nearby_door *sim_nearby_door(void);
/* Returns whether the owner of this node has released it, and has sent news of that to the next process. */
bool sim_handed(const char *path);

/* faults.c */
/* Choose the faults of the scene. zkf_chance() and similar functions are available. */
void sim_choose_faults(struct scene *s);
/* Begin the faults that exist from the start: limits of servers, numbers, the door. The fake runs already. */
void sim_begin_faults(void);
/* Returns by how much a client's clock is faster, in parts per million. */
int64_t sim_skew(void);
/* Restore all permissions, and let strangers leave. */
void sim_clean_up(void);
void sim_fault(void *unused);
void sim_calm(void);

/* visitors.c */
void sim_begin_visitors(void);
void sim_visit(void);
/* Let a stranger create a node with exactly this name. @owner as in zkf_stranger_create_for(). */
bool sim_visit_as(const char *path, int64_t owner);
/* Returns whether a stranger created @node with a number that the servers had not reached yet. */
bool sim_is_ahead_of_count(const struct zkf_node *node);
/* Let all strangers leave that may be in the way. Returns false if some cannot leave yet. */
bool sim_end_visits(void);
/* Called when a client sends @op. If @op creates a node in an empty directory, the directory may be created again. */
void sim_on_create(const struct zkr__op *op);
/* Count the steps in which this client saved a list, sent one after all, or shared one. */
void sim_count_lists(int client);
/* Create a directory again if that is due. Returns false if not. */
bool sim_remake(void);

/* habits.c */
void sim_habits_begin(void);
void sim_habits_end(void);
/* Print how often each habit took effect. Returns how many pairs never did within one run although they should have by
   chance. */
int sim_habits_print(void);

/* lease.c */
/* The client is cut off from its servers from now on, or no longer. */
void sim_stalled(int client, bool stalled);
void sim_on_shortened(int client, int64_t session, int64_t timeout);
void sim_on_expired(int64_t session);
void sim_look_at_lease(int client);
/* Returns whether the client may now promise more than it can know. */
bool sim_leans(int client);

/* check.c */
void sim_check_begin(void);
/* Forget all promises to threads of the client, because their holds may be taken away. */
void sim_forget_promises(int client);
int sim_on_submit(int client, const struct zkr__op *op);
/* @node is about to be deleted by another client, or its session to be ended. */
void sim_excuse(const struct zkf_node *node);
/* Like sim_excuse(), even if the client may not learn of the deletion. */
void sim_excuse_always(const struct zkf_node *node);
/* All data, and all promises with them, are about to be deleted. */
void sim_excuse_all(void);
/* Returns the node ahead of @node, or NULL. */
const struct zkf_node *sim_ahead(const struct zkf_node *node);
void sim_check(void);
void sim_on_deleting(const struct zkf_node *node);
bool sim_may_hide(int client);
/* Returns whether @n is a node of this client that is being removed or becoming a reader's node. */
bool sim_makes_way(int client, const struct zkf_node *n, bool reads);
/* Returns whether this node of the client is unaffected by other clients and by what cannot be measured. */
bool sim_trusted(int client, const char *path);
bool sim_may_judge(int client);
/* ops_mutex.c: begin without earlier holds. */
void sim_taken_begin(void);
/* Record a promise of @valid_ms by the client's clock, from @since in true time on. */
void sim_promise(struct process *p,
                 struct promise *promise,
                 enum sim_dir dir,
                 bool shared,
                 int64_t since,
                 int64_t valid_ms);

/* history.c */
/* NULL = no history is written. Otherwise only the judge checks the holders. */
extern FILE *sim_history;
/* Begin a run. */
void sim_history_begin(void);
/* A hold that an acquire, called at @called, has returned. @kind as in the format. */
struct sim_told {
    int client, thread;
    enum sim_dir dir;
    const char *kind;
    int64_t called, token, pass;
    int permits;
};
/* Record a hold. From here on, @promise belongs to it. */
void sim_tell_hold(struct promise *promise, const struct sim_told *told);
/* Record that the owner has relied on the hold from @since on. */
void sim_tell_sure(const struct promise *promise, int64_t since);
/* Record that the owner cannot know that its promise no longer counts. */
void sim_tell_taken(const struct promise *promise);
/* Record that a writer became a reader. */
void sim_tell_reader(struct promise *writer, struct promise *reader, int64_t called);
/* Record the release of the hold in a call that began at @called. */
void sim_tell_over(struct promise *promise, int64_t called);

/* wishes.c */
void sim_wishes_begin(void);
void sim_touch(const struct zkf_node *node);
void sim_wish_sent(const struct zkr__op *op);
void sim_check_wishes(int client, const struct zkr__claim *claim, int64_t held_at);

/* permits.c */
void sim_permits_begin(void);
const char *sim_max_from(void);
/* Returns increasing numbers, which order the events. */
long sim_permits_tick(void);
int64_t sim_max_now(void);
void sim_permits_asked(struct pass *pass, int n, bool once);
void sim_look_at_permits(struct process *p);
void sim_check_permits(int64_t held, int64_t earliest);
void sim_resize(void);
/* Raise the maximum so that all requests can be granted. */
void sim_resize_enough(void);

/* process.c */
void sim_process_start(int client);

/* ops.c: one step of a thread's program, and the end of the program */
void sim_op(struct app *a);
void sim_let_go(struct app *a, bool all);

#endif
