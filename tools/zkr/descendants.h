/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals the descendants of a process, including those in other process groups or sessions. Makes only calls that are
 * safe after fork() in a threaded process.
 */
#ifndef ZKR_CLI_DESCENDANTS_H
#define ZKR_CLI_DESCENDANTS_H

#include <sys/types.h>

/** The result of descendants_signal(). */
struct descendants {
    int alive;    /* number of descendants found alive */
    pid_t denied; /* a descendant that zkr may not signal; 0 = none */
};

/**
 * Sends a signal to all descendants of @root, a subreaper, but not to @root itself. It may miss processes that start
 * meanwhile, so the caller must repeat it.
 */
struct descendants descendants_signal(pid_t root, int signo);

#endif
