/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <zkr/error.h>

#include "cli.h"

/* One that tells us to stop, 0 = none; USR1 and USR2 do so, too. */
static int stop_signal(const struct signals *s)
{
    int signo;
    bool timer;
    while (signals_next(s, &signo, &timer)) {
        if (signals_is_forwarded(signo)) {
            return signo;
        }
    }
    return 0;
}

/*
 * Sleeps on the watch until a change; now and then looks up for signals, and each second ticks, neither of which costs
 * the servers anything. *status: what ends it besides.
 */
static int
wait_or_stop(const struct signals *s, const struct watch *how, void *ctx, int *status)
{
    enum { LOOK_UP_MS = 100, TICK_MS = 1000 };
    int64_t tick_at = how->tick ? cli_now_ms() + TICK_MS : CLI_NEVER;
    int rc = ZKR_ETIMEDOUT;
    while (rc == ZKR_ETIMEDOUT && *status == 0) {
        int signo = stop_signal(s);
        if (signo) {
            *status = cli_exit_signal(signo);
        } else if (how->tick && cli_until(tick_at) == 0) {
            tick_at = cli_now_ms() + TICK_MS;
            *status = how->tick(ctx);
        } else {
            rc = how->wait(ctx, LOOK_UP_MS);
        }
    }
    return rc;
}

int watch_run(const struct signals *s, const struct watch *how, void *ctx)
{
    int status = 0;
    while (status == 0) {
        int rc = wait_or_stop(s, how, ctx, &status);
        if (status == 0) {
            status = rc == ZKR_OK || zkr_err_retriable(rc) ? how->show(ctx)
                                                           : cli_fail_rc(rc);
        }
    }
    return status;
}
