/* SPDX-License-Identifier: Apache-2.0 */
/* elect --health: while a check fails, zkr is not a candidate, and a leader steps down. */
#ifndef ZKR_CLI_HEALTH_H
#define ZKR_CLI_HEALTH_H

#include <stdint.h>

#include "held.h"

struct health_options {
    const char *check; /* for the shell; NULL: no check, and all calls are no-ops */
    int64_t every_ms;  /* time between starts of checks, and time limit of each check */
    int64_t failures;  /* how many consecutive failures make zkr unhealthy */
};

/** Starts the checks. zkr is unhealthy until the first check succeeds. Returns 0 or a reported exit code. */
int health_begin(struct held *h, const struct health_options *options);
/** Ends the checks, and kills a check that is running. */
void health_end(void);

#endif
