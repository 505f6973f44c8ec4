/* SPDX-License-Identifier: Apache-2.0 */
/* Reaps the children of zkr, including orphans, because zkr may be a subreaper, or PID 1. */
#ifndef ZKR_CLI_CHILDREN_H
#define ZKR_CLI_CHILDREN_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * Calls waitpid() for any child that has exited, stopped or continued, without blocking. Returns its process ID, or 0
 * or less if there is no such child.
 */
pid_t children_next(int *status);
/** Reaps all children that have exited. */
void children_reap(void);

/** Calls fork() for a check of health.c. Only one check exists at a time. */
pid_t children_fork_check(void);
/** Returns whether the check has exited. */
bool children_check_ended(void);
/** Kills the check and all its descendants. Never signals another process that has reused the process ID of the check.
 */
void children_kill_check(void);

#endif
