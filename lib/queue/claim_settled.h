/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariants of a claim that has settled after a step (claim_run.c), of its directory, and of the client's counts.
 * Takes constant time. Returns NULL if all invariants hold, else a description of the fault.
 */
#ifndef ZKR_QUEUE_CLAIM_SETTLED_H
#define ZKR_QUEUE_CLAIM_SETTLED_H

#include "queue/claim.h"

const char *zkr__claim_settled(const struct zkr__claim *claim) ZKR__LOCKED;

#endif
