/* SPDX-License-Identifier: Apache-2.0 */
/* Process groups, and how they are ended. */
#ifndef ZKR_GUARDIAN_GROUP_H
#define ZKR_GUARDIAN_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "guardian/wire.h"

/** A process group that acts under the holds of a client, or a pipe that reports when no process does so any more. */
struct group {
    struct group *next;
    uint64_t client;
    int fds[ZKR__GROUP_FDS]; /* see wire.h; a pipe has only the reading end */
    bool over;               /* a byte has arrived on the pipe */
    int64_t look_at;         /* do not look at /proc before this time */
};

/**
 * Kill the group unless it is gone. A pipe is only read. Returns true if the group is gone or has only zombies left.
 */
bool group_end(struct group *g);

#endif
