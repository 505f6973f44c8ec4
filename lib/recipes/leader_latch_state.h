/* SPDX-License-Identifier: Apache-2.0 */
/* A leader latch: what it consists of, and by which claim it leads. */
#ifndef ZKR_RECIPES_LEADER_LATCH_STATE_H
#define ZKR_RECIPES_LEADER_LATCH_STATE_H

#include <zkr/leader_latch.h>

#include "engine/contenders.h"
#include "session/state.h"

struct zkr_leader_latch {
    zkr_client *c;
    struct zkr__queue *queue;
    struct zkr__claim *claim; /* NULL = no candidate */
    struct zkr__children_watch
        *watch; /* on the contenders; NULL = nobody watched yet */
    zkr_leader_latch_options o;
    struct zkr__listener listener; /* with step_down_when_suspended */
    struct zkr__cv changed;
    int64_t waiting;    /* threads in await or stop */
    int failure;        /* why the candidacy ended, 0 = it did not */
    int failure_detail; /* ZooKeeper's code */

    /* What the application knows by its callbacks. */
    struct zkr__claim *reported; /* on_gain was called for it, and on_loss not yet; its
                                    memory is kept */
    unsigned reported_hold;      /* for which hold of that claim */
    uint64_t gains;              /* calls of on_gain */
    bool failure_due;            /* on_failed is to be called */
    bool contenders_due;         /* on_contenders is to be called */

    /* One call serves all callbacks: when its turn comes it looks which is due. */
    struct zkr__call call;
    bool posted, running;
    bool dead;     /* destroyed by a callback of its own: free it when that returns */
    uint64_t runs; /* calls that have returned */
};

/* First thing in each public function: as zkr__client_enter(). */
int zkr__latch_enter(const zkr_leader_latch *l);
/* As zkr__client_enter_blocking(). */
int zkr__latch_enter_blocking(const zkr_leader_latch *l);

/* The claim by which it leads, perhaps, or NULL. */
struct zkr__claim *zkr__latch_lead(const zkr_leader_latch *l) ZKR__LOCKED;
/* The same, surely and now. Declares what is not sure to be lost. */
struct zkr__claim *zkr__latch_sure_lead(zkr_leader_latch *l) ZKR__LOCKED;

/* Free its memory; the client does not know it any more. */
void zkr__latch_free(zkr_leader_latch *l);

#endif
