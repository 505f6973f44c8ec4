/* SPDX-License-Identifier: Apache-2.0 */
/* How a hold was lost, for its owner, the metrics and the log. With the client's lock. */
#ifndef ZKR_QUEUE_LOSS_H
#define ZKR_QUEUE_LOSS_H

#include "queue/claim.h"

/* The hold of @claim has ended just now: remember what the client has observed. */
void zkr__loss_record(struct zkr__claim *claim) ZKR__LOCKED;
/*
 * The loss, for the owner; @reason: ZKR_LOST_…. The result points into @claim, and is valid until the next call with
 * another reason.
 */
zkr_lost zkr__loss_tell(const struct zkr__claim *claim, int reason) ZKR__LOCKED;
/* The loss, for the metrics. */
enum zkr__metered_loss zkr__loss_metered(const struct zkr__claim *claim) ZKR__LOCKED;
/* Write it into the log. */
void zkr__loss_log(const struct zkr__claim *claim, int reason) ZKR__LOCKED;

#endif
