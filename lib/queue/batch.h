/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of the members of a group that go out as one: creates in one transaction, with one list behind it
 * for each queue; deletes in one transaction; checks of nodes in one write. With the client's lock.
 */
#ifndef ZKR_QUEUE_BATCH_H
#define ZKR_QUEUE_BATCH_H

#include "queue/claim.h"
#include "queue/group.h"

/*
 * Keep in claim->unsent the actions of @todo that go out together with actions of other members. Returns the other
 * actions.
 */
unsigned zkr__batch_defer(struct zkr__claim *claim, unsigned todo) ZKR__LOCKED;

/* Send the kept creates, unless the group is gathering, or a claim that needs a node is not ready to create it. */
void zkr__batch_create(struct zkr__group *group) ZKR__LOCKED;
/* Send all that is kept: the group is not gathering any more. */
void zkr__batch_send(struct zkr__group *group) ZKR__LOCKED;

#endif
