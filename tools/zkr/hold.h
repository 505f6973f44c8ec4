/* SPDX-License-Identifier: Apache-2.0 */
/* What is done while something is held, whoever granted it. */
#ifndef ZKR_CLI_HOLD_H
#define ZKR_CLI_HOLD_H

#include "commands.h"
#include "lease.h"
#include "loss.h"
#include "wish.h"

struct hold {
    const char *path;
    const char *what; /* "lock on", for messages */
    char *node;       /* begun */
    size_t node_size;
    int64_t token;
    int64_t session_id;
    struct lease lease; /* begun */
    struct loss loss;   /* begun */
    struct wish wish;   /* begun */
    int kill_signal;
    bool lost; /* before its end, and that was said */
    bool told; /* the command ended after it, or all of us, had been told to stop */
};

/** Room for its node, below @path. False: out of memory. hold_end() may follow all the same. */
bool hold_begin(struct hold *h, const char *path);
void hold_end(struct hold *h);

enum hold_start {
    HOLD_START,  /* go */
    HOLD_OVER,   /* it was lost before that */
    HOLD_LATE,   /* no answer from the servers that makes it safe */
    HOLD_ASKED,  /* somebody wants us to let go */
    HOLD_STOPPED /* a signal told us to stop */
};

/**
 * Waits, with what has just been granted, until the command may start: not before @from, and when
 * the lease bound is comfortably far. A lock that was long waited for may be granted just before it, and
 * one answered probe moves it. For that probe, but not for @from, it waits until @until at most. @signo:
 * set with HOLD_STOPPED.
 */
enum hold_start hold_await(struct hold *h,
                           const struct env *env,
                           int64_t from,
                           int64_t until,
                           int *signo);

/** Says, after @ms of waiting, what is held. */
void hold_note(const struct hold *h, int64_t ms);

/** Run a command. Returns its exit code, or one of ours, reported. */
int hold_run(struct hold *h, struct env *env, char **command);

/** Print the holder line, then hold until a signal or the end of the input. */
int hold_wait(struct hold *h, struct env *env);

#endif
