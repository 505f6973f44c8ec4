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
    /* NULL = no member; the claims of one queue stand together. */
    struct zkr__claim **claims;
};

/* Keep in claim->unsent the actions of @todo that go out with those of other claims. Returns the others. */
unsigned zkr__batch_keep(struct zkr__claim *claim, unsigned todo) ZKR__LOCKED;

/* Send the kept creates, unless the batch is gathering, or a claim that needs a node is not ready to create it. */
void zkr__batch_create(const struct zkr__batch *batch) ZKR__LOCKED;
/* Begin to keep what the claims ask for; send all that is kept. */
void zkr__batch_gather(struct zkr__batch *batch) ZKR__LOCKED;
void zkr__batch_send(struct zkr__batch *batch) ZKR__LOCKED;

#endif
