/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lists of a directory's children, one at a time.
 *
 * A claim is served by the first list that is sent after it has asked, so behind its create, and behind all that it
 * has heard by then. While a list is on its way those who ask wait for the next one, which is sent as soon as the
 * first is answered, and share it. So a crowd costs a few lists, not one for each.
 *
 * All functions need the client's lock.
 */
#ifndef ZKR_ENGINE_LISTS_H
#define ZKR_ENGINE_LISTS_H

#include "engine/claim.h"
#include "engine/directory.h"

/* Give the claim the answer to the next list: @fn gets it as if it was asked for in the present round. */
void zkr__lists_want(struct zkr__claim *claim, zkr__answer_fn fn) ZKR__LOCKED;
/* Send a list if one is wanted, and none is on its way. */
void zkr__lists_send(struct zkr__directory *d) ZKR__LOCKED;
/* It waits for one, in this round. */
bool zkr__lists_wanted(const struct zkr__claim *claim) ZKR__LOCKED;
/*
 * While an answer is given: the children but for those of ours that leave, and of a long list for those behind all who
 * asked. Returns ZKR_OK or ZKR_ENOMEM.
 */
int zkr__lists_children(struct zkr__directory *d,
                        const struct zkr__children **out) ZKR__LOCKED;

/* The session came back: what happened meanwhile is told in no order. */
void zkr__lists_connected(struct zkr__engine *engine) ZKR__LOCKED;
void zkr__lists_session_over(struct zkr__engine *engine) ZKR__LOCKED;

#endif
