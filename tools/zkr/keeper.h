/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: a process between zkr and the command, and a subreaper. So all descendants of the command are descendants
 * of the keeper, whatever their process group or session, and the keeper notices when none is left. When zkr dies, the
 * keeper kills all of them, waits for the last one to exit, and then notifies the guardian through a pipe
 * (zkr_client_guard_pipe()).
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
    KEEPER_STATUS, /* value: its waitpid() status; may be missing if zkr was stopped */
    KEEPER_DENIED, /* value: a process that the keeper may not signal */
    /* The command and all its descendants have exited; value: the last status. */
    KEEPER_GONE,
    KEEPER_DEAD /* not a message: the keeper itself was killed */
};

struct keeper_word {
    int kind, value;
};

/** Memory that zkr and its keeper share. */
struct keeper_bound {
    /* When (clock_now_ms()) the keeper kills everything; 0 = never. */
    _Atomic(int64_t) until;
    /* The keeper has killed everything because `until` has passed. */
    _Atomic(bool) passed;
};

struct keeper {
    pid_t zkr, self;
    int link[2]; /* a socket pair: zkr's end and the keeper's end */
    int over[2]; /* the pipe to the guardian */
    struct keeper_bound *bound;
};

/** Creates the sockets, the pipe and the shared memory, before a fork. Returns false with the reason in errno. */
bool keeper_begin(struct keeper *k);
/**
 * Forks the keeper, which forks the command. Returns 0 in the command, which may make only calls that are safe after
 * fork() in a threaded process. In zkr, returns the process ID of the command, or -1 with the reason in errno.
 */
pid_t keeper_fork(struct keeper *k);
/**
 * Sends a signal to the process group of the command, or to all descendants if the group is empty. With @ending, also
 * sends it to descendants that outlive the group. SIGKILL goes to all descendants, and is repeated until none is left.
 */
void keeper_signal(const struct keeper *k, int signo, bool ending);
/** Takes the next message from the keeper. Returns false if there is none. */
bool keeper_hear(const struct keeper *k, struct keeper_word *word);
/** Closes everything. A keeper that is still running then kills the command and its descendants. */
void keeper_end(struct keeper *k);

#endif
