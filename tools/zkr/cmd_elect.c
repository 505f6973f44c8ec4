/* SPDX-License-Identifier: Apache-2.0 */
/* zkr elect: runs a command while leading, shows the leader, or asks the leader to step down. */
#include <signal.h>
#include <stdio.h>

#include "ask.h"
#include "cli.h"
#include "clock.h"
#include "cmd.h"
#include "contender.h"
#include "health.h"
#include "held.h"
#include "news.h"
#include "obtain.h"
#include "options.h"
#include "settings.h"
#include "use.h"
#include "watch.h"
#include "yield.h"
#include "yield_ask.h"

static const char usage[] =
    "usage: zkr [OPTION]... elect [OPTION]... PATH COMMAND [ARGUMENT]...\n"
    "       zkr [OPTION]... elect [OPTION]... PATH -c 'SHELL TEXT'\n"
    "       zkr [OPTION]... elect -l [--json] PATH\n"
    "       zkr [OPTION]... elect --yield [--to ID] [-w SEC] PATH\n"
    "\n"
    "Runs COMMAND while this is the leader at PATH, and queues again when COMMAND or\n"
    "the leadership ends.\n"
    "\n"
    "  -i, --id ID            the id that others see\n"
    "      --once             lead for one term only\n"
    "  -c, --command TEXT     run TEXT in a shell\n"
    "      --health TEXT      run TEXT in a shell at intervals, and do not lead while\n"
    "                         it fails\n"
    "      --every SEC        time between these checks, and the limit for one check;\n"
    "                         default 5\n"
    "      --failures N       withdraw after this many failures in a row; default 3\n"
    "      --warn-signal SIG  signal for COMMAND before the kill signal, to save its\n"
    "                         work\n"
    "      --warn-before SEC  time from the warning to the kill signal\n"
    "      --no-guardian      if zkr is killed by SIGKILL, let another lead only when\n"
    "                         the session times out\n"
    "  -l, --listen           print the leader, now and at each change\n"
    "      --yield            ask the leader to end its command and step down,\n"
    "                         and wait until another candidate leads\n"
    "      --to ID            with --yield: let only this candidate lead next\n"
    "  -w, --wait SEC         with --yield: wait at most SEC seconds, then exit with\n"
    "                         status 1\n"
    "      --json             with -l: print lines of JSON; see zkr(1)\n"
    "      --verbose          report how long zkr waited, and what it holds\n";

enum { EVERY_MS = 5000, FAILURES = 3 };

struct elect {
    const char *id;
    bool listen, json;
    const char *to;
    int64_t wait_ms; /* for --yield, or ZKR_FOREVER */

    struct health_options health;
    struct held held;
    /* -l: token of the last printed leader; 0 = nobody, -1 = not printed yet. */
    int64_t shown;
};

static bool take_pause(void *to, char *value)
{
    return option_seconds(to, value) && *(int64_t *)to > 0;
}

static int take_arguments(struct elect *e)
{
    struct globals *g = &e->held.env->globals;
    struct option_range failures = {&e->health.failures, 1, INT32_MAX};
    const struct option_row rows[] = {
        {"id", 'i', option_text, &e->id, "a text"},
        {"command", 'c', option_text, &g->text, "a text"},
        {"listen", 'l', option_on, &e->listen, NULL},
        {"once", 0, option_on, &e->held.once, NULL},
        {"json", 0, option_on, &e->json, NULL},
        {"health", 0, option_text, &e->health.check, "a text"},
        {"every", 0, take_pause, &e->health.every_ms, "seconds, more than 0"},
        {"failures", 0, option_int, &failures, "a number of at least 1"},
        {"warn-signal", 0, option_signal, &e->held.warn_signal,
         "a signal such as USR1"},
        {"warn-before", 0, option_seconds, &e->held.lease.warn_ms, "seconds"},
        {"no-guardian", 0, option_on, &e->held.no_guardian, NULL},
        {"yield", 0, option_on, &g->alone, NULL},
        {"to", 0, option_text, &e->to, "the id of a candidate"},
        {"wait", 'w', option_seconds, &e->wait_ms, "seconds"},
        OPTIONS_END};
    int rc = options_command(g, usage, rows);
    e->held.path = g->path;
    struct health_options *health = &e->health;
    bool checks = health->every_ms > 0 || health->failures > 0;
    bool takes_part =
        g->command || g->text || e->held.once || e->id || health->check || checks;
    bool asking = e->to || e->wait_ms != ZKR_FOREVER;
    const struct option_fault faults[] = {
        held_warning_fault(&e->held),
        {e->listen && (takes_part || asking || g->alone || e->held.no_guardian),
         "-l can be combined only with --json"},
        {g->alone && (takes_part || e->json),
         "--yield can be combined only with --to and -w"},
        {asking && !g->alone, "--to and -w require --yield"},
        {!e->listen && !g->alone && !g->command, "COMMAND is missing"},
        {!e->listen && e->json, "--json requires -l"},
        {checks && !health->check, "--every and --failures require --health"},
        OPTION_FAULTS_END};
    rc = rc == GO_ON ? options_check(g, faults) : rc;
    health->every_ms = health->every_ms > 0 ? health->every_ms : EVERY_MS;
    health->failures = health->failures > 0 ? health->failures : FAILURES;
    return rc == GO_ON ? options_settle(g) : rc;
}

