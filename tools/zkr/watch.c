/* SPDX-License-Identifier: Apache-2.0 */

/* Neither the wait nor tick() puts load on the servers. */
#include "watch.h"

#include "cli.h"
#include "client.h"
#include "clock.h"
#include "signals.h"

int watch_run(const struct env *env, const struct watch *how, void *ctx)
{
    enum { CHECK_MS = 100, TICK_MS = 1000 };
    int status = client_work(env, NEVER, how->show, ctx);
    int64_t tick_at = clock_now_ms() + TICK_MS;
    while (status == 0 && how->wait) {
        int rc = how->wait(ctx, CHECK_MS), signo = signals_take_ending(&env->signals);
        if (signo) {
            return cli_exit_signal(signo);
        }
        client_work_fn draw = how->show;
        if (rc == ZKR_ETIMEDOUT) {
            draw = clock_left_ms(tick_at) == 0 ? how->tick : NULL;
        } else if (rc != ZKR_OK && !zkr_err_retriable(rc)) {
            return cli_fail_rc(rc);
        }
        if (draw) { /* this blocks if the reader stalls */
            status = client_work(env, NEVER, draw, ctx);
            tick_at = clock_now_ms() + TICK_MS;
        }
    }
    return status;
}
