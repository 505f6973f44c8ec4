/* SPDX-License-Identifier: Apache-2.0 */
#include "use.h"

#include <inttypes.h>

#include "cli.h"
#include "clock.h"
#include "command.h"
#include "held.h"
#include "idle.h"
#include "lease.h"
#include "news.h"
#include "notify.h"
#include "signals.h"
#include "stats.h"

/*
 * For --min-hold: keeps the lock until @until. Ends early at a loss, which it reports, at a revocation, or at a signal
 * that ends zkr.
 */
static void linger(struct held *h, int64_t until)
{
    bool over = h->lost || h->ended || h->failed;
    while (!over && clock_left_ms(until) > 0) {
        if (held_step(h) != LEASE_SURE) {
            (void)held_say_lost(
                h, "the command had ended, but the time of --min-hold had not");
            return;
        }
        (void)held_sleep(h, -1, lesser(clock_left_ms(until), lease_arm(&h->lease)));
        over = signals_take_ending(&h->env->signals) != 0 ||
               news_take_revocation(&h->news);
    }
}

int use_held(struct held *h)
{
    if (h->env->globals.verbose) {
        cli_note("got the %s %s after %.3f s: node=%s token=%" PRId64
                 " session=0x%" PRIx64,
                 h->what, h->path, (double)(h->granted - h->started) / 1000,
                 h->grant.node, h->grant.token, (uint64_t)h->grant.session_id);
    }
    notify_send("READY=1\nSTATUS=holding the %s %.1000s", h->what, h->path);
    stats_wake();
    lease_begin(&h->lease);
    int status = h->env->globals.command ? command_run(h) : idle_run(h);
    linger(h, h->granted + h->min_hold_ms);
    lease_end(&h->lease);
    h->last = h->once || h->ended || h->failed;
    notify_alive_mute(h->last && h->lost);
    h->until = NEVER;
    notify_send("%sSTATUS=releasing the %s %.1000s", h->last ? "STOPPING=1\n" : "",
                h->what, h->path);
    return status;
}
