/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease is the time for which the lock is still surely held. Lease probes normally keep its end at least 0.6 of a
 * session timeout ahead. If only kill_after + margin is left, probes have gone unanswered, and the lock is in doubt.
 * These limits tolerate a pause of the servers of 0.45 of a session timeout. In doubt, the command gets the kill
 * signal. It gets SIGKILL after kill_after or, if that is earlier, margin before the end of the lease. Doubt is final.
 *
 * The command gets one warning, warn_ms before the lock is in doubt. The lease may become longer again after the
 * warning.
 */
#ifndef ZKR_CLI_LEASE_H
#define ZKR_CLI_LEASE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "grant.h"
#include "loss.h"

/** Whether the lock is surely held. */
enum lease_phase { LEASE_SURE, LEASE_DOUBT, LEASE_OVER };

struct lease {
    const struct grant *grant;
    int64_t kill_after_ms; /* as given; negative = automatic */
    int64_t warn_ms;       /* as given; 0 = no warning */

    enum lease_phase phase;
    bool warned;       /* the warning is due or has been taken */
    bool warns;        /* the warning is due */
    struct loss doubt; /* why the lock is no longer surely held */
    int64_t kill_at;   /* when (clock_now_ms()) the phase becomes LEASE_OVER */
    /* When the keeper kills everything if zkr is stopped; 0 = never. */
    int64_t bound;
    bool
        slept; /* the last step came too late: zkr was stopped, or the host was frozen */
    /* The lease has been half a session timeout long at least once. */
    bool settled;
    int64_t wake_at;    /* when (clock_now_ms()) the timer expires; 0 = off */
    int64_t stepped_at; /* when (clock_now_ms()) lease_step() was last called */
    bool has_timer;
    timer_t timer;
};

/** Begins to supervise the lease. Warns if --kill-after is too long. */
void lease_begin(struct lease *l);
void lease_end(struct lease *l);
/** Sets the phase to LEASE_SURE before the next grant. */
void lease_reset(struct lease *l);

/** Updates the phase, and returns it. */
enum lease_phase lease_step(struct lease *l);
/** Returns true once, when the command must be warned. */
bool lease_take_warning(struct lease *l);
/** Ends the lease, because the lock is lost. */
void lease_lose(struct lease *l);
/** Puts the lock in doubt, no matter how long the lease is, because zkr was stopped for too long. */
void lease_doubt(struct lease *l);
/**
 * Sets a timer that sends SIGCONT when the next step is overdue, which continues zkr if SIGSTOP has stopped it. Returns
 * how many milliseconds to sleep before that step.
 */
int64_t lease_arm(struct lease *l);

/** Returns how many milliseconds a command may take to end after the kill signal while the lock is surely held. */
int64_t lease_patience_ms(const struct lease *l);
/** Returns the remaining time of the lease, in milliseconds, at which the lock is in doubt. */
int64_t lease_doubt_ms(const struct lease *l);
/** Returns whether a lease of @valid ms is so long that no answer is overdue. */
bool lease_is_ample(const struct lease *l, int64_t valid);

#endif
