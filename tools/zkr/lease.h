/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease is the time for which the lock is still surely held. Lease probes normally keep its end at least 0.6 of a
 * session timeout ahead. When the end is only kill_after + margin ahead, probes have gone unanswered, and the lock is
 * in doubt. These limits tolerate a pause of the servers of 0.45 of a session timeout. In doubt, the command gets the
 * kill signal, and SIGKILL after kill_after, or margin before the end of the lease if that is earlier. Doubt is final.
 *
 * The command gets one warning, warn_ms before the lock is in doubt. The lease may get longer again afterwards.
 */
#ifndef ZKR_CLI_LEASE_H
#define ZKR_CLI_LEASE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "grant.h"
#include "loss.h"

/** Is the lock surely held? */
enum lease_phase { LEASE_SURE, LEASE_DOUBT, LEASE_OVER };

struct lease {
    const struct grant *grant;
    int64_t kill_after_ms; /* as given; negative = auto */
    int64_t warn_ms;       /* as given; 0 = no warning */

    enum lease_phase phase;
    bool warned;        /* the warning is due or has been taken */
    bool warns;         /* the warning is due */
    struct loss doubt;  /* why the lock is no longer surely held */
    int64_t kill_at;    /* clock_now_ms() at which the phase becomes LEASE_OVER */
    int64_t bound;      /* when the keeper kills all if zkr does not run; 0 = never */
    bool slept;         /* zkr did not run when the timer expired */
    bool settled;       /* the lease was half a session timeout long at least once */
    int64_t wake_at;    /* clock_now_ms() at which the timer expires; 0 = off */
    int64_t stepped_at; /* clock_now_ms() of the last lease_step() */
    bool has_timer;
    timer_t timer;
};

/** Begins to supervise the lease. Warns if --kill-after is too long. */
void lease_begin(struct lease *l);
void lease_end(struct lease *l);
/** Sets the phase to LEASE_SURE before the next grant. */
void lease_reset(struct lease *l);

/** Updates and returns the phase. */
enum lease_phase lease_step(struct lease *l);
/** Returns true once, when the command must be warned. */
bool lease_take_warning(struct lease *l);
/** Ends the lease: the lock is lost. */
void lease_lose(struct lease *l);
/** Puts the lock in doubt, whatever the lease is, because zkr was stopped for too long. */
void lease_doubt(struct lease *l);
/**
 * Sets a timer that sends SIGCONT when the next step is overdue, which continues a zkr stopped by SIGSTOP. Returns how
 * long to sleep before that step, in ms.
 */
int64_t lease_arm(struct lease *l);

/** How long a command may take to end after the kill signal while the lock is surely held, in ms. */
int64_t lease_patience_ms(const struct lease *l);
/** The rest of the lease at which the lock gets in doubt, in ms. */
int64_t lease_doubt_ms(const struct lease *l);
/** Is a lease of @valid ms so long that no answer is overdue? */
bool lease_is_ample(const struct lease *l, int64_t valid);

#endif
