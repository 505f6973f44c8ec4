/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes, in a new session, the nodes of a session that no connection can end. */
#ifndef ZKR_GUARDIAN_SWEEP_H
#define ZKR_GUARDIAN_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <zookeeper/zookeeper.h>

#include "wards.h"

/** One pass over the directories of a ward, on a handle whose session is not the ward's. */
struct sweep {
    zhandle_t *zh;
    const struct ward *ward;
    const struct directory *next; /* next in the list of all clients' directories */
    /**
     * Called by a thread of libzookeeper. progress(): an answer has arrived. done(): the pass is over; @whole: all the
     * nodes are gone.
     */
    void (*progress)(void *context);
    void (*done)(void *context, bool whole);
    void *context;
    /* --- private to the sweep --- */
    const struct directory *here;
    size_t awaited; /* answers for this directory */
    bool failed;
};

/** Delete the ward's nodes. The sweep ends with done(), or with the close of the handle. */
void sweep_begin(struct sweep *s);

#endif
