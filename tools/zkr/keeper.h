/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: a process between zkr and the command, and the subreaper of the command. So all descendants of the command
 * are its own, in whatever process group or session they are, and it knows when none is left. When zkr dies, the keeper kills
 * all of them, waits for the last one, and then tells the guardian by a pipe: see zkr_client_guard_pipe().
 */
#ifndef ZKR_CLI_KEEPER_H
#define ZKR_CLI_KEEPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** The kinds of messages from the keeper to zkr. */
enum keeper_kind {
    KEEPER_STARTED = 1, /* value: the number of the command */
    KEEPER_STATUS, /* of the command, by waitpid(); may be left out if zkr does not run */
    KEEPER_DENIED, /* a process that it may not signal */
    KEEPER_GONE, /* the command and all its descendants; value: the last KEEPER_STATUS */
    KEEPER_DEAD  /* nothing: the keeper itself was killed */
};

struct keeper_word {
    int kind, value;
};

/** Memory that zkr and its keeper share. */
struct keeper_bound {
    _Atomic(int64_t)
        until; /* by clock_now_ms(): then the keeper kills all, unless zkr has moved it; 0 = never */
    _Atomic(bool) passed; /* the keeper has killed all for that reason */
};

struct keeper {
    pid_t zkr, self;
    int link[2]; /* a socket pair: the end of zkr, the end of the keeper */
    int over[2]; /* the pipe for the guardian */
    struct keeper_bound *bound;
};

/** Makes the sockets, the pipe and the shared memory, before a fork. False: errno says why. */
bool keeper_begin(struct keeper *k);
/**
 * Forks the keeper, and the keeper forks the command. Returns 0 in the command, where only calls are allowed that are safe
 * after a fork among threads. In zkr returns the process number of the command, or -1: errno says why.
 */
pid_t keeper_fork(struct keeper *k);
/**
 * Sends a signal to the process group of the command, or to all descendants if no process of the group is left. @ending:
 * descendants that outlive the group get it, too. SIGKILL goes to all descendants, and is repeated until none is left.
 */
void keeper_signal(const struct keeper *k, int signo, bool ending);
/** Takes the next message from the keeper. False: there is none. */
bool keeper_hear(const struct keeper *k, struct keeper_word *word);
/** Closes everything. A keeper that still runs then kills the command and its descendants. */
void keeper_end(struct keeper *k);

#endif
