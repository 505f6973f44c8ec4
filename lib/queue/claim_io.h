/* SPDX-License-Identifier: Apache-2.0 */
/* Of a claim: the requests that actions stand for, and the events that answers stand for. With the client's lock. */
#ifndef ZKR_QUEUE_CLAIM_IO_H
#define ZKR_QUEUE_CLAIM_IO_H

#include "queue/asked.h"
#include "queue/claim.h"

/* The request could not be made: engine->on_answer gets @code as the answer. */
void zkr__claim_refuse(struct zkr__claim *claim,
                       enum zkr__asked asked,
                       int code) ZKR__LOCKED;

/* Create the node of the claim, under a new GUID. */
void zkr__claim_create(struct zkr__claim *claim) ZKR__LOCKED;
/* The name, new as well, and the data of that node; @text is room for the owner's text. 0 or errno. */
int zkr__claim_creation(struct zkr__claim *claim,
                        struct zkr__creation *creation,
                        char text[ZKR__OWNER_TEXT_MAX]) ZKR__LOCKED;

/* Send what @todo, a set of zkr__action, asks for; other actions are left alone. */
void zkr__claim_request(struct zkr__claim *claim, unsigned todo) ZKR__LOCKED;

/*
 * The event that the answer to @tag stands for; the claim takes note of its node, and of the node ahead.
 * False: of an earlier round, to be dropped.
 */
bool zkr__claim_take_answer(struct zkr__claim *claim,
                            unsigned tag,
                            const struct zkr__answer *answer,
                            struct zkr__claim_event *e) ZKR__LOCKED;

#endif
