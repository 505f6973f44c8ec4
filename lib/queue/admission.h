/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission: how many of our nodes are being made at a time. A session's requests are answered in the order in which
 * they were sent, so a lease probe, and the delete of a hold, wait for all that went out before. A crowd that joins at
 * once stands in line here instead: each answer to a create admits the next claim.
 *
 * Members of a group stand in line side by side, and are admitted when there is room for all of them, or no other node is
 * being made. A member does not wait if a node of its group exists or is being made.
 *
 * A server refuses a create below a missing directory. If another client then makes the directory, the next create of
 * the same client succeeds, out of order. So while neither a node of ours nor a watch on it proves that a directory exists,
 * its claims are admitted one at a time. The other claims wait for one round trip, and the nodes are in the order of the
 * requests.
 *
 * All functions need the client's lock.
 */
#ifndef ZKR_QUEUE_ADMISSION_H
#define ZKR_QUEUE_ADMISSION_H

#include "queue/claim.h"
#include "queue/engine_state.h"

/* The claim may not create its node now: it has to line up. */
bool zkr__admission_waits(const struct zkr__claim *claim) ZKR__LOCKED;
/* Put the claim at the end of its line, or of the line for a kept node (keep.h). */
void zkr__admission_line_up(struct zkr__claim *claim) ZKR__LOCKED;
/* Take the claim out of its line, and do not count it any more as a claim whose node is being made. */
void zkr__admission_leave(struct zkr__claim *claim) ZKR__LOCKED;
/* The claim has made a step: its phase decides whether the claim counts as joining, or stands in line, or neither. */
void zkr__admission_settle(struct zkr__claim *claim) ZKR__LOCKED;
/* Admit the next claim in line, and return it. NULL: no claim is in line, or there is no room. */
struct zkr__claim *zkr__admission_next(const struct zkr__engine *engine) ZKR__LOCKED;

#endif
