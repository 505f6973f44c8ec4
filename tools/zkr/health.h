/* SPDX-License-Identifier: Apache-2.0 */
/* elect --health: while a check fails, zkr is no candidate, and a leader gives up. */
#ifndef ZKR_CLI_HEALTH_H
#define ZKR_CLI_HEALTH_H

#include <stdint.h>

#include "held.h"

struct health_options {
    const char *check; /* for the shell; NULL: none, and all calls are no-ops */
    int64_t every_ms;  /* from the start of a check to the next; also its time limit */
    int64_t failures;  /* in a row, until it is not healthy any more */
};

/** Starts the checks. It is not healthy until the first one succeeds. Returns 0 or an exit code, reported. */
int health_begin(struct held *h, const struct health_options *options);
/** Ends the checks. A check that runs is killed. */
void health_end(void);

#endif
