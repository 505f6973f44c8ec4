/* SPDX-License-Identifier: Apache-2.0 */
/* Showing something again at each change of it. */
#ifndef ZKR_CLI_WATCH_H
#define ZKR_CLI_WATCH_H

#include <stdint.h>

#include "signals.h"

/** ZKR_OK: it has changed since it was last read. ZKR_ETIMEDOUT: not yet. */
typedef int (*watch_wait_fn)(void *ctx, int64_t timeout_ms);

/** Reads and shows it. Returns 0 or an exit code, reported. */
typedef int (*watch_show_fn)(void *ctx);

struct watch {
    watch_wait_fn wait;
    watch_show_fn show;
    watch_show_fn
        tick; /* shows it again each second, though it has not changed; NULL: nothing does */
};

/** Until a signal, or what show() or tick() returns, ends it. Returns an exit code, reported. */
int watch_run(const struct signals *s, const struct watch *how, void *ctx);

#endif
