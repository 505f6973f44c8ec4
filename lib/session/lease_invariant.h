/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of a lease (lease.h) between two calls. Pure, and in constant time. NULL, or in words what is wrong. */
#ifndef ZKR_SESSION_LEASE_INVARIANT_H
#define ZKR_SESSION_LEASE_INVARIANT_H

#include "session/lease.h"

const char *zkr__lease_invariant(const struct zkr__lease *l);

#endif
