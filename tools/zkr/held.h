/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock or a leadership, from the queue to the release: the wait, the use, and a loss.
 *
 * The lease is the time for which the lock is still surely held. Normally the lease probes keep its end at least 0.6 of a
 * session timeout ahead. When the end is no further ahead than kill_after + margin, probes have gone unanswered, and the lock
 * is in doubt. Both together leave room for a pause of the servers of 0.45 of a session timeout. In doubt the command gets
 * the kill signal, and SIGKILL after kill_after, or margin before the end if that is earlier. Doubt is final.
 */
#ifndef ZKR_CLI_HELD_H
#define ZKR_CLI_HELD_H

#include <pthread.h>
#include <time.h>

#include "client.h"
#include "clock.h"

/** Why the lock is lost, or in doubt. */
struct held_reason {
    int reason;     /* ZKR_LOST_…; also ZKR_LOST_LEASE for doubt; 0 = neither */
    char text[256]; /* what was observed */
    bool stopped;   /* zkr itself was stopped */
    bool slow;      /* answers came, but late */
    bool early;     /* the session ended too early for its timeout */
};

/** Is the lock surely held? */
enum lease_phase { LEASE_SURE, LEASE_DOUBT, LEASE_OVER };

struct held {
    struct env *env;
    zkr_leader_latch *latch; /* grants a leadership; NULL: it is a lock */
    zkr_ticket *ticket;      /* grants the lock; NULL: not in the queue */
    const char *path;
    const char *what; /* "lock on", for messages */
    bool revocable;   /* zkr revoke can ask for it */
    bool once;        /* do not queue again afterwards */
    bool no_guardian; /* nobody ends the session when zkr is killed */
    bool said_slow;   /* that the servers are */
    int kill_signal;
    int64_t kill_after_ms; /* as given; negative = auto */
    int64_t delay_ms;      /* from a grant after a wait to the start of the command */
    int64_t min_hold_ms;   /* from the grant to the release */
    int64_t started;       /* when the wait began */
    int64_t until;         /* deadline of the wait, then of the end; or NEVER */

    int refusal; /* HELD_REFUSED: a code of the library; ZKR_OK: revoked before the start */
    char *node;
    size_t node_size;
    _Atomic(int64_t) token;
    int64_t session_id;
    int64_t granted;
    bool lost;   /* and that was reported */
    bool ended;  /* by a signal to zkr or the command, or by a revocation */
    bool failed; /* the command could not be started */
    bool last;   /* do not queue again */

    enum lease_phase phase;
    bool slept;         /* our timer had to continue zkr, or its time has passed */
    bool settled;       /* the lease was half a session long at least once */
    int64_t wake_at;    /* the time of the timer, by clock_now_ms(); 0 = off */
    int64_t stepped_at; /* held_step() looked at the clock */
    int64_t kill_at;    /* when the phase becomes LEASE_OVER, by clock_now_ms() */
    int64_t
        bound; /* when the keeper kills the command if zkr does not run, by clock_now_ms(); 0 = never */
    bool has_timer;
    timer_t timer;
    struct held_reason doubt; /* set when the lease is in doubt */

    int news_fd; /* readable after a loss or a revocation */
    _Atomic(bool) revoked;
    _Atomic(bool) unfit; /* to lead; set under mu */
    pthread_mutex_t mu;
    struct held_reason loss; /* under mu, like the next one */
    int bond; /* a byte into it kills the group of the command; -1 = none */
};

/**
 * Opens the client. Set the first part of the structure before; call held_end() in any case. Returns 0 or an exit code,
 * reported.
 */
int held_begin(struct held *h, const char *owner);
/** Waits for the first session. Returns 0 or an exit code, reported. */
int held_connect(struct held *h);
/** Besides exit codes: granted; granted, but lost before the start; not granted, with held.refusal, not reported yet. */
enum { HELD_START = -1, HELD_AGAIN = -2, HELD_REFUSED = -3 };

/**
 * Waits for the grant, for the delay, and for enough of a lease to start a command. @late: when the wait for the grant is
 * canceled; or NEVER. Returns one of these, or an exit code, reported.
 */
int held_obtain(struct held *h, int64_t late);
/** Sets held.refusal. Returns HELD_REFUSED. */
int held_refuse(struct held *h, int rc);
/** Releases the ticket, or leaves the queue. No callback of the ticket runs afterwards. */
void held_leave(struct held *h);
/** Tells the service manager that zkr waits. */
void held_say_waiting(const struct held *h);
/** Says once that servers answer too slowly for the lease, which may be why nothing is granted. */
void held_say_slow(struct held *h);

