/* SPDX-License-Identifier: Apache-2.0 */
/* The command: a process group of its own that cannot outlive us. */
#ifndef ZKR_CLI_CHILD_H
#define ZKR_CLI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "fds.h"
#include "loss.h"
#include "signals.h"
#include "terminal.h"

struct child_spec {
    char *const *argv;
    char *const *envp;
    const struct fds *fds;
    const struct signals *signals;
    struct terminal *terminal;
    struct loss *loss;
};

struct child {
    pid_t pid;      /* also the group's id */
    int exec_fd;    /* becomes readable when exec has worked or failed; -1: known */
    int exec_errno; /* why it failed, 0 = it did not */
    int bond[2];    /* see child.c */
    bool reaped;
    bool gone;      /* no process of the group is left */
    int status;     /* of waitpid(), once reaped */
    int stopped_by; /* signal, 0 = it is not stopped */
    struct loss *loss;
};

/**
 * Start it, from the main thread: the kernel kills it when the thread that forked ends. False:
 * errno says why, ECANCELED: the hold is lost.
 */
bool child_start(struct child *c, const struct child_spec *spec);

/** exec_fd is readable. */
void child_read_exec(struct child *c);

/** Collect what has ended or stopped, orphans of the group too. */
void child_reap(struct child *c);

/** To the whole group. False: not allowed (a set-user-ID program). */
bool child_kill(const struct child *c, int signo);

/** Its exit status, or 128 + N. */
int child_exit(const struct child *c);

/** Only when it is gone. */
void child_end(struct child *c);

#endif