/* --- the latch --- */

static int begin(struct elect *e)
{
    e->held.no_guardian = e->held.no_guardian || e->listen;
    int status = held_begin(&e->held, NULL);
    if (status != 0) {
        return status;
    }
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    if (!e->listen) {
        o.on_loss = held_on_latch;
        o.ctx = &e->held;
    }
    int rc = zkr_leader_latch_create(&e->held.grant.latch, e->held.env->client,
                                     e->held.path, e->id, &o);
    return cli_check(rc);
}

/* --- taking part --- */

/*
 * Leads for one term. A grant that is lost before the command starts does not count as a term. Returns a reported exit
 * code.
 */
static int lead(struct elect *e)
{
    struct held *h = &e->held;
    h->started = clock_now_ms();
    h->lost = false;
    h->last = true;
    obtain_say_waiting(h);
    news_repeat_fit(&h->news, h->grant.latch);
    int rc = zkr_leader_latch_start(e->held.grant.latch);
    int status = rc == ZKR_OK ? HELD_AGAIN : cli_fail_rc(rc);
    while (status == HELD_AGAIN) {
        status = obtain_held(h, NEVER);
        status = status == HELD_START ? yield_begin_term() : status;
    }
    status = status == HELD_REFUSED ? cli_fail_rc(h->refusal) : status;
    if (status == HELD_START) {
        status = use_held(h);
    }
    yield_end_term();
    (void)zkr_leader_latch_stop(e->held.grant.latch, ZKR_LATCH_SILENT);
    return status;
}

/* Pauses, so that a command that exits at once does not burden the servers. Returns the exit code of a signal, or 0. */
static int pause_until(const struct held *h, int64_t until)
{
    int left, status;
    do {
        left = clock_left_ms(until);
        status = held_pause(h, left);
    } while (left > 0 && status == 0);
    return status;
}

/* Leads term after term. Only the first term requires a server within the connect timeout. */
static int take_part(struct elect *e)
{
    enum { LEAST_TERM_MS = 1000 };
    struct held *h = &e->held;
    int status = held_connect(h);
    status = status == 0 ? health_begin(h, &e->health) : status;
    status = status == 0 ? yield_begin(h) : status;
    while (status == 0) {
        status = lead(e);
        if (h->last) {
            return status;
        }
        status = pause_until(h, h->started + LEAST_TERM_MS);
    }
    return status;
}

/* --- asking --- */

static int ask(struct elect *e)
{
    struct held *h = &e->held;
    if (e->wait_ms != ZKR_FOREVER) {
        h->until = clock_now_ms() + e->wait_ms;
    }
    int status = held_begin(h, NULL);
    status = status == 0 ? held_connect(h) : status;
    return status == 0 ? yield_ask(h, e->to) : status;
}

/* --- listening --- */

static int show(void *ctx)
{
    struct elect *e = ctx;
    zkr_contenders *list = NULL;
    int status =
        ask_list(e->held.env, (struct ask_source){.latch = e->held.grant.latch}, &list);
    const zkr_contender *leader = zkr_contenders_get(list, 0);
    int64_t token = leader ? leader->fencing_token : 0;
    if (status == 0 && token != e->shown) {
        e->shown = token;
        if (e->json) {
            contender_leader_json(stdout, e->held.path, list);
        } else {
            contender_leader_print(stdout, list);
        }
        status = cli_flush();
    }
    zkr_contenders_free(list);
    return status;
}

static int wait_change(void *ctx, int64_t timeout_ms)
{
    return zkr_leader_latch_watch(((struct elect *)ctx)->held.grant.latch, timeout_ms);
}

int cmd_elect(struct env *env)
{
    static const struct watch leader = {wait_change, show, NULL};
    struct elect e = {.shown = -1, .wait_ms = ZKR_FOREVER};
    e.held = (struct held){.env = env,
                           .what = "leadership of",
                           .kill_signal = SIGTERM,
                           .lease = {.kill_after_ms = -1},
                           .until = NEVER};
    int status = take_arguments(&e);
    if (status != GO_ON) {
        return status;
    }
    env->signals.users_ignored = !e.listen && !env->globals.alone;
    status = env->globals.alone ? ask(&e) : begin(&e);
    if (status == 0 && !env->globals.alone) {
        status = e.listen ? watch_run(env, &leader, &e) : take_part(&e);
    }
    health_end();
    yield_end();
    (void)zkr_leader_latch_destroy(e.held.grant.latch);
    return held_end(&e.held, status);
}
