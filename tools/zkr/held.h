/* SPDX-License-Identifier: Apache-2.0 */
/* A lock or a leadership, from the queue to the release: what all parts of a subcommand need of it. */
#ifndef ZKR_CLI_HELD_H
#define ZKR_CLI_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "env.h"
#include "grant.h"
#include "lease.h"
#include "news.h"
#include "options.h"

struct held {
    struct env *env;
    const char *path;
    const char *what; /* "lock on", for messages */
    bool revocable;   /* zkr revoke can ask for it */
    bool nearby; /* a mutex: the next zkr on this host does not wait for the servers */
    bool once;   /* do not queue again afterwards */
    bool no_guardian; /* nobody ends the session when zkr is killed */
    int kill_signal;
    int warn_signal;     /* sent once lease.warn_ms before the kill signal; 0 = none */
    int64_t delay_ms;    /* from a grant after a wait to the start of the command */
    int64_t min_hold_ms; /* from the grant to the release */
    int64_t started;     /* when the wait began */
    int64_t until;       /* deadline of the wait, then of the end; or NEVER */

    struct grant grant;
    struct lease lease;
    struct news news;
    int refusal; /* HELD_REFUSED: a code of the library; ZKR_OK: revoked before the start */
    bool said_slow; /* that the servers are */
    int64_t granted;
    bool lost;   /* and that was reported */
    bool ended;  /* by a signal to zkr or the command, or by a revocation */
    bool failed; /* the command could not be started */
    bool last;   /* do not queue again */
};

/**
 * Outcomes besides exit codes: granted; granted, but lost before the start; not granted, with held.refusal, not reported
 * yet.
 */
enum { HELD_START = -1, HELD_AGAIN = -2, HELD_REFUSED = -3 };

/**
 * Opens the client. Set the first part of the structure before, and lease.kill_after_ms; it must not be moved afterwards. Call
 * held_end() in any case. Returns 0 or an exit code, reported.
 */
int held_begin(struct held *h, const char *owner);
/** Waits for the first session. Returns 0 or an exit code, reported. */
int held_connect(struct held *h);
/** Closes the client; see client_end(). Returns @status. */
int held_end(struct held *h, int status);

/** The options of a warning do not go together. */
struct option_fault held_warning_fault(const struct held *h);

/** Callback of the library, with the hold as ctx. */
void held_on_latch(zkr_leader_latch *latch, const zkr_lost *lost, void *held);

/** Sets held.refusal. Returns HELD_REFUSED. */
int held_refuse(struct held *h, int rc);
/** Forgets a loss and a revocation, before the next grant. */
void held_reset(struct held *h);
/** Updates and returns the phase of the lease. A loss ends it. */
enum lease_phase held_step(struct held *h);
/** Reports the loss of the node or of the session, or a lease in doubt. Returns CLI_LOST. */
int held_say_lost(struct held *h, const char *rest);

/** Sleeps until a signal, news, or input from @other. True: @other is readable. */
bool held_sleep(const struct held *h, int other, int64_t ms);
/** The same while no command runs, with messages to the service manager. Returns 0, or the exit code of a signal. */
int held_pause(const struct held *h, int64_t ms);

#endif
