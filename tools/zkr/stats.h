/* SPDX-License-Identifier: Apache-2.0 */
/* --stats: a file with the client's metrics, written anew from time to time by a thread of its own. */
#ifndef ZKR_CLI_STATS_H
#define ZKR_CLI_STATS_H

#include <pthread.h>
#include <stdbool.h>

#include <zkr/client.h>

struct stats {
    zkr_client *client; /* borrowed */
    const char *file;   /* NULL: none is wanted */
    const char *path;   /* of the lock */
    int news;           /* eventfd: look up */
    bool started;
    bool failed; /* and that was said */
    pthread_t thread;
    _Atomic(bool) over;
};

/** Writes it for the first time. Set client, file and path before. Returns 0 or an exit code, reported. */
int stats_begin(struct stats *s);

/** Something has changed that is worth a look: it is written soon. */
void stats_news(struct stats *s);

/** For the last time. May be called again, and when it was not begun; the client is still there. */
void stats_end(struct stats *s);

#endif
