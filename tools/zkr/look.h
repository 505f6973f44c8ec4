/* SPDX-License-Identifier: Apache-2.0 */
/* What zkr status and zkr check read at a path: the holders and waiters of a lock of any kind. */
#ifndef ZKR_CLI_LOOK_H
#define ZKR_CLI_LOOK_H

#include <stdbool.h>
#include <stddef.h>

#include <zkr/zkr.h>

#include "env.h"
#include "peers.h"
#include "view.h"

struct look {
    struct env *env;  /* this and below: set before */
    const char *path; /* as they are set by the caller */
    bool watch;       /* look_wait() follows */
    bool brief;       /* do not count the locks below */

    zkr_mutex *mutexes[VIEW_LISTS];    /* of PATH and of the queues of a semaphore */
    zkr_semaphore *semaphore;          /* tells which permits are held */
    zkr_contenders *lists[VIEW_LISTS]; /* as last read */
    bool missing; /* there is no PATH; this and below are read when nobody is there */
    zkr_survey *found;         /* what is there and right below */
    const zkr_contender *node; /* the path itself, an ephemeral node */
    size_t below;              /* locks right below it; 0 if brief */
};

/** Sends nothing yet. Returns 0 or an exit code, reported. Call look_end() in any case. */
int look_begin(struct look *l);
void look_end(struct look *l);
/** Reads all anew, once the client is connected. Returns 0 or an exit code, reported. */
int look_read(struct look *l);
/** Waits for a change since it was read. Returns ZKR_OK, ZKR_ETIMEDOUT or another code. */
int look_wait(const struct look *l, int64_t timeout_ms);
/** Shows what was read, which the view borrows. Returns like view_begin(). */
bool look_view(const struct look *l, struct view *view, const struct peers *p);

#endif
