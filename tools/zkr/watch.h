/* SPDX-License-Identifier: Apache-2.0 */
/* --watch and --listen: a lock is shown again at each change. */
#ifndef ZKR_CLI_WATCH_H
#define ZKR_CLI_WATCH_H

#include <stdint.h>

#include "client.h"
#include "env.h"

/** How to show a lock, and again at each change. */
struct watch {
    /* ZKR_OK: changed since it was read; ZKR_ETIMEDOUT: not yet. NULL: show it once. */
    int (*wait)(void *ctx, int64_t timeout_ms);
    client_work_fn show; /* reads the lock and shows it */
    client_work_fn tick; /* shows it again each second, unchanged; NULL: never */
};

/** Until a signal, or what show() or tick() returns, ends it. Returns an exit code. */
int watch_run(const struct env *env, const struct watch *how, void *ctx);

#endif
