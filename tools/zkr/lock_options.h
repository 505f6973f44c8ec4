/* SPDX-License-Identifier: Apache-2.0 */
/* What "zkr lock" is asked to do. */
#ifndef ZKR_CLI_LOCK_OPTIONS_H
#define ZKR_CLI_LOCK_OPTIONS_H

#include <stdint.h>

#include "command.h"
#include "options.h"

enum lock_kind {
    LOCK_PLAIN,
    LOCK_READ,
    LOCK_WRITE,   /* the exclusive side of a read-write lock */
    LOCK_PERMITS, /* of a semaphore */
    LOCK_SEVERAL  /* all of several paths */
};

struct lock_options {
    struct globals *globals;
    enum lock_kind kind;
    const char *path;
    const char **paths; /* it and those of --also; NULL: there are none */
    size_t path_count;
    int64_t permits, permits_max; /* 0: not asked for */
    bool shared, rw;              /* -s, --rw */
    bool ignores_wishes;          /* --on-revoke ignore */
    bool on_revoke_given;
    struct command command;
    const char *id;
    const char *stats; /* the file; NULL = none */
    int64_t wait_ms;   /* 0: no wait; or ZKR_FOREVER */
    int64_t conflict;
    int64_t kill_after_ms; /* negative: auto */
    int64_t delay_ms;      /* between a grant that was waited for and the start */
    int64_t min_hold_ms;   /* from the grant to the release, if nothing else ends it */
    int kill_signal;
};

/**
 * From the subcommand's name on. *@o keeps pointers into it, so it must not move. Returns OPTIONS_GO_ON or an
 * exit code, reported.
 */
int lock_options_take(struct lock_options *o,
                      struct globals *globals,
                      int argc,
                      char **argv);

/** Whatever lock_options_take() returned. */
void lock_options_end(struct lock_options *o);

#endif
