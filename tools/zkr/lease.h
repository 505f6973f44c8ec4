/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease is the time for which the lock is still surely held. Normally the lease probes keep its end at least 0.6 of a
 * session timeout ahead. When the end is no further ahead than kill_after + margin, probes have gone unanswered, and the lock
 * is in doubt. Both together leave room for a pause of the servers of 0.45 of a session timeout. In doubt the command gets
 * the kill signal, and SIGKILL after kill_after, or margin before the end if that is earlier. Doubt is final.
 *
 * The command is warned once, warn_ms before the lock is in doubt. The lease may get longer again afterwards.
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
    bool warned;       /* the warning is due or has been taken */
    bool warns;        /* it is due */
    struct loss doubt; /* set when the lock is not surely held any more */
    int64_t kill_at;   /* when the phase becomes LEASE_OVER, by clock_now_ms() */
    int64_t
        bound; /* when the keeper kills the command if zkr does not run, by clock_now_ms(); 0 = never */
    bool slept;         /* our timer had to continue zkr, or its time has passed */
    bool settled;       /* the lease was half a session long at least once */
    int64_t wake_at;    /* the time of the timer, by clock_now_ms(); 0 = off */
    int64_t stepped_at; /* lease_step() looked at the clock */
    bool has_timer;
    timer_t timer;
};

/** From now on it counts. Notes a time to kill that is too long. */
void lease_begin(struct lease *l);
void lease_end(struct lease *l);
/** It is sure again, before the next grant. */
void lease_reset(struct lease *l);

/** Updates and returns the phase. */
enum lease_phase lease_step(struct lease *l);
/** Is the command to be warned now? True once. */
bool lease_take_warning(struct lease *l);
/** It is over: the lock is lost. */
void lease_lose(struct lease *l);
/** zkr was stopped for too long: the lock is in doubt, whatever the lease is. */
void lease_doubt(struct lease *l);
/**
 * Sets a timer: if zkr is stopped (SIGSTOP) when the next step is overdue, the timer sends SIGCONT, which continues zkr.
 * Returns how long to sleep before that step, in ms.
 */
int64_t lease_arm(struct lease *l);

/** How long a command may take to end after the kill signal while the lock is surely held. */
int64_t lease_patience_ms(const struct lease *l);
/** With so much left, or less, the lock is in doubt. */
int64_t lease_doubt_ms(const struct lease *l);
/** Is a rest of @valid ms so long that no answer is overdue? */
bool lease_is_ample(const struct lease *l, int64_t valid);

#endif