/**
 * Runs the command by child_run(). Without a command prints the holder line, and waits for a signal or the end of the input.
 * Returns an exit code, reported. The caller releases the lock afterwards.
 */
int held_use(struct held *h);

/* Callbacks of the library, with the hold as ctx. */

void held_on_ticket(zkr_ticket *t, int state, void *held);
void held_on_latch(zkr_leader_latch *latch, const zkr_lost *lost, void *held);
void held_on_revoke(zkr_mutex *m, void *held);
/** Wakes held_sleep(). */
void held_on_contenders(zkr_leader_latch *latch, void *held);

/** Whether it may lead. If not, a command that runs is ended as by a revocation; without one the latch leaves the queue. */
void held_set_fit(struct held *h, bool fit);
/** Before each term: tells the latch, which may not have been told while the command of the last term was ending. */
void held_tell_fit(struct held *h);
/** Forgets a loss and a revocation, before the next grant. */
void held_reset(struct held *h);
/** Closes the client; see client_end(). Returns @status. */
int held_end(struct held *h, int status);

/* --- while it is used --- */

/** Updates and returns the phase. */
enum lease_phase held_step(struct held *h);

/** zkr was stopped for too long: the lock is in doubt, whatever the lease is. */
void held_doubt(struct held *h);

/**
 * How long to sleep before the next step, in ms. Also sets a timer: if zkr is stopped (SIGSTOP) at that time, the timer
 * sends SIGCONT, which continues zkr.
 */
int64_t held_rest(struct held *h);
/** Sleeps until a signal, a loss, a revocation, or input from @other. True: @other is readable. */
bool held_sleep(const struct held *h, int other, int64_t ms);
/** The same while no command runs, with messages to the service manager. Returns 0, or the exit code of a signal. */
int held_pause(const struct held *h, int64_t ms);
/** Takes note of a revocation. False: there is none that is new. */
bool held_is_revoked(struct held *h);
/** How long a command may take to end after the kill signal while the lock is surely held. */
int64_t held_patience(const struct held *h);
/** Reports the loss of the node or of the session, or a lease in doubt. Returns CLI_LOST. */
int held_say_lost(struct held *h, const char *rest);

/* --- child.c --- */

/**
 * For held_use(): runs env->globals.command until all its descendants have gone, and ends it when the lock is lost, in doubt or
 * revoked. Returns an exit code, reported.
 */
int child_run(struct held *h);

/* --- once.c: zkr once: the data of the path records when the command succeeded last, by the clock of the servers --- */

/** For options: a time such as 90, 30m, 1.5h or 1d, in milliseconds. */
bool once_take_period(void *every_ms, char *value);
/**
 * Holding the lock: is the command due? Claims the path for records, so that what is wrong with it is known before the start.
 * Returns HELD_START, HELD_AGAIN, or an exit code, reported: 0 = not due.
 */
int once_begin(struct held *h, int64_t every_ms);
/**
 * Records a success, while the lock is still held; a no-op without once_begin(). Returns @status, that of the command; or an
 * exit code, reported.
 */
int once_end(struct held *h, int status);

/* --- health.c: elect --health: while a check fails, zkr is no candidate, and a leader gives up --- */

struct health_options {
    const char *check; /* for the shell; NULL: none, and all calls are no-ops */
    int64_t every_ms;  /* from the start of a check to the next; also its time limit */
    int64_t failures;  /* in a row, until it is not healthy any more */
};

/** Starts the checks. It is not healthy until the first one succeeds. Returns 0 or an exit code, reported. */
int health_begin(struct held *h, const struct health_options *options);
/** Ends the checks. A check that runs is killed. */
void health_end(void);

/* --- yield.c: elect --yield: asks the leader to step down, or all others to let one candidate pass --- */

/** Starts the thread that looks for requests while this zkr leads. Returns 0 or an exit code, reported. */
int yield_begin(struct held *h);
/**
 * At the start of a term: looks, and goes on to do so. A request that is found later ends the command as a revocation.
 * Returns HELD_START; HELD_AGAIN: it is lost, or was asked, and is now at the end of the queue; or an exit code, reported.
 */
int yield_look(void);
/** The term is over. */
void yield_rest(void);
/** A no-op without yield_begin(), like yield_rest(). */
void yield_end(void);

/**
 * Asks the leader at held.path to step down, and waits until held.until for another to lead. @to: the one that is to lead;
 * NULL: any. Returns an exit code, reported. Makes held.latch.
 */
int yield_ask(struct held *h, const char *to);

#endif
