/* SPDX-License-Identifier: Apache-2.0 */
/* elect --health: while a check fails, zkr is no candidate, and a leader steps down. */
#ifndef ZKR_CLI_HEALTH_H
#define ZKR_CLI_HEALTH_H

#include <stdint.h>

#include "held.h"

struct health_options {
    const char *check; /* for the shell; NULL: no check, and all calls are no-ops */
    int64_t every_ms;  /* between starts of checks; also the time limit of each */
    int64_t failures;  /* consecutive failures that make zkr unhealthy */
};

/** Starts the checks. zkr is unhealthy until the first one succeeds. Returns 0 or a reported exit code. */
int health_begin(struct held *h, const struct health_options *options);
/** Ends the checks, and kills one that runs. */
void health_end(void);

#endif
