/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is true of a claim when it has settled after a step (claim_run.c), of its directory, and of what its client counts.
 * In constant time. NULL, or in words what is wrong.
 */
#ifndef ZKR_QUEUE_CLAIM_SETTLED_H
#define ZKR_QUEUE_CLAIM_SETTLED_H

#include "queue/claim.h"

const char *zkr__claim_settled(const struct zkr__claim *claim) ZKR__LOCKED;

#endif
