/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restarts the sequence numbers of a directory by deleting the directory. The next claim creates it again, with numbers
 * from 0. Only a directory without data and with the ACL of our nodes is deleted, because the next claim would create
 * any other directory with different data or another ACL. All functions need the client's lock.
 */
#ifndef ZKR_QUEUE_RECOUNT_H
#define ZKR_QUEUE_RECOUNT_H

#include "queue/claim.h"

/* Find out, before the node of @claim is deleted, whether its directory may be deleted afterwards. */
void zkr__recount_look(const struct zkr__claim *claim) ZKR__LOCKED;
/* After a node in @d was deleted, delete @d, too, if that is allowed and no other contender has a node there. */
void zkr__recount_begin(struct zkr__directory *d) ZKR__LOCKED;

#endif
