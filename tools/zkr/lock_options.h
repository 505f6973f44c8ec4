/* SPDX-License-Identifier: Apache-2.0 */
/* The options of zkr lock and zkr once. */
#ifndef ZKR_CLI_LOCK_OPTIONS_H
#define ZKR_CLI_LOCK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "held.h"

struct lock_options {
    /* Either PATH and the paths of --also, all of which are needed, or the paths of --any. */
    const char **paths;
    size_t path_count;
    bool any;
    int64_t permits, permits_max; /* 0: no --permits */
    bool shared, rw;              /* -s, --rw */
    const char *on_revoke;        /* "term" or "ignore"; NULL: not given */
    const char *id;
    const char *stats; /* a file; NULL: no --stats */
    int64_t wait_ms;   /* 0: do not wait; may be ZKR_FOREVER */
    int64_t max_queue; /* 0: no --max-queue */
    int64_t every_ms;  /* the period of zkr once, else 0 */
    int64_t conflict;  /* exit code if the lock was not obtained */
    bool quiet;        /* no message if others hold the lock */
};

/** Sets the defaults. Returns false if memory runs out. lock_options_end() must be called in any case. */
bool lock_options_begin(struct lock_options *o, const struct globals *g);
void lock_options_end(struct lock_options *o);
/**
 * Parses the command line and the settings. Stores the options of the hold in @h. Returns GO_ON or a reported exit
 * code.
 */
int lock_options_take(struct lock_options *o, struct held *h);

#endif
