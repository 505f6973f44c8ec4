/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries that look before they make a node. While the node of a try is there, others have to wait for it who could be
 * granted at once beside those who hold: for other permits, as readers beside readers, for one path of several. So a
 * try of which that is true makes none while this client knows of a reason why it would fail, and asks when it
 * does not know.
 *
 * If all seems free it goes ahead, and costs one round trip. What the client knows may be old: then it is wrong once,
 * for its own list tells.
 *
 * All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_TRIES_H
#define ZKR_ENGINE_TRIES_H

#include "engine/claim.h"

/* The claim is such a try, and there may be no room for its node. */
bool zkr__try_is_wary(const struct zkr__claim *claim) ZKR__LOCKED;
/* The claim, which was in the phase @before, or about to be, has made a step: one that leaves makes room. */
void zkr__try_count(const struct zkr__claim *claim, enum zkr__phase before) ZKR__LOCKED;

#endif
