/* SPDX-License-Identifier: Apache-2.0 */
/* A lock or a leadership, from the queue to the release: the wait, the command that runs meanwhile, and a loss. */
#ifndef ZKR_CLI_HELD_H
#define ZKR_CLI_HELD_H

#include <pthread.h>

#include "client.h"
#include "lease.h"

struct held;

/** What grants it: the ticket of a lock, or a leader latch. */
struct held_grantor {
    int (*wait)(void *ctx);    /* until granted; a code of the library */
    void (*cancel)(void *ctx); /* ends the wait; from any thread, any number of times */
    int (*read)(void *ctx, struct held *h); /* node and token; fails when lost */
};

/** Why it is lost, or in doubt. */
struct held_reason {
    int reason;     /* ZKR_LOST_…; also ZKR_LOST_LEASE for doubt; 0 = neither */
    char text[256]; /* what was observed */
    bool stopped;   /* zkr itself was stopped */
};

struct held {
    struct env *env;
    const struct held_grantor *grantor;
    void *ctx; /* of the grantor and of lease.valid_for_ms() */
    const char *path;
    const char *what; /* "lock on", for messages */
    bool revocable;   /* zkr revoke can ask for it */
    bool once;        /* do not queue again afterwards */
    int kill_signal;
    int64_t delay_ms;    /* from a grant after a wait to the start of the command */
    int64_t min_hold_ms; /* from the grant to the release */
    int64_t started;     /* when the wait began */
    int64_t until;       /* deadline of the wait, then of the end; or CLI_NEVER */
    struct lease lease;  /* its wanted_ms is set before */
    struct stats stats;  /* its file is set before */

    char *node;
    size_t node_size;
    int64_t token;
    int64_t session_id;
    int64_t granted;
    bool lost;   /* and that was reported */
    bool ended;  /* by a signal to zkr or the command, or by a revocation */
    bool used;   /* the command was started, or there is none */
    bool failed; /* the command could not be started */
    bool last;   /* do not queue again */

    int lost_fd;                /* readable once lost */
    int revoked_fd;             /* readable after a revocation */
    struct child_permit permit; /* denied once lost */
    pthread_mutex_t mu;
    struct held_reason loss;  /* under mu */
    struct held_reason doubt; /* set when the lease is in doubt */
};

/** Opens the client. Set the first part of the structure before; call held_end() in any case. Returns 0 or an exit code, reported. */
int held_begin(struct held *h, const char *owner);

/** Waits for the first session. Returns 0 or an exit code, reported. */
int held_connect(struct held *h);

enum held_start {
    HELD_START,   /* granted, and the command may start */
    HELD_OVER,    /* granted, but lost before the start */
    HELD_REFUSED, /* the wait failed: *code is a code of the library */
    HELD_LATE,    /* granted, but the lease was not renewed in time */
    HELD_REVOKED, /* revoked before the start */
    HELD_ENDED    /* a signal, or a failure that is reported: *code is the exit code */
};

/**
 * Waits for the grant, then for the delay, and then until there is enough of a lease to start a command: after a long wait
 * there may be little left, until a probe is answered. @late: when the wait for the grant is canceled; or CLI_NEVER.
 */
enum held_start held_obtain(struct held *h, int64_t late, int *code);

/** Tells the service manager that zkr waits. */
void held_say_waiting(const struct held *h);

/**
 * Runs the command, or without one prints the holder line and waits for a signal or the end of the input. Returns an exit
 * code, reported. The caller releases the lock afterwards.
 */
int held_use(struct held *h, char **command);

/** From any thread: it is lost. Kills the command, and prevents a start. */
void held_lost(struct held *h, const zkr_lost *lost);

/** From any thread: another client asks to release it. */
void held_revoked(struct held *h);

/** Forgets a loss and a revocation, before the next grant. */
void held_reset(struct held *h);

/** Closes the client; see client_end(). Returns @status. */
int held_end(struct held *h, int status);

#endif
