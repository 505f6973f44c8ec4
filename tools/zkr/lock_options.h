/* SPDX-License-Identifier: Apache-2.0 */
/* The options of zkr lock and zkr once. */
#ifndef ZKR_CLI_LOCK_OPTIONS_H
#define ZKR_CLI_LOCK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "held.h"

struct lock_options {
    /* PATH and those of --also, all of them or none; or those of --any. */
    const char **paths;
    size_t path_count;
    bool any;
    int64_t permits, permits_max; /* 0: no --permits */
    bool shared, rw;              /* -s, --rw */
    const char *on_revoke;        /* "term" or "ignore"; NULL: not given */
    const char *id;
    const char *stats; /* a file; NULL: no --stats */
    int64_t wait_ms;   /* 0: no wait; or ZKR_FOREVER */
    int64_t max_queue; /* 0: no --max-queue */
    int64_t every_ms;  /* of zkr once; else 0 */
    int64_t conflict;  /* the exit code */
    bool quiet;        /* no line when others hold it */
};

/** Sets the defaults. False: out of memory. Call lock_options_end() in any case. */
bool lock_options_begin(struct lock_options *o, const struct globals *g);
void lock_options_end(struct lock_options *o);
/** Takes the command line, and the settings. What each hold has goes to @h. Returns GO_ON or an exit code, reported. */
int lock_options_take(struct lock_options *o, struct held *h);

#endif
