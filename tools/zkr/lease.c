/* SPDX-License-Identifier: Apache-2.0 */
#include "lease.h"

#include <signal.h>

#include "cli.h"

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Read each time: a server with a smaller limit can shorten the session. */
static int64_t session_ms(const struct lease *l)
{
    return zkr_client_session_timeout_ms(l->client);
}

/* Time for SIGKILL to take effect, and for zkr to be late. */
static int64_t margin(const struct lease *l)
{
    enum { LEAST_MS = 20 };
    return greater(session_ms(l) / 30, LEAST_MS);
}

int64_t lease_probe_pause(int64_t requested_ms)
{
    return requested_ms / 15;
}

int64_t lease_kill_after_most(const struct lease *l)
{
    return session_ms(l) / 3;
}

/* Time between kill signal and SIGKILL. After a long wait there is little lease at first. */
static int64_t kill_after(const struct lease *l)
{
    int64_t most = l->settled ? lease_kill_after_most(l) : session_ms(l) / 10;
    return l->wanted_ms < 0 ? session_ms(l) / 12 : lesser(l->wanted_ms, most);
}

int64_t lease_patience(const struct lease *l)
{
    return l->wanted_ms < 0 ? session_ms(l) / 12 : l->wanted_ms;
}

void lease_begin(struct lease *l)
{
    struct sigevent wake = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
    l->phase = LEASE_SURE;
    l->slept = l->settled = false;
    l->wake_at = 0;
    l->has_timer = timer_create(CLOCK_BOOTTIME, &wake, &l->timer) == 0;
}

bool lease_is_ample(const struct lease *l, int64_t valid)
{
    return valid >= session_ms(l) / 3;
}

/* The lock is not surely held any more. */
static void leave_sure(struct lease *l, enum lease_phase phase)
{
    bool was_sure = l->phase == LEASE_SURE;
    l->phase = phase;
    if (was_sure && l->on_doubt) {
        l->on_doubt(l->on_doubt_ctx, l->slept);
    }
}

static void enter_doubt(struct lease *l, int64_t valid)
{
    leave_sure(l, LEASE_DOUBT);
    l->kill_at = cli_now_ms() + lesser(kill_after(l), greater(valid - margin(l), 0));
}

enum lease_phase lease_step(struct lease *l)
{
    if (l->phase == LEASE_OVER) {
        return l->phase;
    }
    if (l->phase == LEASE_SURE) {
        l->slept = l->wake_at != 0 && cli_now_ms() >= l->wake_at;
    }
    int64_t valid = l->valid_for_ms(l->ctx);
    l->settled = l->settled || valid >= session_ms(l) / 2;
    if (valid <= margin(l) || (l->phase == LEASE_DOUBT && cli_now_ms() >= l->kill_at)) {
        leave_sure(l, LEASE_OVER);
    } else if (l->phase == LEASE_SURE && valid <= kill_after(l) + margin(l)) {
        enter_doubt(l, valid);
    } else if (l->phase == LEASE_SURE && lease_is_ample(l, valid)) {
        notify_alive(l->notify);
    }
    return l->phase;
}

void lease_doubt(struct lease *l)
{
    l->slept = true;
    if (l->phase == LEASE_SURE) {
        enter_doubt(l, l->valid_for_ms(l->ctx));
    }
}

void lease_lost(struct lease *l)
{
    leave_sure(l, LEASE_OVER);
}

static void set_timer(struct lease *l, int64_t ms)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(ms / 1000),
                     .tv_nsec = (long)(ms % 1000) * 1000000}};
    l->wake_at = ms > 0 ? cli_now_ms() + ms : 0;
    if (l->has_timer) {
        (void)timer_settime(l->timer, 0, &when, NULL);
    }
}

int64_t lease_rest(struct lease *l)
{
    enum { BUSY_MS = 50 };
    int64_t valid = l->phase == LEASE_OVER ? 0 : l->valid_for_ms(l->ctx);
    if (valid <= 0) {
        set_timer(l, 0);
        return l->phase == LEASE_OVER ? BUSY_MS : 0;
    }
    int64_t rest = l->phase == LEASE_DOUBT
                       ? lesser(l->kill_at - cli_now_ms(), valid - margin(l))
                       : valid - kill_after(l) - margin(l);
    rest = greater(rest, 1);
    /* The timer fires after the sleep has ended, so it only acts when zkr is stopped. */
    int64_t later = l->phase == LEASE_DOUBT ? margin(l) / 2 : margin(l);
    set_timer(l, rest + later);
    return l->phase == LEASE_SURE && lease_is_ample(l, valid)
               ? notify_rest(l->notify, rest)
               : rest;
}

void lease_end(struct lease *l)
{
    if (l->has_timer) {
        (void)timer_delete(l->timer);
        l->has_timer = false;
    }
}
