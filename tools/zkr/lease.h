/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When to give up: from how long the hold is still sure, decides when the command is told to
 * end and when it is killed.
 *
 * While all is well the lease probes keep the bound 0.6 of a session timeout ahead at least. When it
 * comes as near as kill_after + margin, probes have gone unanswered: the hold is in doubt. Both
 * together are so small that a pause of the servers of 0.45 is none.
 * Then the kill signal is due, and SIGKILL after kill_after, at margin before the
 * bound at the latest. There is no way back from doubt.
 */
#ifndef ZKR_CLI_LEASE_H
#define ZKR_CLI_LEASE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <zkr/client.h>

#include "notify.h"

enum lease_phase { LEASE_SURE, LEASE_DOUBT, LEASE_OVER };

struct lease {
    int64_t (*valid_for_ms)(void *ctx); /* asked on the main thread */
    void *ctx;
    void (*on_doubt)(void *ctx,
                     bool slept); /* told once, when it is sure no more; NULL: nobody */
    void *on_doubt_ctx;
    struct notify *notify; /* gets signs of life while the bound is ample */
    zkr_client *client;    /* whose session timeout counts */
    int64_t wanted_ms;     /* kill_after asked for, negative = as is best */
    enum lease_phase phase;
    bool slept;      /* our own timer had to wake us, or its time has passed */
    int64_t wake_at; /* that time, cli_now_ms(); 0 = the timer is off */
    bool settled;    /* the bound has once been half a session ahead */
    int64_t kill_at; /* when the phase becomes LEASE_OVER, cli_now_ms() */
    bool has_timer;
    timer_t timer;
};

/** The pause between the lease probes that this counts on. */
int64_t lease_probe_pause(int64_t requested_ms);

/** Set valid_for_ms, ctx, notify, client and wanted_ms before. */
void lease_begin(struct lease *l);

/** The longest time between kill signal and SIGKILL. */
int64_t lease_kill_after_most(const struct lease *l);

/** With so much left, is the bound comfortably far for the start of a command? */
bool lease_is_ample(const struct lease *l, int64_t valid);

/** How long a command that is told to end may take for it while the hold is sure. */
int64_t lease_patience(const struct lease *l);

/** The phase now. */
enum lease_phase lease_step(struct lease *l);

/** The hold is not to be trusted any more, whatever the bound. */
void lease_doubt(struct lease *l);

/** It is known to be lost. */
void lease_lost(struct lease *l);

/**
 * How long one may sleep before the next step, in ms. Also sets the timer: should we be stopped
 * (SIGSTOP) and sleep on past that time, it sends us SIGCONT, which wakes us up.
 */
int64_t lease_rest(struct lease *l);

void lease_end(struct lease *l);

#endif
