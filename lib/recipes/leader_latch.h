/* SPDX-License-Identifier: Apache-2.0 */
/* What a leader latch consists of. */
#ifndef ZKR_RECIPES_LEADER_LATCH_H
#define ZKR_RECIPES_LEADER_LATCH_H

#include <zkr/leader_latch.h>

#include "recipes/recipe.h"

/* A call of on_loss, as long as it lasts. */
struct zkr__latch_loss {
    struct zkr__claim *claim; /* the claim whose loss is reported; referenced */
    bool latch_ended;         /* the call must not touch the latch any more */
};

struct zkr_leader_latch {
    struct zkr__recipe r;
    bool started, unfit;   /* a candidate if the one and not the other */
    struct zkr__hold hold; /* its claim is NULL while this latch is no candidate */
    zkr_leader_latch_options o;
    struct zkr__listener listener; /* with step_down_when_suspended */
    int failure;                   /* why the candidacy ended, 0 = it did not */

    /* --- what the application knows by its callbacks --- */

    /* on_gain was called for this claim, and on_loss not yet. Referenced. */
    struct zkr__claim *reported;
    unsigned reported_hold;       /* for which hold of that claim */
    struct zkr__latch_loss *loss; /* on_loss runs; NULL: it does not */
    uint64_t gains;               /* calls of on_gain */
    bool failure_due;             /* on_failed is to be called */
    bool contenders_due;          /* on_contenders is to be called */
    struct zkr__call call; /* for whichever callback is due when its turn comes */
};

#endif
