/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk through a tree of nodes, to find the queues in it. Nodes are listed as they become known, many at a time;
 * of a queue, the data of the first holder and of the first that waits are read as well; of the leases of a semaphore,
 * those of all.
 */
#ifndef ZKR_ENGINE_SURVEY_H
#define ZKR_ENGINE_SURVEY_H

#include "engine/contender.h"
#include "engine/inquiry.h"
#include "engine/names.h"

/* One node that was looked at. */
struct zkr__visit {
    char *path;
    size_t parent; /* index */
    unsigned depth;
    /* Children of a semaphore, by their names: index, 0 = there is none (the root is nobody's child). */
    size_t leases, gate;
    size_t others; /* children that are no contenders */
    /* The queue, if contenders > 0. Of leases, who holds is told by zkr__permits_held(). */
    size_t contenders, held;
    enum zkr__name_kind kind; /* of the first */
    zkr_contender holder;     /* without an owner: it was not read */
    zkr_contender
        *leases_read; /* all of them, if they are leases: so many as contenders */
    int64_t waiting_since_ms;
    /* inside */
    bool listed, vanished;
    unsigned pending, tries;
};

/* Which lease is asked for. */
struct zkr__survey_lease {
    size_t visit, number;
};

struct zkr__survey {
    struct zkr__inquiry asked;
    bool deep;
    bool spare_own; /* leave out /zookeeper */
    size_t denied;
    struct zkr__visit **visits; /* the first is where it began */
    size_t count, room;
    size_t next; /* to be listed */
    struct zkr__survey_lease *leases;
    size_t lease_count, lease_room;
};

/* ZKR_OK with *out, which needs zkr__survey_end(); or ZKR_ENOMEM, ZKR_ESYS. @path is copied. */
int zkr__survey_begin(struct zkr__survey **out,
                      zkr_client *c,
                      const char *path,
                      bool deep) ZKR__LOCKED;

/* Walk. ZKR_OK, ZKR_ENONODE or ZKR_EAUTH of where it begins, ZKR_ETIMEDOUT, or what the servers said. */
int zkr__survey_walk(struct zkr__survey *s, int64_t deadline) ZKR__LOCKED;

void zkr__survey_end(struct zkr__survey *s) ZKR__LOCKED;

#endif
