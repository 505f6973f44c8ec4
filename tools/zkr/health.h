/* SPDX-License-Identifier: Apache-2.0 */
/* elect --health: while a check fails, zkr is no candidate, and a leader gives up. */
#ifndef ZKR_CLI_HEALTH_H
#define ZKR_CLI_HEALTH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct held;

/** The first part is set before health_begin(). Zeroed at first. */
struct health {
    struct held *held;
    const char *check; /* for the shell; NULL: none, and all calls are no-ops */
    int64_t every_ms;  /* from the start of a check to the next; also its time limit */
    int64_t failures;  /* in a row, until it is not healthy any more */

    pthread_mutex_t mu;
    bool healthy; /* under mu */
    int stop;     /* eventfd */
    bool started;
    pthread_t thread;
};

/** Starts the checks. It is not healthy until the first one succeeds. Returns 0 or an exit code, reported. */
int health_begin(struct health *t);
/** Before each term: tells the latch, which may not have been told while the command of the last term was ending. */
void health_apply(struct health *t);
/** Ends the checks. A check that runs is killed. */
void health_end(struct health *t);

#endif
