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

/** What asks the servers something. Returns a code of the library. */
typedef int (*connect_ask_fn)(void *ctx);

/**
 * Waits for the session, asks, and asks again when the connection breaks meanwhile. Returns a code of the library; @status: 0, or
 * an exit code, reported, when there is no session.
 */
int connect_try(zkr_client *c,
                const struct globals *g,
                connect_ask_fn ask,
                void *ctx,
                int *status);

/** What reads a list of contenders, of a lock or of an election. */
typedef int (*connect_read_fn)(void *object, zkr_contenders **out);

/** The same for a list. Returns 0 or an exit code, reported. */
int connect_read(zkr_client *c,
                 const struct globals *g,
                 connect_read_fn read,
                 void *object,
                 zkr_contenders **out);

#endif
