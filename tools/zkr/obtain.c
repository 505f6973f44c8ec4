/* SPDX-License-Identifier: Apache-2.0 */
#include "obtain.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "client.h"
#include "clock.h"
#include "contender.h"
#include "grant.h"
#include "held.h"
#include "interrupt.h"
#include "lease.h"
#include "loss.h"
#include "news.h"
#include "notify.h"

void obtain_say_waiting(const struct held *h)
{
    notify_send("STATUS=waiting for the %s %.1000s", h->what, h->path);
}

/*
 * Warns if answers take more than a tenth of the session timeout. The library can keep a hold if they take up to an
 * eighth, but zkr also needs time to kill the command.
 */
void obtain_say_slow(struct held *h)
{
    int64_t slow = loss_slow_answer_ms(h->env->client);
    int64_t session = grant_session_ms(&h->grant);
    if (!h->said_slow && slow > session / 10) {
        h->said_slow = true;
        cli_note("the servers answer too slowly for this session timeout: a write took "
                 "%.3f s, and a tenth of the timeout is %.3f s; use a longer session "
                 "timeout (-t)",
                 (double)slow / 1000, (double)session / 10000);
    }
}

/* --- the wait for the grant --- */

/* The last report of -v about the wait. */
struct said {
    int64_t ahead;         /* number of contenders ahead */
    int64_t token;         /* token of the nearest contender; 0 = not known */
    int64_t held_since_ms; /* when the nearest contender's hold began; 0 = not known */
};

/* Writes ", held by db1/4711 for 12s", or ", behind db1/4711". */
static void describe(char *buf, size_t size, const zkr_contender *nearest)
{
    char age[40] = "";
    if (nearest->holds && (nearest->held_since_ms > 0 || nearest->created_ms > 0)) {
        (void)snprintf(age, sizeof(age), " for ");
        contender_held_for(age + strlen(age), sizeof(age) - strlen(age), nearest);
    }
    (void)snprintf(buf, size, ", %s %.200s%s", nearest->holds ? "held by" : "behind",
                   contender_owner(nearest), age);
}

/* With -v: reports how many contenders are ahead, and the nearest of them, if that has changed. */
static void say_place(const struct held *h, struct said *said)
{
    int64_t ahead;
    char text[300] = "";
    zkr_contenders *list = NULL;
    if (zkr_ticket_position(h->grant.ticket, &ahead) != ZKR_OK || ahead == 0) {
        return;
    }
    (void)zkr_ticket_ahead(h->grant.ticket, &list);
    const zkr_contender *nearest = zkr_contenders_get(list, 0);
    struct said now = {.ahead = ahead};
    if (nearest) {
        now.token = nearest->fencing_token;
        now.held_since_ms = nearest->held_since_ms;
        describe(text, sizeof(text), nearest);
    }
    if (now.ahead != said->ahead || now.token != said->token ||
        now.held_since_ms != said->held_since_ms) {
        *said = now;
        cli_note("waiting for %.1000s: %lld ahead when last seen%s", h->path,
                 (long long)ahead, text);
    }
    zkr_contenders_free(list);
}

static int await_grant(struct held *h)
{
    enum { LOOK_MS = 500 };
    struct said said = {0};
    bool verbose = h->grant.ticket && h->env->globals.log_level > 0;
    for (;;) {
        int rc =
            grant_await(&h->grant, verbose ? LOOK_MS : grant_session_ms(&h->grant));
        if (rc != ZKR_ETIMEDOUT) {
            return rc;
        }
        if (!grant_may_come(&h->grant)) {
            return grant_await(&h->grant, 0); /* the wait has just ended */
        }
        obtain_say_slow(h);
        if (verbose) {
            say_place(h, &said);
        }
    }
}

/* --- from the grant to the start --- */

/* Returns whether another client was ahead of this one, now or before an earlier grant that was lost. */
static bool was_contended(const struct held *h)
{
    zkr_stats stats = {.contended = 0};
    (void)zkr_client_stats(h->env->client, &stats, sizeof(stats));
    return stats.contended > 0;
}

/*
 * Returns whether the lease is long enough to start a command. Even a slow answer must arrive before the lock is in
 * doubt.
 */
static bool is_enough(const struct held *h, int64_t valid, int64_t first_end)
{
    int64_t slow = loss_slow_answer_ms(h->env->client);
    /* If answers are slow, the lease of the grant may end before it is renewed. */
    bool renewed =
        clock_now_ms() + valid > first_end + grant_session_ms(&h->grant) / 16;
    bool ample = lease_is_ample(&h->lease, valid);
    return slow == 0 ? ample
                     : renewed && (ample || valid >= lease_doubt_ms(&h->lease) + slow);
}

static int await_start(struct held *h)
{
    enum { PROBE_MS = 2 };
    int64_t from = h->granted + (was_contended(h) ? h->delay_ms : 0);
    int64_t until = h->until == NEVER ? NEVER : h->until + CLIENT_GRACE_MS;
    int64_t first_end = clock_now_ms() + grant_valid_ms(&h->grant);
    for (;;) {
        int64_t valid = grant_valid_ms(&h->grant);
        if (news_loss(&h->news).reason != 0 || valid <= 0 || h->news.unfit) {
            obtain_say_slow(h);
            return HELD_AGAIN;
        }
        if (news_take_revocation(&h->news)) {
            return held_refuse(h, ZKR_OK);
        }
        int delay = clock_left_ms(from);
        if (delay == 0 && is_enough(h, valid, first_end)) {
            return HELD_START;
        }
        if (delay == 0 && clock_left_ms(until) == 0) {
            obtain_say_slow(h);
            return held_refuse(h, ZKR_ENOANSWER);
        }
        int status = held_pause(h, delay > 0 ? lesser(delay, valid) : PROBE_MS);
        if (status != 0) {
            return status;
        }
    }
}

static void cancel(void *held)
{
    grant_cancel(&((const struct held *)held)->grant);
}

int obtain_held(struct held *h, int64_t late)
{
    struct interrupt interrupt;
    if (!interrupt_begin(&interrupt, &h->env->signals, late, cancel, h)) {
        return cli_fail_thread();
    }
    int rc = await_grant(h);
    int signo = interrupt_end(&interrupt);
    if (signo || rc != ZKR_OK) {
        return signo ? cli_exit_signal(signo) : held_refuse(h, rc);
    }
    h->granted = clock_now_ms();
    if (h->grant.latch) {
        held_reset(h); /* this clears the last term */
    }
    return grant_read(&h->grant) ? await_start(h) : HELD_AGAIN;
}
