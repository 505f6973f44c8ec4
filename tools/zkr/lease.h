/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When to end the command, decided by how long the lock is still surely held: the lease bound.
 *
 * Normally the lease probes keep the bound at least 0.6 of a session timeout ahead. When the bound is no further ahead than
 * kill_after + margin, probes have gone unanswered, and the lock is in doubt. Both together are small enough for servers to
 * pause for 0.45 of a session timeout. In doubt the command gets the kill signal, and SIGKILL after kill_after, or margin
 * before the bound if that is earlier. Doubt is final.
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
    /* Called once, when the phase is no longer LEASE_SURE; NULL: no call. */
    void (*on_doubt)(void *ctx, bool slept);
    void *on_doubt_ctx;
    struct notify *notify; /* gets keep-alive messages while the bound is ample */
    zkr_client *client;    /* whose session timeout counts */
    int64_t wanted_ms;     /* kill_after as given, negative = auto */
    enum lease_phase phase;
    bool slept;      /* our timer had to continue zkr, or its time has passed */
    int64_t wake_at; /* the time of the timer, by cli_now_ms(); 0 = off */
    bool settled;    /* the bound was half a session ahead at least once */
    int64_t kill_at; /* when the phase becomes LEASE_OVER, by cli_now_ms() */
    bool has_timer;
    timer_t timer;
};

/** The pause between lease probes that these phases need. */
int64_t lease_probe_pause(int64_t requested_ms);

/** Set valid_for_ms, ctx, notify, client and wanted_ms before. */
void lease_begin(struct lease *l);

/** The longest time between kill signal and SIGKILL. */
int64_t lease_kill_after_most(const struct lease *l);

/** Is @valid ms enough of a lease to start a command? */
bool lease_is_ample(const struct lease *l, int64_t valid);

/** How long a command may take to end after the kill signal while the lock is surely held. */
int64_t lease_patience(const struct lease *l);

/** Updates and returns the phase. */
enum lease_phase lease_step(struct lease *l);

/** Enters doubt, whatever the bound is. */
void lease_doubt(struct lease *l);

/** The lock is known to be lost. */
void lease_lost(struct lease *l);

/**
 * How long to sleep before the next step, in ms. Also sets a timer: if zkr is stopped (SIGSTOP) at that time, the timer
 * sends SIGCONT, which continues zkr.
 */
int64_t lease_rest(struct lease *l);

void lease_end(struct lease *l);

#endif
