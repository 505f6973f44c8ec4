/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission limits how many of our nodes are being created at a time. The servers answer a session's requests in the
 * order of sending, so a lease probe, or the delete of a hold, waits for all requests sent before it. So when many
 * claims join at once, they wait in line here, and each answer to a create admits the next claim.
 *
 * Members of a group are adjacent in the line. They are admitted when there is room for all of them, or when no other
 * node is being created. A member does not wait if a node of its group exists or is being created.
 *
 * A server refuses a create below a missing directory. If another client creates the directory right after that, our
 * next create succeeds and overtakes the refused one. While neither a node of ours nor a watch proves that a directory
 * exists, its claims are admitted one at a time. The other claims wait for one round trip, and the nodes are created in
 * the order of the requests.
 *
 * All functions need the client's lock.
 */
#ifndef ZKR_QUEUE_ADMISSION_H
#define ZKR_QUEUE_ADMISSION_H

#include "queue/claim.h"
#include "queue/engine_state.h"

/* Returns true if the claim must line up before it creates its node. */
bool zkr__admission_waits(const struct zkr__claim *claim) ZKR__LOCKED;
/* Append the claim to the line for admission, or to the line for a kept node (keep.h). */
void zkr__admission_line_up(struct zkr__claim *claim) ZKR__LOCKED;
/* Remove the claim from its line, and from the count of claims whose nodes are being created. */
void zkr__admission_leave(struct zkr__claim *claim) ZKR__LOCKED;
/* After a step of the claim, count it as creating its node, keep it in line, or do neither, depending on its phase. */
void zkr__admission_settle(struct zkr__claim *claim) ZKR__LOCKED;
/* Admit the next claim in line, and return it. Returns NULL if no claim can be admitted now. */
struct zkr__claim *zkr__admission_next(const struct zkr__engine *engine) ZKR__LOCKED;

#endif
