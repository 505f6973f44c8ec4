/* SPDX-License-Identifier: Apache-2.0 */
/* zkr lock --any: one of several locks, the first that is free. */
#ifndef ZKR_CLI_ANY_H
#define ZKR_CLI_ANY_H

#include "locks.h"

/**
 * Tries the paths in turn. If all are held, waits in all queues for the first grant. held.path is then that of the lock.
 * Returns like obtain_held().
 */
int any_obtain(struct locks *l);

#endif
