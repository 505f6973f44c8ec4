/* SPDX-License-Identifier: Apache-2.0 */
/* A contender, as the name, the data and the Stat of its node tell. */
#ifndef ZKR_LOOK_CONTENDER_H
#define ZKR_LOOK_CONTENDER_H

#include <zkr/contenders.h>

#include "queue/children.h"
#include "queue/node_data.h"
#include "session/client.h"

/* ZKR_KIND_… */
int zkr__contender_kind(enum zkr__name_kind kind);
/* Fill in what the name tells. ZKR_OK or ZKR_ENOMEM. */
int zkr__contender_begin(zkr_contender *entry, const struct zkr__child *child);
/* Fill in what a successful GET of the node tells. ZKR_OK or ZKR_ENOMEM. */
int zkr__contender_take(zkr_contender *entry, const struct zkr__answer *answer);
/* Free what the entry points to; NULLs are fine. */
void zkr__contender_drop(zkr_contender *entry);

/*
 * Which contenders hold permits of a semaphore, as its nodes show. Pure.
 *
 * The leases of one request are made in one transaction, so they have one fencing token. Leases are held when no more
 * leases than the maximum stand up to them, and no lease is ever put before them; leases beyond the maximum are waited for.
 * Each lease of ours tells the maximum it was made with, as the maximum may be lowered while permits are held. A lease of
 * Curator does not. A client of Curator waits with its last lease, and is first at the gate then.
 */

/*
 * How many of the @count @leases are held, from the first on; the others are waited for. @leases are in their order.
 * @gate: the first contender at the gate, NULL = none. *max: what the newest lease that tells it says, 0 = none tells.
 */
size_t zkr__permits_held(const zkr_contender *leases,
                         size_t count,
                         const zkr_contender *gate,
                         int64_t *max);

#endif
