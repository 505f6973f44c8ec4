/* SPDX-License-Identifier: Apache-2.0 */
/* lock --any: one lock of several, whichever is free first. */
#ifndef ZKR_CLI_ANY_H
#define ZKR_CLI_ANY_H

#include <zkr/zkr.h>

struct held;

/** Zeroed at first. Without any_create() all calls are no-ops. */
struct any {
    struct held *held;
    const char *const *paths; /* borrowed */
    size_t count;
    zkr_mutex **mutexes;
    zkr_ticket **tickets; /* in the queues; NULL: not in this one */
};

/** Makes a mutex for each path, and sends nothing yet. Returns a code of the library. */
int any_create(struct any *a,
               struct held *held,
               const char *const *paths,
               size_t count,
               const zkr_mutex_options *options);

/**
 * Tries the paths in turn. If all are held, waits in all queues for the first grant, and leaves the others. @wait_ms: 0 = only
 * try. held.path and held.ticket are those of the lock it got. Returns as held_obtain().
 */
int any_obtain(struct any *a, int64_t wait_ms);
/** Leaves the queues. */
void any_leave(struct any *a);
void any_end(struct any *a);

#endif
