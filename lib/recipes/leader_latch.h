/* SPDX-License-Identifier: Apache-2.0 */
/* A leader latch: what it consists of, and by which claim it leads. */
#ifndef ZKR_RECIPES_LEADER_LATCH_H
#define ZKR_RECIPES_LEADER_LATCH_H

#include <zkr/leader_latch.h>

#include "engine/contenders.h"
#include "engine/hold.h"
#include "session/client.h"

struct zkr_leader_latch {
    zkr_client *c;
    struct zkr__queue *queue;
    bool started, unfit;   /* a candidate if the one and not the other */
    struct zkr__hold hold; /* its claim is NULL while this latch is no candidate */
    struct zkr__node_watch *watch; /* of the contenders; NULL = not needed yet */
    zkr_leader_latch_options o;
    struct zkr__listener listener; /* with step_down_when_suspended */
    struct zkr__cv changed;
    int64_t waiting; /* threads in await or stop */
    int failure;     /* why the candidacy ended, 0 = it did not */

    /* --- what the application knows by its callbacks --- */

    /* on_gain was called for this claim, and on_loss not yet. Referenced. */
    struct zkr__claim *reported;
    unsigned reported_hold; /* for which hold of that claim */
    uint64_t gains;         /* calls of on_gain */
    bool failure_due;       /* on_failed is to be called */
    bool contenders_due;    /* on_contenders is to be called */
    struct zkr__call call;  /* for whichever callback is due when its turn comes */
};

/* The claim by which the latch leads, surely or not; NULL: it does not lead. */
struct zkr__claim *zkr__latch_lead(const zkr_leader_latch *l) ZKR__LOCKED;

#endif
