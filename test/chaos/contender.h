/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_CONTENDER_H
#define ZKC_CONTENDER_H

/*
 * A process that holds a mutex for as long as it may, and then waits for it again. The longer the session, the sooner
 * a clock that is off shows: what the lease leaves unused is a matter of the tick.
 */

enum { ZKC_CLOCKS_TICK_MS = 500, ZKC_CLOCKS_SESSION_MS = 20000 };
#define ZKC_CLOCKS_PATH "/clocks"

/** The process: DIR SERVERS PATH PROCESS MARGIN_PPM. Ends by a signal only, unless it cannot start. */
int zkc_contender_run(char **argv);

#endif
