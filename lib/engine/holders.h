/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads hold a re-entrant lock or wait for it, how often, and where. Needs the client's
 * lock. */
#ifndef ZKR_ENGINE_HOLDERS_H
#define ZKR_ENGINE_HOLDERS_H

#include <stdint.h>

#include "base/table.h"
#include "base/thread.h"
#include "engine/shared_hold.h"

struct zkr__holder {
    uint64_t thread; /* zkr__thread_id(): never reused */
    int depth;       /* 0 = it waits */
    struct zkr__place place;
    /* A read hold of a thread that holds write has no place of its own; and the reverse. NULL = none. */
    struct zkr__holder *rests_on, *carries;
    /* Nor has one that is shared with other threads. NULL = none. */
    struct zkr__shared_hold *shared;
    void *lock;                   /* whose table it is */
    struct zkr__thread_duty duty; /* release when the thread ends */
    struct zkr__call lost;        /* tells the application, on the dispatch thread */
    /* Reported by that call, to which this belongs until then; NULL = none. */
    struct zkr__claim *lost_claim;
    UT_hash_handle hh;
};

/* By which it holds, or waits. */
struct zkr__place *zkr__holder_place(struct zkr__holder *holder);

/* The calling thread's entry, or NULL. */
struct zkr__holder *zkr__holders_find(struct zkr__holder *table);
/* Of the calling thread, in whichever table, the one behind @holder; NULL: the first. NULL: there is none. */
struct zkr__holder *zkr__holders_next_own(struct zkr__holder *holder);
/* Enter @holder for the calling thread; false: no memory. */
bool zkr__holders_add(struct zkr__holder **table, struct zkr__holder *holder);
/* Take it out; by its thread, or at that thread's end. */
void zkr__holders_remove(struct zkr__holder **table, struct zkr__holder *holder);

#endif
