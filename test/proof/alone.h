/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One claim, and all that can happen to it.
 *
 * The step is the shipped one, zkr__claim_step(). Around it stands a world that knows the truth: whether the node of the
 * claim is at the server, and which of the nodes ahead of it are. Requests are answered in their order, each with any
 * answer that a server can give in this truth, or refused for want of memory or of permission. A connection may end at any
 * moment: of the writes under way some are carried out then, some later, until the server takes the next write, and the
 * others never, and no answer tells which. Requests that are sent after the connection broke go out on the next one, which
 * may answer them before the claim is told of it. A list may wait for a list of another claim. Nodes may be deleted,
 * replaced and written to by hand at any moment. The session may end, the lease may be short or over, the owner may let
 * go, and timers fire, whenever they can.
 *
 * Counters are cut off where the step stops looking: three quick retries, then pauses.
 */
#ifndef ZKP_ALONE_H
#define ZKP_ALONE_H

#include "explore.h"

/* What the claim is for. Other properties of a claim change nothing about its step. */
struct zkp_use {
    const char *name;
    bool quick;    /* a small one: with --quick, too */
    bool wide;     /* only with --steps */
    bool once;     /* it is not to wait, and may look before it makes a node */
    int ahead;     /* it may look ahead, behind up to so many others; 0 = behind one */
    bool children; /* it waits for any change of the directory */
    bool member;   /* of a group */
    bool keeps;    /* past the lease bound the hold is in doubt, not lost */
    bool kept;     /* the node may stay for the next owner */
    bool downgrades; /* a writer that goes on as a reader */
    unsigned
        writes; /* so many transactions of its owner at a time, which may delete the node */
    bool wishes;   /* people ask it to let go */
    bool metadata; /* the hold writes into its node */
    bool nearby;   /* nodes ahead are of processes that tell of their releases */
    bool shared;   /* other claims of the client watch the same nodes ahead */
    bool lies;    /* a list may lack the node of the claim, and its watch may be lost */
    bool fair;    /* servers refuse nothing, and there is room for all watches */
    bool orderly; /* requests are sent at once, and answered in order or lost */
};

const struct zkp_model *zkp_alone(const struct zkp_use *use);

#endif
