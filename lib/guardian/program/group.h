/* SPDX-License-Identifier: Apache-2.0 */
/* A process group, and its end. */
#ifndef ZKR_GUARDIAN_GROUP_H
#define ZKR_GUARDIAN_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "guardian/wire.h"

/** A process group that acts under the holds of a client; or a pipe that tells when nothing does. */
struct group {
    struct group *next;
    uint64_t client;
    int fds[ZKR__GROUP_FDS]; /* see wire.h; of a pipe there is the reader alone */
    bool over;               /* a byte has come from the pipe */
    int64_t look_at;         /* no look at /proc before this */
};

/** Kill the group, unless it is gone; a pipe is only read. True: the group is gone, or only zombies are left of it. */
bool group_end(struct group *g);

#endif
