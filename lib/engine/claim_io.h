/* SPDX-License-Identifier: Apache-2.0 */
/* What a claim asks ZooKeeper: the requests that its actions stand for, and the events that answers stand for. */
#ifndef ZKR_ENGINE_CLAIM_IO_H
#define ZKR_ENGINE_CLAIM_IO_H

#include "engine/claim.h"
#include "engine/claim_data.h"
#include "engine/lists.h"
#include "session/request.h"

/* What makes its node, under a new GUID; @text is room for the owner's. 0 or errno. */
int zkr__claim_creation(struct zkr__claim *claim,
                        struct zkr__creation *creation,
                        char text[ZKR__OWNER_TEXT_MAX]) ZKR__LOCKED;

/*
 * Send what @todo, a set of zkr__action, asks for; other actions are left alone. @on_answer gets each answer, with
 * the claim and the tag, and a reference that it drops. What goes out with others' requests (batch.h) is noted
 * in claim->unsent instead.
 */
void zkr__claim_request(struct zkr__claim *claim,
                        unsigned todo,
                        zkr__answer_fn on_answer) ZKR__LOCKED;

/*
 * The event that the answer to @tag stands for; the claim takes note of its node, and of whom it stands behind.
 * False: of an earlier round, to be dropped.
 */
bool zkr__claim_take_answer(struct zkr__claim *claim,
                            unsigned tag,
                            const struct zkr__answer *answer,
                            struct zkr__claim_event *e) ZKR__LOCKED;

#endif
