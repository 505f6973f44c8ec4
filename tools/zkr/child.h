/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process of the command: how it starts, and what ties it to zkr.
 *
 * The command is a child of the keeper (keeper.h). If zkr is killed, the keeper kills the command and all its
 * descendants. If the keeper is killed together with zkr, the kernel kills the process group of the command through the
 * bond. The bond is a pair of connected sockets, each set to send SIGKILL to the group as its I/O signal. When zkr
 * dies, the kernel closes one socket first, which causes an I/O event on the other. While zkr is alive, a byte written
 * to the bond has the same effect. The bond never kills another group that has reused the number, because the sockets
 * refer to the group itself. The command must not start before the guardian knows the keeper's pipe, so the child waits
 * for a byte from zkr.
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
    pid_t pid; /* process ID, and also the number of its process group */
    /* Sockets of zkr and of the child. A byte lets the child call exec. If exec fails, the child replies with errno. */
    int talk[2];
    int bond[2]; /* the bond, see above */
    int exec_errno;
};

/**
 * Starts env->globals.command, unless the lock is known to be lost. The caller has set env, news and envp. @bound is
 * the initial value of keeper_bound.until. On failure, returns false with the reason in errno. ECANCELED means that the
 * lock is lost, or zkr is unfit to lead.
 */
bool child_start(struct child *c, int64_t bound);
/** Records the result of exec if it is known by now. */
void child_hear_exec(struct child *c);
/** Kills the process group of the command, even if the keeper is dead. */
void child_kill_group(const struct child *c);
/** Closes everything that ties the command to zkr. Called when the command and all its descendants have exited. */
void child_end(struct child *c);

#endif
