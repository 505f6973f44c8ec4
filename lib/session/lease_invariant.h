/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Check the invariants of a lease (lease.h) between two calls. Pure, in constant time. Returns NULL, or the fault in
 * words.
 */
#ifndef ZKR_SESSION_LEASE_INVARIANT_H
#define ZKR_SESSION_LEASE_INVARIANT_H

#include "session/lease.h"

const char *zkr__lease_invariant(const struct zkr__lease *l);

#endif
