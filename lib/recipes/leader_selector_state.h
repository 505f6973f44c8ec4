/* SPDX-License-Identifier: Apache-2.0 */
/* A leader selector: what it consists of, and whether its leadership is sure. */
#ifndef ZKR_RECIPES_LEADER_SELECTOR_STATE_H
#define ZKR_RECIPES_LEADER_SELECTOR_STATE_H

#include <zkr/leader_selector.h>

#include "engine/contenders.h"
#include "session/state.h"

struct zkr_leadership {
    zkr_leader_selector *s;
    struct zkr__claim *claim;
    bool interrupted;
    bool suspended; /* with step_down_when_suspended */
};

struct zkr_leader_selector {
    zkr_client *c;
    struct zkr__queue *queue;
    zkr_take_leadership take;
    void *ctx;
    zkr_leader_selector_options o;
    struct zkr__listener listener; /* with step_down_when_suspended */
    struct zkr__cv changed;
    int64_t waiting; /* threads in stop */
    uint64_t runs;   /* of the thread, that are over */

    pthread_t thread;
    bool started;  /* from start until the thread was joined */
    bool stopping; /* the thread is to end */
    bool ended;    /* it has done its last work here, and can be joined */
    bool joining;

    bool queued;              /* a round is asked for */
    bool leading;             /* take_leadership() runs */
    struct zkr__claim *claim; /* of this round */
    struct zkr_leadership lead;
    int failure; /* why the candidacy ended, 0 = it did not */

    struct zkr__call failed; /* calls on_failed */
    bool posted, running;
    bool dead; /* destroyed by on_failed: free it when that returns */
};

/* First thing in each public function: as zkr__client_enter(). */
int zkr__selector_enter(const zkr_leader_selector *s);
/* As zkr__client_enter_blocking(). */
int zkr__selector_enter_blocking(const zkr_leader_selector *s);

/* Is this round's leadership sure, now? Declares what is not to be lost. */
bool zkr__leadership_sure(struct zkr_leadership *lead) ZKR__LOCKED;

/* Free its memory; the client does not know it any more. */
void zkr__selector_free(zkr_leader_selector *s);

#endif
