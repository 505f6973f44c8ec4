/* SPDX-License-Identifier: Apache-2.0 */
/* The state that zkr status and zkr check read at a path: the holders and waiters of a lock of any kind. */
#ifndef ZKR_CLI_LOOK_H
#define ZKR_CLI_LOOK_H

#include <stdbool.h>
#include <stddef.h>

#include <zkr/zkr.h>

#include "env.h"
#include "peers.h"
#include "view.h"

struct reading {
    struct env *env; /* env, watch and brief are set before look_begin() */
    const char *path;
    bool watch; /* the caller will use look_wait() */
    bool brief; /* the locks below PATH are not counted */

    zkr_mutex *mutexes[VIEW_LISTS];    /* for PATH and for the queues of a semaphore */
    zkr_semaphore *semaphore;          /* reads the held permits */
    zkr_contenders *lists[VIEW_LISTS]; /* as read last */
    /* PATH does not exist. This and the next three are read if nobody is there. */
    bool missing;
    zkr_survey *found;         /* the locks at PATH and directly below it */
    const zkr_contender *node; /* PATH itself if it is an ephemeral node */
    size_t below;              /* number of locks directly below it; 0 if brief */
};

/**
 * Creates the objects, but sends no request yet. Returns 0 or a reported exit code. look_end() must be called in any
 * case.
 */
int look_begin(struct reading *l);
void look_end(struct reading *l);
/** Waits for the connection, and then reads everything again. Returns 0 or a reported exit code. */
int look_read(struct reading *l);
/** Waits for a change since the last look_read(). Returns ZKR_OK, ZKR_ETIMEDOUT or another code. */
int look_wait(const struct reading *l, int64_t timeout_ms);
/** Fills in @view, which borrows the lists of @l. Returns the same as view_begin(). */
bool look_view(const struct reading *l, struct view *view, const struct peers *p);

#endif
