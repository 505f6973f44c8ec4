/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a leader latch, for its two files. */
#ifndef ZKR_RECIPES_LEADER_LATCH_H
#define ZKR_RECIPES_LEADER_LATCH_H

#include <zkr/leader_latch.h>

#include "engine/contest.h"
#include "session/state.h"

#define ZKR__LATCH_PREFIX "latch-" /* Curator's LOCK_NAME of a latch */

struct zkr_leader_latch {
    zkr_client *c;
    struct zkr__queue *queue;
    struct zkr__claim *claim;     /* NULL = no candidate */
    struct zkr__lookout *lookout; /* NULL = nobody watched yet */
    zkr_leader_latch_options o;
    struct zkr__listener listener; /* with step_down_when_suspended */
    struct zkr__cv changed;
    int64_t waiting;    /* threads in await or stop */
    int failure;        /* why the candidacy ended, 0 = it did not */
    int failure_detail; /* ZooKeeper's code */

    /* What the application knows by its callbacks. */
    struct zkr__claim
        *told;           /* on_gain was called for it, on_loss not yet; kept alive */
    unsigned told_hold;  /* for which hold of that claim */
    uint64_t terms;      /* calls of on_gain */
    bool failure_untold; /* on_failed is due */
    bool news_untold;    /* on_contenders is due */

    /* One call serves all callbacks: it looks what is to be told when its turn comes. */
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

/* --- callbacks (leader_latch_tell.c) --- */

/* Something may have changed: wake those who wait, and see that the application is told. */
void zkr__latch_changed(zkr_leader_latch *l) ZKR__LOCKED;
void zkr__latch_init_calls(zkr_leader_latch *l);
void zkr__latch_free(zkr_leader_latch *l);
/* The application need not be told of the loss of what it believes in. */
void zkr__latch_hush(zkr_leader_latch *l) ZKR__LOCKED;
/* Wait until it has been told, and no callback of before runs; not on the dispatch thread. */
void zkr__latch_wait_told(zkr_leader_latch *l) ZKR__LOCKED;

#endif
