/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many of our nodes are being made at a time. A session's requests are answered in the order in which they were
 * sent, so a lease probe, and the delete of a hold, wait for all that went out before. A crowd that joins at once
 * stands in line here instead: each answer to a create lets the next one go.
 *
 * Members of a group stand in line side by side, and go when there is room for all of them, or nothing else is being
 * made. One that joins others which are made, or are being made, does not wait.
 *
 * All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_JOINS_H
#define ZKR_ENGINE_JOINS_H

#include "engine/claim.h"

/* The claim may not create its node now: it is to line up. */
bool zkr__joins_crowded(const struct zkr__claim *claim) ZKR__LOCKED;
/* It stands in line. */
void zkr__joins_line_up(struct zkr__claim *claim) ZKR__LOCKED;
/* The claim has made a step: see that it is counted, or in line, only as its phase says. */
void zkr__joins_settle(struct zkr__claim *claim) ZKR__LOCKED;
/* The first in line, which is counted from now on until it settles otherwise. NULL: none, or there is no room. */
struct zkr__claim *zkr__joins_next(struct zkr__engine *engine) ZKR__LOCKED;

#endif
