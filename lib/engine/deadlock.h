/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that is about to wait for what it holds itself, by another object. */
#ifndef ZKR_ENGINE_DEADLOCK_H
#define ZKR_ENGINE_DEADLOCK_H

#include "engine/queue.h"

/*
 * ZKR_EDEADLK, with the thread's last error, when the calling thread is to wait in @q without limit, and holds its path by a
 * re-entrant lock of this client: then it would wait for itself, for ever. A reader beside a reader is none such. What was
 * lost is held no more; tickets are nobody's. Else ZKR_OK.
 */
int zkr__deadlock_check(const struct zkr__queue *q, int64_t timeout_ms) ZKR__LOCKED;

#endif
