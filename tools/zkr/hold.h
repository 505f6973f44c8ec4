/* SPDX-License-Identifier: Apache-2.0 */
/* What is done while something is held, whoever granted it. */
#ifndef ZKR_CLI_HOLD_H
#define ZKR_CLI_HOLD_H

#include "commands.h"
#include "lease.h"
#include "loss.h"

struct hold {
    const char *path;
    const char *what; /* "lock on", for messages */
    char node[1024];
    int64_t token;
    int64_t session_id;
    struct lease lease; /* begun */
    struct loss loss;   /* begun */
    int kill_signal;
    bool told; /* the command ended after it, or all of us, had been told to stop */
};

/**
 * Was surely nobody ahead of us? @requests: what the grant took. A free lock takes a create and a list,
 * then a watch; or ours is the first node there ever was.
 */
bool hold_was_free(const struct hold *h, int64_t requests);

/**
 * How long to wait between a grant that was waited for and the command. Whoever was ahead may just
 * have lost its hold to somebody who deleted the node, and has to hear of that and to kill its command.
 */
enum { HOLD_OFF_MS = 50 };
void hold_off(int64_t ms);

/** Says, after @ms of waiting, what is held. */
void hold_note(const struct hold *h, int64_t ms);

/** Run a command. Returns its exit code, or one of ours, reported. */
int hold_run(struct hold *h, struct env *env, char **command);

/** Print the holder line, then hold until a signal or the end of the input. */
int hold_wait(struct hold *h, struct env *env);

#endif
