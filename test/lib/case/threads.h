/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_THREADS_H
#define ZKT_THREADS_H

#include <stdint.h>

/* Information from the system about the threads of this process. */

/** A set of signals, with bit N - 1 for signal N, as in /proc. */
#define ZKT_SIGNAL(number) (UINT64_C(1) << ((number)-1))

/**
 * Returns how many threads have this name. Sets @blocked to the signals that all of them block, and @partly to the
 * signals that some of them block.
 */
int zkt_threads_named(const char *name, uint64_t *blocked, uint64_t *partly);

#endif
