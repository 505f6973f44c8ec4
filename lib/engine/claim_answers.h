/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of ZooKeeper, turned into events of the claim that asked. */
#ifndef ZKR_ENGINE_CLAIM_ANSWERS_H
#define ZKR_ENGINE_CLAIM_ANSWERS_H

#include "engine/claim.h"

/*
 * The event that the answer to @tag stands for; the claim takes note of its node, and of whom it stands behind.
 * False: of an earlier round, to be dropped.
 */
bool zkr__claim_take_answer(struct zkr__claim *claim,
                            unsigned tag,
                            const struct zkr__answer *answer,
                            struct zkr__claim_event *e) ZKR__LOCKED;

#endif
