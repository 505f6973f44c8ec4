/* SPDX-License-Identifier: Apache-2.0 */
/* What is held, whoever granted it: the wait for it, a command that runs meanwhile, its loss, and the end. */
#ifndef ZKR_CLI_HELD_H
#define ZKR_CLI_HELD_H

#include <pthread.h>

#include "client.h"
#include "lease.h"

struct held;

/** Who grants: a ticket of a lock, or a leader latch. */
struct held_grantor {
    int (*wait)(void *ctx);    /* until it is held; a code of the library */
    void (*cancel)(void *ctx); /* from any thread, any number of times: the wait ends */
    int (*read)(
        void *ctx,
        struct held
            *h); /* node and token; any other code than ZKR_OK: it is over already */
};

/** Why a hold is over, or not to be trusted any more. */
struct held_reason {
    int reason; /* ZKR_LOST_…; ZKR_LOST_LEASE also when its end was near; 0 = all is well */
    char text[256]; /* what was observed */
    bool stopped;   /* it was this process that stood still */
};

struct held {
    struct env *env;
    const struct held_grantor *grantor;
    void *ctx; /* for its functions, and for lease.valid_for_ms() */
    const char *path;
    const char *what; /* "lock on", for messages */
    bool revocable;   /* the holder can be asked to release it */
    bool once;        /* it is not tried for again */
    int kill_signal;
    int64_t delay_ms;    /* between a grant that was waited for and the start */
    int64_t min_hold_ms; /* from the grant to the release, if nothing else ends it */
    int64_t started;     /* when it was first wanted */
    int64_t
        until; /* to be obtained by then; afterwards, when to give up the end. Or CLI_NEVER */
    struct lease lease; /* its wanted_ms is set before */
    struct stats stats; /* its file is set before */

    char *node;
    size_t node_size;
    int64_t token;
    int64_t session_id;
    int64_t granted;
    bool lost; /* before its end, and that was said */
    bool
        told; /* the end came after we, or the command, had been told to stop or asked to release */
    bool used;   /* a command was started, or there is none */
    bool failed; /* it could not be started: the exit code is ours */
    bool last;   /* no other is to follow */

    int lost_fd;                /* readable once it is lost */
    int asked_fd;               /* readable while somebody wants it to be released */
    struct child_permit permit; /* denied once it is lost */
    pthread_mutex_t mu;
    struct held_reason loss;  /* under mu; reason: 0 = it is not lost */
    struct held_reason doubt; /* when the lease came to its end */
};

/** Opens the client. Set what stands above in the structure before; held_end() follows. Returns 0 or an exit code, reported. */
int held_begin(struct held *h, const char *owner);

/** Waits for the first session. Returns 0 or an exit code, reported. */
int held_connect(struct held *h);

enum held_start {
    HELD_START,   /* it is held, and a command may start */
    HELD_OVER,    /* it was lost before that */
    HELD_REFUSED, /* the grantor said no: *code of the library */
    HELD_LATE,    /* no answer from the servers makes it safe in time */
    HELD_ASKED,   /* somebody wants it to be released */
    HELD_ENDED /* by a signal, or a failure that is reported: *code is the exit code */
};

/**
 * Waits for the grant, and then until a command may start: not before the delay is over, and when the lease bound is
 * comfortably far. A lock that was long waited for may be granted just before the bound, and one answered probe moves it.
 * @late: when the wait is canceled; or CLI_NEVER.
 */
enum held_start held_obtain(struct held *h, int64_t late, int *code);

/** Tells the service manager that it is waited for. */
void held_say_waiting(const struct held *h);

/**
 * Runs the command, or without one prints the holder line and waits for a signal or the end of the input. Returns an exit
 * code, reported. It is still to be released.
 */
int held_use(struct held *h, char **command);

/** From any thread: it is lost. Kills the command, and lets none start any more. */
void held_tell_lost(struct held *h, const zkr_lost *lost);

/** From any thread: somebody wants it to be released. */
void held_tell_asked(struct held *h);

/** It was released: what was said of it is not meant for the next. */
void held_reset(struct held *h);

/** Closes the client; see client_end(). Returns @status. */
int held_end(struct held *h, int status);

#endif
