/* SPDX-License-Identifier: Apache-2.0 */
/* One contender, as the data and the Stat of its node tell of it. */
#ifndef ZKR_ENGINE_CONTENDER_H
#define ZKR_ENGINE_CONTENDER_H

#include <zkr/contenders.h>

#include "engine/names.h"
#include "session/zk.h"

/* Fields of node data, which the library itself writes. */
#define ZKR__FIELD_MAX "max"
#define ZKR__FIELD_HELD_SINCE "held_since_ms"
#define ZKR__FIELD_SESSION_TIMEOUT "session_timeout_ms"

/* ZKR_KIND_… */
int zkr__contender_kind(enum zkr__name_kind kind);
/* Fill in what a successful GET of its node has told. ZKR_OK or ZKR_ENOMEM. */
int zkr__contender_take(zkr_contender *entry, const struct zkr__answer *answer);
/* The number in a field; 0 when there is none that is positive. */
int64_t zkr__contender_number(const zkr_contender *entry, const char *key);
/* Free what it points to; NULLs are fine. */
void zkr__contender_drop(zkr_contender *entry);

/*
 * The data of a node as text, allocated, or NULL: as many bytes as @len, controls of either set, zeros
 * among them, as '?'. It need not be UTF-8. Behind it stand two zeros.
 */
char *zkr__contenders_text(const void *data, size_t len);

/*
 * Who holds permits of a semaphore, to somebody who looks at its nodes: those in `leases`, one a permit, and the first
 * in the queue at its gate, `locks`. Pure.
 *
 * The permits of one request are made in one transaction, and so have one token. They are granted when there are no more
 * leases up to them than the maximum, and nobody comes before them later: those beyond it are waited for. Each says with
 * which maximum it was made, as that may be lowered while they are held. One of Curator does not: it waits with its last
 * lease, first at the gate.
 */

/*
 * How many of the @count @leases, from the first on, are held; those behind them are waited for. The leases are in their
 * order. @gate: the first there, NULL = nobody. *max: as the newest lease that knows it says, 0 = none does.
 */
size_t zkr__permits_held(const zkr_contender *leases,
                         size_t count,
                         const zkr_contender *gate,
                         int64_t *max);

#endif
