/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Check the invariants of a lease (lease.h) between two calls. Returns NULL, or a text that describes the fault. Pure,
 * and in constant time.
 */
#ifndef ZKR_SESSION_LEASE_INVARIANT_H
#define ZKR_SESSION_LEASE_INVARIANT_H

#include "session/lease.h"

const char *zkr__lease_invariant(const struct zkr__lease *l);

#endif
