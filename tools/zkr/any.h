/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock --any: takes the first of several locks that becomes free. */
#ifndef ZKR_CLI_ANY_H
#define ZKR_CLI_ANY_H

#include "locks.h"

/**
 * Tries each path once. If all locks are held, waits in all queues for the first grant. Sets held.path to the path of
 * the granted lock. Returns the same as obtain_held().
 */
int any_obtain(struct locks *l);

#endif
