/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Combines requests of the members of a group: creates in one transaction, followed by one list for each queue, deletes
 * in one transaction, and checks of nodes in one write. All functions need the client's lock.
 */
#ifndef ZKR_QUEUE_BATCH_H
#define ZKR_QUEUE_BATCH_H

#include "queue/claim.h"
#include "queue/group.h"

/* Returns whether the request of @action is sent later, together with the requests of other members. */
bool zkr__batch_defers(struct zkr__claim *claim, unsigned action) ZKR__LOCKED;

/*
 * Send the pending creates, unless the group is gathering requests, or a member that needs a node is not ready to
 * create it.
 */
void zkr__batch_create(struct zkr__group *group) ZKR__LOCKED;
/* Stop gathering requests of the group, and send all pending ones. */
void zkr__batch_send(struct zkr__group *group) ZKR__LOCKED;

#endif
