/* SPDX-License-Identifier: Apache-2.0 */
/* A contender, as its node's name, data and Stat describe it. */
#ifndef ZKR_LOOK_CONTENDER_H
#define ZKR_LOOK_CONTENDER_H

#include <zkr/contenders.h>

#include "queue/children.h"
#include "queue/node_data.h"
#include "session/client.h"

/* Returns the ZKR_KIND_… of @kind. */
int zkr__contender_kind(enum zkr__name_kind kind);
/* Fill in what the name of the node reveals. Returns ZKR_OK or ZKR_ENOMEM. */
int zkr__contender_begin(zkr_contender *entry, const struct zkr__child *child);
/* Fill in what a successful GET of the node returned. Returns ZKR_OK or ZKR_ENOMEM. */
int zkr__contender_take(zkr_contender *entry, const struct zkr__answer *answer);
/* Free everything that the entry points to. The pointers may be NULL. */
void zkr__contender_drop(zkr_contender *entry);

/*
 * zkr__permits_held() finds out from the nodes of a semaphore which contenders hold permits. It is pure.
 *
 * The leases of one request are created in one transaction, so they have the same fencing token, and newer leases sort
 * behind them. A request holds its permits if its last lease is among the first N leases. N is the larger of the maximum
 * in its own leases and the maximum in the newest lease, because the maximum may be lowered while permits are held. The
 * other leases wait. A lease of Curator has no field for the maximum. It counts as held, unless it is the last lease and
 * its client is first at the gate, the queue of the semaphore's waiters: then that client still waits for its permit.
 */

/*
 * Returns how many of the @count @leases are held. These come first, and the others are waiting. @leases are in order.
 * @gate is the first contender at the gate, or NULL. *@max is set to the maximum in the newest lease that has one, or
 * to 0.
 */
size_t zkr__permits_held(const zkr_contender *leases,
                         size_t count,
                         const zkr_contender *gate,
                         int64_t *max);

#endif
