/* SPDX-License-Identifier: Apache-2.0 */
/* The command that runs while something is held, and the descriptors that it inherits. */
#ifndef ZKR_CLI_CHILD_H
#define ZKR_CLI_CHILD_H

#include <stdbool.h>
#include <stddef.h>

/** The descriptors that the command inherits: all but those that zkr has opened. */
struct fds {
    int *inherited; /* from 3 on */
    size_t count;
};

/**
 * First thing in main(): notes what is open, and replaces a closed stdin, stdout or stderr by a placeholder, so that no
 * socket of zkr gets its number. In the child the placeholder is closed again. False: out of memory.
 */
bool fds_begin(struct fds *f);
/** In a child, before exec: leaves those alone. Only calls that are safe after a fork among threads. */
void fds_hide(const struct fds *f);
void fds_end(struct fds *f);

struct held;

/**
 * For held_use(): runs env->globals.command until its whole group has gone, and ends it when the lock is lost, in doubt or
 * revoked. From the main thread: the kernel kills the command when the thread that forked ends. Returns an exit code,
 * reported.
 */
int child_run(struct held *h);

#endif
