/* SPDX-License-Identifier: Apache-2.0 */
/* --stats: a file with the client's metrics. A thread rewrites it periodically. */
#ifndef ZKR_CLI_STATS_H
#define ZKR_CLI_STATS_H

#include <zkr/client.h>

/**
 * Writes @file for the first time, and starts the thread. @path is the path of the lock. Borrows all arguments. Returns
 * 0 or a reported exit code.
 */
int stats_begin(zkr_client *client, const char *file, const char *path);
/** Makes the thread rewrite the file now, after a change. */
void stats_wake(void);
/**
 * Ends the thread, and writes the file for the last time. Called before the client is closed. A no-op without
 * stats_begin(), or when called again.
 */
void stats_end(void);

#endif
