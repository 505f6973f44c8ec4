/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restarts the sequence numbers of a directory. They start again when the directory is deleted and the next
 * claim creates it. Only a directory that has no data, and has the ACL of our nodes, is deleted: the next claim would
 * create any other directory differently. With the client's lock.
 */
#ifndef ZKR_QUEUE_RECOUNT_H
#define ZKR_QUEUE_RECOUNT_H

#include "queue/claim.h"

/* The node of @claim is about to be deleted: learn whether its directory may be deleted afterwards. */
void zkr__recount_look(const struct zkr__claim *claim) ZKR__LOCKED;
/* A node in @d is deleted: delete @d, too, if it may be and no other contender is there. */
void zkr__recount_begin(struct zkr__directory *d) ZKR__LOCKED;

#endif
