/* SPDX-License-Identifier: Apache-2.0 */
/* From the options to a session. */
#ifndef ZKR_CLI_CONNECT_H
#define ZKR_CLI_CONNECT_H

#include <zkr/client.h>
#include <zkr/contenders.h>

#include "options.h"

/** Opens a client, which connects in the background. Returns 0 or an exit code, reported. */
int connect_open(zkr_client **out, const struct globals *g, const char *owner);

/** Waits for the session, at most so long. Returns 0 or an exit code, reported. */
int connect_wait(zkr_client *c, const struct globals *g, int64_t ms);

/** What reads a list of contenders, of a lock or of an election. */
typedef int (*connect_read_fn)(void *object, zkr_contenders **out);

/**
 * Waits for the session, reads a list, and tries again when the connection breaks meanwhile. Returns 0 or an exit code,
 * reported.
 */
int connect_read(zkr_client *c,
                 const struct globals *g,
                 connect_read_fn read,
                 void *object,
                 zkr_contenders **out);

#endif
