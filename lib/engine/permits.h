/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds permits of a semaphore, to somebody who looks at its nodes: those in `leases`, one a permit, and the first
 * in the queue at its gate, `locks`. Pure.
 *
 * The permits of one request are made in one transaction, and so have one token. They are granted when there are no more
 * leases up to them than the maximum, and nobody comes before them later: those beyond it are waited for. Each says with
 * which maximum it was made, as that may be lowered while they are held. One of Curator does not: it waits with its last
 * lease, first at the gate.
 */
#ifndef ZKR_ENGINE_PERMITS_H
#define ZKR_ENGINE_PERMITS_H

#include <zkr/contenders.h>

/*
 * How many of the @count @leases, from the first on, are held; those behind them are waited for. The leases are in their
 * order. @gate: the first there, NULL = nobody. *max: as the newest lease that knows it says, 0 = none does.
 */
size_t zkr__permits_held(const zkr_contender *leases,
                         size_t count,
                         const zkr_contender *gate,
                         int64_t *max);

#endif
