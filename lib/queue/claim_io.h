/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the deeds of a claim into requests, and answers into events. All functions need the client's lock. */
#ifndef ZKR_QUEUE_CLAIM_IO_H
#define ZKR_QUEUE_CLAIM_IO_H

#include "queue/claim.h"
#include "queue/claim_plan.h"

/* Instead of sending the request, answer it with @code through engine->on_answer. */
void zkr__claim_refuse(struct zkr__claim *claim,
                       enum zkr__asked asked,
                       int code) ZKR__LOCKED;

/* Create the claim's node, with a new GUID. */
void zkr__claim_create(struct zkr__claim *claim) ZKR__LOCKED;
/* Give the claim's node a new name, and fill in @creation. @text has room for the owner text. Returns 0 or errno. */
int zkr__claim_creation(struct zkr__claim *claim,
                        struct zkr__creation *creation,
                        char text[ZKR__OWNER_TEXT_MAX]) ZKR__LOCKED;

/* Send the requests of @deed. The deed must have requests. */
void zkr__claim_request(struct zkr__claim *claim, enum zkr__deed deed) ZKR__LOCKED;

/*
 * Fill in @e from the answer to the request @tag, and record what the answer reveals about the claim's node and the
 * node ahead. Returns false for an answer of an earlier round, which the caller drops.
 */
bool zkr__claim_take_answer(struct zkr__claim *claim,
                            unsigned tag,
                            const struct zkr__answer *answer,
                            struct zkr__claim_event *e) ZKR__LOCKED;

#endif
