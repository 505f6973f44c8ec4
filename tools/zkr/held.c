/* SPDX-License-Identifier: Apache-2.0 */
#include "held.h"

#include <poll.h>
#include <sys/eventfd.h>

#include "cli.h"
#include "client.h"
#include "clock.h"
#include "grant.h"
#include "lease.h"
#include "loss.h"
#include "news.h"
#include "notify.h"
#include "say.h"
#include "signals.h"

/* --- begin and end --- */

int held_begin(struct held *h, const char *owner)
{
    bool named = grant_begin(&h->grant, h->path);
    if (!news_begin(&h->news) || !named) {
        return cli_fail_limits();
    }
    if (!say_begin()) {
        return cli_fail_thread();
    }
    int status = client_open(h->env, owner, h->nearby, !h->no_guardian);
    h->grant.client = h->news.client = h->env->client;
    h->lease.grant = &h->grant;
    return status;
}

static int connect_by(void *ctx)
{
    const struct held *h = ctx;
    return client_wait(h->env,
                       lesser(clock_left_ms(h->until), h->env->globals.connect_ms));
}

int held_connect(struct held *h)
{
    int status = client_work(h->env, NEVER, connect_by, h);
    if (status == CLI_SERVER) {
        h->until = CLIENT_NOW;
    }
    return status;
}

/*
 * Returns the deadline for the exit of zkr. Without a command, the exit reports the loss to readers, so it must be
 * before the end of the lease.
 */
static int64_t end_by(struct held *h)
{
    enum { LOST_MS = 1000 }; /* the session is about to end in any case */
    if (!h->lost) {
        return client_grace(h->until);
    }
    bool reports =
        !h->env->globals.command && news_loss(&h->news).reason != ZKR_LOST_NODE;
    return reports ? h->lease.kill_at : clock_now_ms() + LOST_MS;
}

int held_end(struct held *h, int status)
{
    status = client_end(h->env, end_by(h), h->lost, status);
    news_end(&h->news);
    grant_end(&h->grant);
    return status;
}

struct option_fault held_warning_fault(const struct held *h)
{
    const struct globals *g = &h->env->globals;
    bool any = h->warn_signal != 0 || h->lease.warn_ms != 0;
    bool all = h->warn_signal != 0 && h->lease.warn_ms > 0;
    if (h->warn_signal == SIGKILL || h->warn_signal == SIGSTOP) {
        return (struct option_fault){
            true, "--warn-signal needs a signal that COMMAND can handle, such as USR1"};
    }
    return (struct option_fault){any && !(all && g->command),
                                 "give --warn-signal and --warn-before together, with "
                                 "more than 0 seconds and a COMMAND"};
}

/* --- a loss --- */

void held_on_latch(zkr_leader_latch *latch, const zkr_lost *lost, void *held)
{
    struct held *h = held;
    (void)latch;
    if (lost->fencing_token == h->grant.token) { /* not a loss of an earlier term */
        news_lose(&h->news, lost);
    }
}

int held_refuse(struct held *h, int rc)
{
    h->refusal = rc;
    return HELD_REFUSED;
}

void held_reset(struct held *h)
{
    news_reset(&h->news);
    lease_reset(&h->lease);
}

enum lease_phase held_step(struct held *h)
{
    if (news_loss(&h->news).reason != 0) {
        lease_lose(&h->lease);
    }
    return lease_step(&h->lease);
}

int held_say_lost(struct held *h, const char *rest)
{
    struct loss loss = news_loss(&h->news);
    bool known = loss.reason != 0;
    const struct loss *l = known ? &loss : &h->lease.doubt;
    h->lost = true;
    return cli_fail(CLI_LOST, "the %s %.1000s was %s: %s; %s; %s", h->what, h->path,
                    known ? "lost" : "in doubt", l->text, rest,
                    loss_remedy(l, h->revocable));
}

/* --- sleep --- */

bool held_sleep(const struct held *h, int other, int64_t ms)
{
    struct pollfd fds[] = {{.fd = h->env->signals.fd, .events = POLLIN},
                           {.fd = h->news.fd, .events = POLLIN},
                           {.fd = other, .events = POLLIN}};
    eventfd_t count;
    (void)poll(fds, sizeof(fds) / sizeof(fds[0]), (int)ms);
    (void)eventfd_read(h->news.fd, &count);
    return fds[2].revents != 0;
}

int held_pause(const struct held *h, int64_t ms)
{
    notify_alive();
    (void)held_sleep(h, -1, notify_alive_rest(ms));
    int signo = signals_take_ending(&h->env->signals);
    return signo ? cli_exit_signal(signo) : 0;
}
