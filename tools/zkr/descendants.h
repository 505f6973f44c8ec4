/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descendants of a process, also in other process groups or sessions. Only calls
 * that are safe after a fork.
 */
#ifndef ZKR_CLI_DESCENDANTS_H
#define ZKR_CLI_DESCENDANTS_H

#include <sys/types.h>

/** The result of descendants_signal(). */
struct descendants {
    int alive;    /* how many got the signal */
    pid_t denied; /* one that may not be signaled; 0 = none */
};

/**
 * Sends a signal to all descendants of @root, but not to itself; @root is a subreaper. It may miss
 * processes that are started meanwhile: call it again.
 */
struct descendants descendants_signal(pid_t root, int signo);

#endif
