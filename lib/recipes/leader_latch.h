/* SPDX-License-Identifier: Apache-2.0 */
/* The struct of a leader latch. */
#ifndef ZKR_RECIPES_LEADER_LATCH_H
#define ZKR_RECIPES_LEADER_LATCH_H

#include <zkr/leader_latch.h>

#include "recipes/recipe.h"

/* A running call of on_loss. */
struct zkr__latch_loss {
    struct zkr__claim *claim; /* the claim whose loss is being reported; referenced */
    bool latch_ended;         /* the latch is destroyed, and must not be touched */
};

struct zkr_leader_latch {
    struct zkr__recipe r;
    bool started, unfit;   /* a candidate if started and not unfit */
    struct zkr__hold hold; /* has no claim while the latch is not a candidate */
    zkr_leader_latch_options o;
    struct zkr__listener listener; /* used with step_down_when_suspended */
    int failure;                   /* why the candidacy ended; 0 = not ended */

    /* --- what the callbacks have reported --- */

    /* The claim whose gain was reported and whose loss was not. Has one reference. */
    struct zkr__claim *reported;
    unsigned reported_hold;       /* reported->k.holds at the time of that report */
    struct zkr__latch_loss *loss; /* the running call of on_loss, or NULL */
    uint64_t gains;               /* number of reported gains */
    bool failure_due;             /* on_failed is due */
    bool contenders_due;          /* on_contenders is due */
    struct zkr__call call;        /* runs the callback that is due next */
};

#endif
