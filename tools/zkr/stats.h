/* SPDX-License-Identifier: Apache-2.0 */
/* --stats: a file with the client's metrics, rewritten from time to time by a thread. */
#ifndef ZKR_CLI_STATS_H
#define ZKR_CLI_STATS_H

#include <pthread.h>
#include <stdbool.h>

#include <zkr/client.h>

struct stats {
    zkr_client *client; /* borrowed */
    const char *file;   /* NULL: no --stats */
    const char *path;   /* of the lock */
    int wake;           /* eventfd: write now */
    bool started;
    bool failed; /* and that was reported */
    pthread_t thread;
    _Atomic(bool) over;
};

/** Writes the file for the first time. Set client, file and path before. Returns 0 or an exit code, reported. */
int stats_begin(struct stats *s);

/** Has the file rewritten soon, after a change. */
void stats_wake(struct stats *s);

/** Writes the file for the last time, before the client is closed. May be called again, and without stats_begin(). */
void stats_end(struct stats *s);

#endif
