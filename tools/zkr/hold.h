/* SPDX-License-Identifier: Apache-2.0 */
/* What is done while something is held, whoever granted it. */
#ifndef ZKR_CLI_HOLD_H
#define ZKR_CLI_HOLD_H

#include "commands.h"
#include "lease.h"
#include "loss.h"
#include "wish.h"

struct hold {
    zkr_client *client; /* borrowed */
    const char *path;
    const char *what; /* "lock on", for messages */
    char *node;       /* begun */
    size_t node_size;
    int64_t token;
    int64_t session_id;
    struct lease lease; /* begun */
    struct loss loss;   /* begun */
    struct why doubt;   /* when the lease came to its end */
    struct wish wish;   /* begun */
    bool revocable;     /* it can be asked for */
    int kill_signal;
    bool lost; /* before its end, and that was said */
    bool
        told; /* the end came after we, or the command, had been told to stop or asked to let go */
    bool used;   /* a command was started, or there is none */
    bool failed; /* it could not be started: the exit code is ours */
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

/** Tells whoever started us as a service that it is held. */
void hold_ready(const struct hold *h, const struct env *env);

/** Says, after @ms of waiting, what is held. */
void hold_note(const struct hold *h, int64_t ms);

/** Run a command. Returns its exit code, or one of ours, reported. */
int hold_run(struct hold *h, struct env *env, char **command);

/**
 * Keep what was used until @until, if it still is held and nobody has told us to stop. A signal, a wish or a loss ends it;
 * the last is reported.
 */
void hold_linger(struct hold *h, const struct env *env, int64_t until);

/** Print the holder line, then hold until a signal or the end of the input. When it is lost, the output ends first. */
int hold_wait(struct hold *h, struct env *env);

#endif
