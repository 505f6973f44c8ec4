/* SPDX-License-Identifier: Apache-2.0 */
/* Of a claim: the requests that actions stand for, and the events that answers stand for. With the client's lock. */
#ifndef ZKR_QUEUE_CLAIM_IO_H
#define ZKR_QUEUE_CLAIM_IO_H

#include "queue/claim.h"

/* What a claim has asked. */
enum zkr__asked {
    ZKR__ASKED_CREATE,
    ZKR__ASKED_LIST,
    ZKR__ASKED_OWN,
    ZKR__ASKED_AHEAD,
    ZKR__ASKED_PROVE,
    ZKR__ASKED_REMOVE,
    ZKR__ASKED_DOWNGRADE,
    ZKR__ASKED_RESTORE,
    ZKR__ASKED_OWNER,
    ZKR__ASKED_BEFORE
};

enum { ZKR__ASKED_BITS = 4 };

/* The tag of a request: what was asked, and in which round. */
static inline unsigned zkr__asked_tag(enum zkr__asked asked, unsigned round)
{
    return round << ZKR__ASKED_BITS | asked;
}

static inline enum zkr__asked zkr__asked_of(unsigned tag)
{
    return (enum zkr__asked)(tag & ((1U << ZKR__ASKED_BITS) - 1));
}

static inline bool zkr__asked_in_round(unsigned tag, unsigned round)
{
    return tag >> ZKR__ASKED_BITS == (round & (~0U >> ZKR__ASKED_BITS));
}

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
