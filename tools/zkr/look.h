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
    struct env *env; /* env to brief: set before look_begin() */
    const char *path;
    bool watch; /* look_wait() will follow */
    bool brief; /* do not count the locks below */

    zkr_mutex *mutexes[VIEW_LISTS];    /* of PATH and of the queues of a semaphore */
    zkr_semaphore *semaphore;          /* reads the held permits */
    zkr_contenders *lists[VIEW_LISTS]; /* as last read */
    bool missing; /* PATH does not exist; this and below are read if nobody is there */
    zkr_survey *found;         /* the locks at PATH and right below it */
    const zkr_contender *node; /* PATH itself, if it is an ephemeral node */
    size_t below;              /* locks right below it; 0 if brief */
};

/** Creates the objects; sends nothing yet. Returns 0 or a reported exit code. Call look_end() in any case. */
int look_begin(struct reading *l);
void look_end(struct reading *l);
/** Waits for the connection, then reads everything again. Returns 0 or a reported exit code. */
int look_read(struct reading *l);
/** Waits for a change since the last look_read(). Returns ZKR_OK, ZKR_ETIMEDOUT or another code. */
int look_wait(const struct reading *l, int64_t timeout_ms);
/** Fills @view, which borrows the lists of @l. Returns like view_begin(). */
bool look_view(const struct reading *l, struct view *view, const struct peers *p);

#endif
