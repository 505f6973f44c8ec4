/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing a client. */
#ifndef ZKR_SESSION_OPEN_H
#define ZKR_SESSION_OPEN_H

#include "nearby/door.h"
#include "session/client.h"

/* Parts that a test can replace. */
struct zkr__env {
    const struct zkr__door *door;          /* NULL = libzookeeper */
    const struct zkr__nearby_door *nearby; /* NULL = sockets */
    /* The test itself calls zkr__service_run() and zkr__dispatch_run_one(). */
    bool no_threads;
};

/* Like zkr_client_open(). @env may be NULL. */
int zkr__client_open(zkr_client **out,
                     const char *servers,
                     const zkr_client_options *options,
                     const struct zkr__env *env);

#endif
