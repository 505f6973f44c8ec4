/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A robust mutex tells a holder that the one before it ended without release: options.robust of zkr/mutex.h.
 *
 * The data of the path is a record of who holds. A holder writes its token there before acquire returns, and 0 in the
 * transaction that deletes its node. So a token that the next holder finds is that of one that ended otherwise. Each
 * write checks the node of its writer: only the holder writes.
 */
#ifndef ZKR_RECIPES_MUTEX_ROBUST_H
#define ZKR_RECIPES_MUTEX_ROBUST_H

#include "recipes/reentrant.h"

/* As zkr__reentrant_acquire() and so on, with ZKR_EOWNERDEAD. */
int zkr__robust_acquire(struct zkr__reentrant *lock, int64_t timeout_ms);
int zkr__robust_release(struct zkr__reentrant *lock);
/* With writes that release. */
int zkr__robust_release_multi(struct zkr__reentrant *lock,
                              const struct zkr__writes *writes);

#endif
