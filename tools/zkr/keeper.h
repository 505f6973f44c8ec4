/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: a process between zkr and the command, and a subreaper. All descendants of the command are therefore its
 * descendants, in whatever process group or session they are, and the keeper notices when none is left. When zkr dies,
 * the keeper kills all of them, waits for the last one, and then notifies the guardian through a pipe: see
 * zkr_client_guard_pipe().
 */
#ifndef ZKR_CLI_KEEPER_H
#define ZKR_CLI_KEEPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** The kinds of messages from the keeper to zkr. */
enum keeper_kind {
    KEEPER_STARTED = 1, /* value: the process ID of the command */
    KEEPER_STATUS, /* value: its waitpid() status; may be missing if zkr does not run */
    KEEPER_DENIED, /* value: a process that the keeper may not signal */
    KEEPER_GONE, /* the command and all descendants have gone; value: the last status */
    KEEPER_DEAD  /* no message: the keeper itself was killed */
};

struct keeper_word {
    int kind, value;
};

/** Memory that zkr and its keeper share. */
struct keeper_bound {
    _Atomic(int64_t) until; /* the keeper kills all at this clock_now_ms(); 0 = never */
    _Atomic(bool) passed;   /* the keeper has killed all because until has passed */
};

struct keeper {
    pid_t zkr, self;
    int link[2]; /* a socket pair: zkr's end, the keeper's end */
    int over[2]; /* the pipe to the guardian */
    struct keeper_bound *bound;
};

/** Creates the sockets, the pipe and the shared memory, before a fork. False: errno says why. */
bool keeper_begin(struct keeper *k);
/**
 * Forks the keeper, which forks the command. Returns 0 in the command, which may only make calls that are safe after
 * fork() in a threaded process. In zkr, returns the process ID of the command, or -1: errno says why.
 */
pid_t keeper_fork(struct keeper *k);
/**
 * Sends a signal to the process group of the command, or to all descendants if the group is empty. @ending: also to
 * descendants that outlive the group. SIGKILL goes to all descendants, and is repeated until none is left.
 */
void keeper_signal(const struct keeper *k, int signo, bool ending);
/** Takes the next message from the keeper. False: there is none. */
bool keeper_hear(const struct keeper *k, struct keeper_word *word);
/** Closes everything. A keeper that still runs then kills the command and its descendants. */
void keeper_end(struct keeper *k);

#endif
