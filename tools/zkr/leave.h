/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a command that may have left nodes: they are to be gone before it is. */
#ifndef ZKR_CLI_LEAVE_H
#define ZKR_CLI_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

#include <zkr/client.h>

#include "signals.h"
#include "stats.h"

/** How long an answer may take on a line that is not dark, when there is no time left; and a moment long past. */
enum { LEAVE_GRACE_MS = 250, LEAVE_NOW = 0 };

/** Are our nodes gone? Asked when the time is over: waits for the grace alone. */
bool leave_is_done(zkr_client *c);

/* How it ends. */
struct leave {
    const struct signals *signals;
    int64_t until;       /* it gives up at that moment plus the grace; or CLI_NEVER */
    struct stats *stats; /* end before the client does */
    bool told;           /* all is said already, should it give up */
};

/**
 * Waits until the servers have confirmed that our nodes are deleted, or the session has ended; then closes @c
 * (NULL: nothing is to be done). After a second it says that it waits. At a signal, or when the time is over, it
 * gives up: it says so and ends the process.
 *
 * Returns @status.
 */
int leave(zkr_client *c, const struct leave *how, int status);

/** When to give up a hold that was lost: its session is as good as over. */
int64_t leave_lost(void);

/** Ends the process here and now. For when there is nothing that a server could be told, or nobody who hears it. */
_Noreturn void leave_now(int status);

#endif
