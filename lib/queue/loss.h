/* SPDX-License-Identifier: Apache-2.0 */
/* Reports to the owner, the metrics and the log how a hold was lost. All functions need the client's lock. */
#ifndef ZKR_QUEUE_LOSS_H
#define ZKR_QUEUE_LOSS_H

#include "queue/claim.h"

/* Record what the client has observed, right after the hold of @claim has ended. */
void zkr__loss_record(struct zkr__claim *claim) ZKR__LOCKED;
/*
 * Describe the loss to the owner. @reason is one of ZKR_LOST_…. The result points into @claim, and is valid until the
 * next call with another reason.
 */
zkr_lost zkr__loss_tell(const struct zkr__claim *claim, int reason) ZKR__LOCKED;
/* Classify the loss for the metrics. */
enum zkr__metered_loss zkr__loss_metered(const struct zkr__claim *claim) ZKR__LOCKED;
/* Log the loss. */
void zkr__loss_log(const struct zkr__claim *claim, int reason) ZKR__LOCKED;

#endif
