/* SPDX-License-Identifier: Apache-2.0 */
/* How a hold was lost: for its owner, the metrics and the log. All functions need the client's lock. */
#ifndef ZKR_QUEUE_LOSS_H
#define ZKR_QUEUE_LOSS_H

#include "queue/claim.h"

/* The hold of @claim has just ended: record what the client has observed. */
void zkr__loss_record(struct zkr__claim *claim) ZKR__LOCKED;
/*
 * Describes the loss to the owner. @reason is a ZKR_LOST_…. The result points into @claim, and is valid until the next
 * call with another reason.
 */
zkr_lost zkr__loss_tell(const struct zkr__claim *claim, int reason) ZKR__LOCKED;
/* Classifies the loss for the metrics. */
enum zkr__metered_loss zkr__loss_metered(const struct zkr__claim *claim) ZKR__LOCKED;
/* Logs the loss. */
void zkr__loss_log(const struct zkr__claim *claim, int reason) ZKR__LOCKED;

#endif
