/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: a process between zkr and the command, and the subreaper of the command. So all descendants of the command
 * are its own, whatever process group or session they are in, and it knows when none is left. When zkr dies, the keeper kills
 * them all, waits for the last, and then tells the guardian by a pipe, see zkr_client_guard_pipe().
 */
#ifndef ZKR_CLI_KEEPER_H
#define ZKR_CLI_KEEPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** What it tells. */
enum keeper_kind {
    KEEPER_STARTED = 1, /* value: the number of the command */
    KEEPER_STATUS,      /* of the command, by waitpid() */
    KEEPER_DENIED,      /* a process that it may not signal */
    KEEPER_GONE,        /* the command and all its descendants */
    KEEPER_DEAD         /* nothing: the keeper itself was killed */
};

struct keeper_word {
    int kind, value;
};

/** What both see. */
struct keeper_bound {
    _Atomic(int64_t)
        until; /* by cli_now_ms(): when it kills all if zkr has not moved this time; 0 = never */
    _Atomic(bool) passed; /* it did */
};

struct keeper {
    pid_t zkr, self;
    int link[2]; /* of zkr and of the keeper */
    int over[2]; /* the pipe for the guardian */
    struct keeper_bound *bound;
};

/** Makes what both need, before a fork. False: errno says why. */
bool keeper_begin(struct keeper *k);
/**
 * Forks the keeper, and that forks the command. In the command returns 0: then only calls that are safe after a fork among
 * threads. Else its number, or -1: errno says why.
 */
pid_t keeper_fork(struct keeper *k);
/**
 * Sends a signal to the process group of the command, or to all descendants if no process of the group is left. @ending: it
 * goes to those that outlive the group, too. SIGKILL goes to all descendants, again and again.
 */
void keeper_signal(const struct keeper *k, int signo, bool ending);
/** Takes what the keeper has told. False: nothing. */
bool keeper_hear(const struct keeper *k, struct keeper_word *word);
/** Closes all. A keeper that is still there then kills the command and its descendants. */
void keeper_end(struct keeper *k);

#endif
