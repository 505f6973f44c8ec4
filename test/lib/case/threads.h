/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_THREADS_H
#define ZKT_THREADS_H

#include <stdint.h>

/* What the system tells about the threads of this process. */

/** A set of signals, bit N - 1 for signal N, as /proc writes it. */
#define ZKT_SIGNAL(number) (UINT64_C(1) << ((number)-1))

/** How many threads have this name. @blocked gets the signals that all of them block, @partly those of some. */
int zkt_threads_named(const char *name, uint64_t *blocked, uint64_t *partly);

#endif
