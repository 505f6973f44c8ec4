/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children of zkr. It takes all that have ended, orphans included: it may be a subreaper, or PID 1.
 */
#ifndef ZKR_CLI_CHILDREN_H
#define ZKR_CLI_CHILDREN_H

#include <stdbool.h>
#include <sys/types.h>

/** waitpid() for any child that has ended, stopped or gone on. Returns its number; 0 or less: none has. */
pid_t children_next(int *status);
/** Waits for all children that have ended. Only while no command runs. */
void children_reap(void);

/** fork() of a check of health.c; there is one at a time. */
pid_t children_fork_check(void);
/** Has the check ended? */
bool children_check_ended(void);
/** Kills the check and all that it has started. Never signals another process that has got the number of the check. */
void children_kill_check(void);

#endif
