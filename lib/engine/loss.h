/* SPDX-License-Identifier: Apache-2.0 */
/* How a hold was lost, for those who are told. */
#ifndef ZKR_ENGINE_LOSS_H
#define ZKR_ENGINE_LOSS_H

#include "engine/claim.h"

enum { ZKR__LOSS_TEXT_MAX = 200 };

/* The hold of @claim is over by now: remember what has been observed. */
void zkr__loss_note(struct zkr__claim *claim) ZKR__LOCKED;
/* What its owner is told; @reason: ZKR_LOST_…. It points to @claim and to @text. */
zkr_lost zkr__loss_tell(const struct zkr__claim *claim,
                        int reason,
                        char text[ZKR__LOSS_TEXT_MAX]) ZKR__LOCKED;
/* For the meters. */
enum zkr__metered_loss zkr__loss_metered(const struct zkr__claim *claim) ZKR__LOCKED;
/* Into the log. */
void zkr__loss_log(const struct zkr__claim *claim, int reason) ZKR__LOCKED;

#endif
