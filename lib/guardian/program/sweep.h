/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of a session that no connection can end, deleted by a new session. */
#ifndef ZKR_GUARDIAN_SWEEP_H
#define ZKR_GUARDIAN_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <zookeeper/zookeeper.h>

#include "wards.h"

/** One pass over the directories of a ward, with a handle that has another session than the ward's. */
struct sweep {
    zhandle_t *zh;
    const struct ward *ward;
    const struct directory *next; /* where it goes on; at first those of all clients */
    /** Called by a thread of libzookeeper: an answer has come; the pass is over, and all the nodes are gone, or not. */
    void (*progress)(void *context);
    void (*done)(void *context, bool whole);
    void *context;
    /* --- the sweep's own --- */
    const struct directory *here;
    size_t awaited; /* answers, about this directory */
    bool failed;
};

/** Delete the ward's nodes. The sweep ends with done(), or with the close of the handle. */
void sweep_begin(struct sweep *s);

#endif
