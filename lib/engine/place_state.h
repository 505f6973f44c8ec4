/* SPDX-License-Identifier: Apache-2.0 */
/* What a place is made of. place.h says what one is, and what it does. */
#ifndef ZKR_ENGINE_PLACE_STATE_H
#define ZKR_ENGINE_PLACE_STATE_H

#include "engine/group.h"

enum zkr__place_state {
    ZKR__PLACE_NONE,    /* not entered yet, or left */
    ZKR__PLACE_WAITING, /* undecided, or granted and not taken */
    ZKR__PLACE_HELD,    /* taken */
    ZKR__PLACE_LOST,  /* it had been taken; the claim stays until zkr__place_leave() */
    ZKR__PLACE_FAILED /* see failure; nothing is left in the queue */
};

/* The queues of a place that stands in several. Borrowed from its recipe. */
struct zkr__place_queues {
    struct zkr__queue *const *list; /* equal ones stand together */
    uint32_t count;
    uint32_t first; /* as in struct zkr__group_spec */
    void (*on_step)(struct zkr__group *group,
                    void *ctx); /* @ctx: the place; NULL = none */
    /* The place's owner has been told of the group, or it has left; NULL = nobody is told. */
    void (*on_told)(const struct zkr__place_queues *queues);
    /* The ticket that had them is destroyed; NULL = nobody is told. */
    void (*on_free)(const struct zkr__place_queues *queues);
};

struct zkr__place {
    struct zkr__queue
        *queue; /* borrowed; of several, the first, or the one in which it failed */
    struct zkr__claim *
        claim; /* NULL: none, or failed; of several, the first, or the one that was lost */
    const struct zkr__place_queues *queues; /* NULL: queue alone */
    struct zkr__group *group;               /* NULL: the claim alone */
    /*
     * Called at each change of the claim's outcome, at a loss with the state set already, and for
     * one entered with @timed at its deadline. Must not block. NULL = none.
     */
    void (*on_change)(struct zkr__place *place);
    int64_t deadline; /* of the way to the grant */
    int64_t since;    /* it waits, or is held */
    int failure;      /* FAILED: ZKR_E… */
    int detail;       /* ZooKeeper's code of it, or 0 */
    enum zkr__place_state state;
    bool once;  /* a try */
    bool timed; /* nobody waits for it: a timer tells the deadline */
};

#endif
