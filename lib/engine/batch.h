/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of several claims that go out as one: creates in one transaction, with one list behind it for each
 * queue; deletes in one transaction; checks of nodes in one write. All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_BATCH_H
#define ZKR_ENGINE_BATCH_H

#include "engine/claim.h"
#include "session/request.h"

struct zkr__batch {
    bool gathering; /* nothing is sent before zkr__batch_send() */
    uint32_t count;
    struct zkr__claim **claims; /* NULL = not in; those of one queue stand together */
};

/* Of @todo, a set of zkr__action, keep in claim->unsent what is to go out with others; returns the rest. */
unsigned zkr__batch_keep(struct zkr__claim *claim, unsigned todo) ZKR__LOCKED;

/* Send the creates that are kept, unless it is gathering, or a claim that is to have a node is not as far. */
void zkr__batch_create(struct zkr__batch *batch, zkr__answer_fn on_answer) ZKR__LOCKED;
/* Send all that is kept. */
void zkr__batch_send(struct zkr__batch *batch, zkr__answer_fn on_answer) ZKR__LOCKED;

#endif
