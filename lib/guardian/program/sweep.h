/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes, in a new session, the nodes of a session that no connection can end. */
#ifndef ZKR_GUARDIAN_SWEEP_H
#define ZKR_GUARDIAN_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <zookeeper/zookeeper.h>

#include "wards.h"

/** One pass over the directories of a ward, on a handle that has another session. */
struct sweep {
    zhandle_t *zh;
    const struct ward *ward;
    const struct directory *next; /* next in the list of all clients' directories */
    /**
     * A thread of libzookeeper calls these. progress() means that an answer has arrived, and done() that the pass is
     * over. @whole is true if all nodes are gone.
     */
    void (*progress)(void *context);
    void (*done)(void *context, bool whole);
    void *context;
    /* --- private to sweep.c --- */
    const struct directory *here;
    size_t awaited; /* how many answers for this directory are outstanding */
    bool failed;
};

/** Delete the ward's nodes. The sweep ends with done(), or when the handle is closed. */
void sweep_begin(struct sweep *s);

#endif
