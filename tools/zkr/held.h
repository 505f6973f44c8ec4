/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock or a leadership, from joining the queue to the release. This is the state that all parts of a subcommand
 * share.
 */
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
    const char *what; /* for messages, for example "lock on" */
    bool revocable;   /* zkr revoke can request a release */
    bool nearby;      /* a mutex that may be handed over to another zkr on this host */
    bool once;        /* zkr does not queue again after the first hold */
    bool no_guardian; /* if zkr is killed, no process ends the session */
    int kill_signal;
    int warn_signal;     /* sent once, lease.warn_ms before the kill signal; 0 = none */
    int64_t delay_ms;    /* from a contended grant to the start of the command */
    int64_t min_hold_ms; /* from the grant to the release */
    int64_t started;     /* when the wait began */
    /* Deadline of the wait and, after that, of the release. May be NEVER. */
    int64_t until;

    struct grant grant;
    struct lease lease;
    struct news news;
    /* For HELD_REFUSED: a code of the library. ZKR_OK: revoked before the start. */
    int refusal;
    bool said_slow; /* zkr has reported slow servers */
    int64_t granted;
    bool lost;   /* zkr has reported the loss */
    bool ended;  /* ended by a signal to zkr or the command, or by a revocation */
    bool failed; /* the command could not be started */
    bool last;   /* zkr does not queue again */
};

/**
 * Outcomes that are not exit codes. HELD_START: granted. HELD_AGAIN: granted, but lost before the start. HELD_REFUSED:
 * not granted, for the reason in held.refusal, which is not reported yet.
 */
enum { HELD_START = -1, HELD_AGAIN = -2, HELD_REFUSED = -3 };

/**
 * Opens the client. The caller has set the members through `until`, and lease.kill_after_ms. The structure must not be
 * moved later. held_end() must be called in any case. Returns 0 or a reported exit code.
 */
int held_begin(struct held *h, const char *owner);
/** Waits for the first session. Returns 0 or a reported exit code. */
int held_connect(struct held *h);
/** Closes the client like client_end(), and frees the rest. Returns @status. */
int held_end(struct held *h, int status);

/** Returns the fault of the warning options: each of them needs the other, and a command. */
struct option_fault held_warning_fault(const struct held *h);

/** The on_loss callback of a latch. @held is a struct held. */
void held_on_latch(zkr_leader_latch *latch, const zkr_lost *lost, void *held);

/** Sets held.refusal. Returns HELD_REFUSED. */
int held_refuse(struct held *h, int rc);
/** Clears a loss and a revocation before the next grant. */
void held_reset(struct held *h);
/** Updates the phase of the lease, and returns it. A known loss ends the lease. */
enum lease_phase held_step(struct held *h);
/** Reports a lost node or session, or a lease in doubt. Returns CLI_LOST. */
int held_say_lost(struct held *h, const char *rest);

/** Sleeps at most @ms, until a signal, news, or input from @other. Returns whether @other is readable. */
bool held_sleep(const struct held *h, int other, int64_t ms);
/**
 * Like held_sleep(), for times when no command runs. Also sends keep-alive messages. Returns 0, or the exit code of a
 * signal.
 */
int held_pause(const struct held *h, int64_t ms);

#endif
