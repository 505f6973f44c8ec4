/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_CONTENDER_H
#define ZKC_CONTENDER_H

/*
 * A process that holds a mutex for as long as the lease lasts, and then waits for it again. Sessions are long because
 * the deviation of a clock then shows sooner: the part of a session that the lease leaves unused depends on the tick.
 */

enum { ZKC_CLOCKS_TICK_MS = 500, ZKC_CLOCKS_SESSION_MS = 20000 };
#define ZKC_CLOCKS_PATH "/clocks"

/**
 * Run the process with the arguments DIR SERVERS PATH PROCESS MARGIN_PPM. Ends only by a signal, unless it cannot
 * start.
 */
int zkc_contender_run(char **argv);

#endif
