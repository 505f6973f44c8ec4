/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process of the command: how it starts, and what ties it to zkr.
 *
 * The command is a child of the keeper, see keeper.h. When zkr is killed, the keeper kills the command and all its
 * descendants. The kernel also kills the process group of the command, even if the keeper was killed with zkr. It does so by
 * a pair of connected sockets, here called the bond: each is set to send SIGKILL to the group as its I/O signal. When zkr dies,
 * the kernel closes one of them first, which is an event on the other. While zkr lives, a byte has the same effect: the socket
 * refers to the group itself, whose number may be that of another group by then. The command must not start before the
 * guardian knows the pipe of the keeper, so the child waits for a byte from zkr.
 */
#ifndef ZKR_CLI_CHILD_H
#define ZKR_CLI_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "env.h"
#include "keeper.h"
#include "news.h"
#include "terminal.h"

struct child {
    const struct env *env;
    struct news *news;
    char **envp; /* the environment of the command */

    struct terminal terminal;
    struct keeper keeper;
    pid_t pid; /* also the number of the group */
    /* Sockets of parent and child: a byte lets the child go on; it answers with why exec failed, or with the end. */
    int talk[2];
    int bond[2]; /* see above */
    int exec_errno;
};

/**
 * Starts env->globals.command, unless a loss is known. Set the first part of the structure before. @bound: for the keeper,
 * see there. False: errno says why; ECANCELED: the lock is lost.
 */
bool child_start(struct child *c, int64_t bound);
/** Takes note of the outcome of exec, if it is known by now. */
void child_hear_exec(struct child *c);
/** Kills the process group, also if the keeper is dead. */
void child_kill_group(const struct child *c);
/** The command and all that it has started are gone. Gives up all that ties them to zkr. */
void child_end(struct child *c);

#endif
