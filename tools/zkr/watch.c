/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <zkr/error.h>

#include "cli.h"

/* Sleeps on the watch; now and then looks up for signals, which costs the servers nothing. */
static int
wait_or_stop(const struct signals *s, watch_wait_fn wait, void *ctx, int *status)
{
    enum { LOOK_UP_MS = 100 };
    int rc = ZKR_ETIMEDOUT;
    while (rc == ZKR_ETIMEDOUT) {
        int signo;
        bool timer;
        while (signals_next(s, &signo, &timer)) {
            if (signals_is_forwarded(signo)) {
                *status = cli_exit_signal(signo);
                return ZKR_ECANCELED;
            }
        }
        rc = wait(ctx, LOOK_UP_MS);
    }
    return rc;
}

int watch_run(const struct signals *s,
              watch_wait_fn wait,
              watch_show_fn show,
              void *ctx)
{
    int status = 0;
    while (status == 0) {
        int rc = wait_or_stop(s, wait, ctx, &status);
        if (rc == ZKR_OK || zkr_err_retriable(rc)) {
            status = show(ctx);
        } else if (status == 0) {
            status = cli_fail_rc(rc);
        }
    }
    return status;
}
