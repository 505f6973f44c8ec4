/* SPDX-License-Identifier: Apache-2.0 */
/* The struct of a leader selector. */
#ifndef ZKR_RECIPES_LEADER_SELECTOR_H
#define ZKR_RECIPES_LEADER_SELECTOR_H

#include <zkr/leader_selector.h>

#include "recipes/recipe.h"

struct zkr_leadership {
    zkr_leader_selector *s;
    bool interrupted;
    bool suspended; /* used with step_down_when_suspended */
};

struct zkr_leader_selector {
    struct zkr__recipe r;
    zkr_take_leadership take;
    void *ctx;
    zkr_leader_selector_options o;
    struct zkr__listener listener; /* used with step_down_when_suspended */
    uint64_t runs;                 /* how many threads have been joined so far */

    pthread_t thread;
    bool started;  /* from the start until the thread is joined */
    bool stopping; /* the thread must end */
    bool ended;    /* the thread no longer uses the selector and can be joined */
    bool joining;

    bool queued;  /* a round is requested */
    bool leading; /* take_leadership() is running */
    bool led; /* take_leadership() has returned, and the pause after it has not begun */
    struct zkr__hold hold; /* the hold of the current round */
    struct zkr_leadership lead;
    int failure; /* why the candidacy ended; 0 = it has not ended */

    struct zkr__call failed; /* calls on_failed */
};

#endif
