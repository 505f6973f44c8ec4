/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission: how many of our nodes are being made at a time. A session's requests are answered in the order in which
 * they were sent, so a lease probe, and the delete of a hold, wait for all that went out before. A crowd that joins at
 * once stands in line here instead: each answer to a create admits the next claim.
 *
 * Members of a group stand in line side by side, and are admitted when there is room for all of them, or nothing else is
 * being made. A member does not wait when nodes of its group are made, or are being made.
 *
 * A server refuses a create below a directory that is missing, and makes a later node of the same client if another
 * client makes the directory in between. So while neither a node of ours nor the guard proves that a directory exists,
 * its claims go one at a time. The others wait for one round trip, and the nodes are in the order of the requests.
 *
 * All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_ADMISSION_H
#define ZKR_ENGINE_ADMISSION_H

#include "engine/claim.h"
#include "engine/engine.h"

/* The claim may not create its node now: it has to line up. */
bool zkr__admission_waits(const struct zkr__claim *claim) ZKR__LOCKED;
/* Another claim of this client stands in the directory, and keeps its node: this claim waits for that node (keep.c). */
bool zkr__admission_shares(const struct zkr__claim *claim) ZKR__LOCKED;
/* Put the claim at the end of its line. */
void zkr__admission_line_up(struct zkr__claim *claim) ZKR__LOCKED;
/* The claim neither stands in a line any more, nor counts as one whose node is being made. */
void zkr__admission_leave(struct zkr__claim *claim) ZKR__LOCKED;
/* The claim has made a step: its phase decides whether the claim counts as joining, or stands in line, or neither. */
void zkr__admission_settle(struct zkr__claim *claim) ZKR__LOCKED;
/* Admit the next claim in line, and return it. NULL: no claim is in line, or there is no room. */
struct zkr__claim *zkr__admission_next(const struct zkr__engine *engine) ZKR__LOCKED;

#endif
