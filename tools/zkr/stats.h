/* SPDX-License-Identifier: Apache-2.0 */
/* --stats: a file with the client's metrics, which a thread rewrites from time to time. */
#ifndef ZKR_CLI_STATS_H
#define ZKR_CLI_STATS_H

#include <zkr/client.h>

/** Writes @file for the first time. @path: of the lock. All are borrowed. Returns 0 or an exit code. */
int stats_begin(zkr_client *client, const char *file, const char *path);
/** Has the file rewritten soon, after a change. */
void stats_wake(void);
/** Writes the file for the last time, before the client is closed. A no-op without stats_begin(), or after a first call. */
void stats_end(void);

#endif
