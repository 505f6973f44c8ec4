/* SPDX-License-Identifier: Apache-2.0 */
/* The struct of a leader latch. */
#ifndef ZKR_RECIPES_LEADER_LATCH_H
#define ZKR_RECIPES_LEADER_LATCH_H

#include <zkr/leader_latch.h>

#include "recipes/recipe.h"

/* A running call of on_loss. */
struct zkr__latch_loss {
    struct zkr__claim *claim; /* the claim whose loss is reported; referenced */
    bool latch_ended;         /* the call must not touch the latch again */
};

struct zkr_leader_latch {
    struct zkr__recipe r;
    bool started, unfit;   /* a candidate if started and not unfit */
    struct zkr__hold hold; /* its claim is NULL while the latch is no candidate */
    zkr_leader_latch_options o;
    struct zkr__listener listener; /* with step_down_when_suspended */
    int failure;                   /* why the candidacy ended; 0 = it did not end */

    /* --- what the callbacks have told the application --- */

    /* The claim for which on_gain was called, and on_loss not yet. Referenced. */
    struct zkr__claim *reported;
    unsigned reported_hold;       /* the hold of that claim */
    struct zkr__latch_loss *loss; /* the running on_loss; NULL = none */
    uint64_t gains;               /* calls of on_gain */
    bool failure_due;             /* on_failed is due */
    bool contenders_due;          /* on_contenders is due */
    struct zkr__call call;        /* runs the callback that is due */
};

#endif
