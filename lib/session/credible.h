/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that cannot be. Pure. */
#ifndef ZKR_SESSION_CREDIBLE_H
#define ZKR_SESSION_CREDIBLE_H

#include "session/zk.h"

/*
 * What @answer says of what was done, to a request of @kind in session @session_id, may be true; false: nothing is known
 * by it. Whether a node's path is the one that was asked for, only who asked knows.
 */
bool zkr__credible(enum zkr__op_kind kind,
                   const struct zkr__answer *answer,
                   int64_t session_id);

#endif
