/* SPDX-License-Identifier: Apache-2.0 */
/* --watch and --listen: shows a lock again at each change. */
#ifndef ZKR_CLI_WATCH_H
#define ZKR_CLI_WATCH_H

#include <stdint.h>

#include "client.h"
#include "env.h"

/** How to watch and show a lock. */
struct watch {
    /*
     * Waits for a change. Returns ZKR_OK if the lock has changed since it was read, or ZKR_ETIMEDOUT if not. NULL: the
     * lock is shown once.
     */
    int (*wait)(void *ctx, int64_t timeout_ms);
    client_work_fn show; /* reads the lock and shows it */
    client_work_fn tick; /* shows the lock each second; NULL: never */
};

/** Shows the lock at each change, until a signal, or until show() or tick() fails. Returns an exit code. */
int watch_run(const struct env *env, const struct watch *how, void *ctx);

#endif
