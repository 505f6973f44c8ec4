/* SPDX-License-Identifier: Apache-2.0 */
#include "lease.h"

#include <signal.h>

#include "cli.h"
#include "clock.h"
#include "grant.h"
#include "loss.h"
#include "notify.h"

/* --- time limits --- */

bool lease_is_ample(const struct lease *l, int64_t valid)
{
    return valid >= grant_session_ms(l->grant) / 3;
}

/* The time for SIGKILL to take effect, and for delays of zkr. */
static int64_t margin(const struct lease *l)
{
    enum { LEAST_MS = 20 };
    return greater(grant_session_ms(l->grant) / 30, LEAST_MS);
}

int64_t lease_patience_ms(const struct lease *l)
{
    return l->kill_after_ms < 0 ? grant_session_ms(l->grant) / 12 : l->kill_after_ms;
}

/*
 * Returns the time from the kill signal to SIGKILL when the lock is in doubt. Before the lease has settled, it is
 * short, and so is this time.
 */
static int64_t kill_after(const struct lease *l)
{
    return lesser(lease_patience_ms(l),
                  grant_session_ms(l->grant) / (l->settled ? 3 : 10));
}

int64_t lease_doubt_ms(const struct lease *l)
{
    return kill_after(l) + margin(l);
}

/*
 * Returns the longest time by which a warning can precede doubt. A lease that is renewed in time is longer than half a
 * session timeout.
 */
static int64_t most_warn_ms(const struct lease *l)
{
    int64_t session = grant_session_ms(l->grant), patience = lease_patience_ms(l);
    return session * 2 / 5 - lesser(patience, session / 3) - margin(l);
}

/*
 * Returns the length of the lease, in milliseconds, at which the warning is due. Before the lease has settled, it may
 * be shorter although the next answer is on its way, so the warning then waits until a sixth of the session timeout is
 * left.
 */
static int64_t warn_at(const struct lease *l)
{
    int64_t at = lease_doubt_ms(l) + lesser(l->warn_ms, most_warn_ms(l));
    return l->settled ? at : lesser(at, grant_session_ms(l->grant) / 6);
}

static void check_warn_before(const struct lease *l)
{
    if (l->warn_ms > most_warn_ms(l)) {
        cli_note("--warn-before is reduced to %.3f s, because of the session timeout "
                 "and --kill-after; use a longer session timeout (-t)",
                 (double)most_warn_ms(l) / 1000);
    }
}

static void check_kill_after(const struct lease *l)
{
    int64_t most = grant_session_ms(l->grant) / 3;
    if (l->kill_after_ms > most) {
        cli_note("--kill-after is reduced to %.3f s, a third of the session timeout, "
                 "when the lock is in doubt; use a longer session timeout (-t)",
                 (double)most / 1000);
    }
}

/* --- phases --- */

void lease_begin(struct lease *l)
{
    struct sigevent wake = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
    lease_reset(l);
    l->slept = l->settled = l->warned = l->warns = false;
    l->wake_at = 0;
    l->stepped_at = l->bound = clock_now_ms();
    l->has_timer = timer_create(CLOCK_BOOTTIME, &wake, &l->timer) == 0;
    check_kill_after(l);
    check_warn_before(l);
}

void lease_end(struct lease *l)
{
    if (l->has_timer) {
        (void)timer_delete(l->timer);
    }
}

void lease_reset(struct lease *l)
{
    l->phase = LEASE_SURE;
}

/* The lock is no longer surely held, so zkr stops the keep-alive messages. */
static void leave_sure(struct lease *l, enum lease_phase phase)
{
    if (l->phase == LEASE_SURE) {
        l->doubt = loss_doubted(l->grant->client, l->slept);
    }
    notify_alive_mute(true);
    l->phase = phase;
}

void lease_lose(struct lease *l)
{
    leave_sure(l, LEASE_OVER);
}

static void enter_doubt(struct lease *l, int64_t valid)
{
    leave_sure(l, LEASE_DOUBT);
    l->kill_at = clock_now_ms() + lesser(kill_after(l), greater(valid - margin(l), 0));
}

void lease_doubt(struct lease *l)
{
    l->slept = true;
    if (l->phase == LEASE_SURE) {
        enter_doubt(l, grant_valid_ms(l->grant));
    }
}

enum lease_phase lease_step(struct lease *l)
{
    if (l->phase == LEASE_OVER) {
        return l->phase;
    }
    l->stepped_at = clock_now_ms();
    if (l->phase == LEASE_SURE) {
        l->slept = l->wake_at != 0 && l->stepped_at >= l->wake_at;
    }
    int64_t valid = grant_valid_ms(l->grant);
    l->settled = l->settled || valid >= grant_session_ms(l->grant) / 2;
    if (valid <= margin(l) ||
        (l->phase == LEASE_DOUBT && clock_now_ms() >= l->kill_at)) {
        leave_sure(l, LEASE_OVER);
    } else if (l->phase == LEASE_SURE && valid <= lease_doubt_ms(l)) {
        enter_doubt(l, valid);
    } else if (l->warn_ms > 0 && !l->warned && valid <= warn_at(l)) {
        l->warned = l->warns = true;
    } else if (l->phase == LEASE_SURE && lease_is_ample(l, valid)) {
        notify_alive();
    }
    return l->phase;
}

bool lease_take_warning(struct lease *l)
{
    bool now = l->warns && l->phase == LEASE_SURE;
    l->warns = false;
    return now;
}

/* --- the time between two steps --- */

static void set_timer(struct lease *l, int64_t ms)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(ms / 1000),
                     .tv_nsec = (long)(ms % 1000) * 1000000}};
    /*
     * The time counts from the last step, which was before @ms was computed, because zkr may have been stopped since.
     */
    l->wake_at = ms > 0 ? l->stepped_at + ms : 0;
    if (l->has_timer) {
        (void)timer_settime(l->timer, 0, &when, NULL);
    }
}

int64_t lease_arm(struct lease *l)
{
    enum { BUSY_MS = 50 };
    int64_t valid = l->phase == LEASE_OVER ? 0 : grant_valid_ms(l->grant);
    if (valid <= 0) {
        set_timer(l, 0);
        l->bound = l->phase == LEASE_OVER ? 0 : l->bound;
        return l->phase == LEASE_OVER ? BUSY_MS : 0;
    }
    int64_t rest = l->phase == LEASE_DOUBT
                       ? lesser(l->kill_at - clock_now_ms(), valid - margin(l))
                       : valid - lease_doubt_ms(l);
    rest = greater(rest, 1);
    l->bound = clock_now_ms() + greater(valid - margin(l) / 2, 1);
    /* The timer expires after the sleep ends, so it has an effect only while zkr is stopped. */
    int64_t later = l->phase == LEASE_DOUBT ? margin(l) / 2 : margin(l);
    set_timer(l, rest + later);
    if (l->phase == LEASE_SURE && l->warn_ms > 0 && !l->warned) {
        rest = greater(lesser(rest, valid - warn_at(l)), 1);
    }
    return l->phase == LEASE_SURE && lease_is_ample(l, valid) ? notify_alive_rest(rest)
                                                              : rest;
}
