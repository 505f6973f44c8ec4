/* SPDX-License-Identifier: Apache-2.0 */
/* zkr elect: run a command while leading, or tell who leads. */
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#include <zkr/zkr.h>

#include "cli.h"
#include "held.h"
#include "view.h"

static const char usage[] =
    "usage: zkr [OPTION]... elect [-i ID] [--once] PATH COMMAND [ARGUMENT]...\n"
    "       zkr [OPTION]... elect [-i ID] [--once] PATH -c 'SHELL TEXT'\n"
    "       zkr [OPTION]... elect -l [--json] PATH\n"
    "\n"
    "Runs COMMAND while this is the leader at PATH; when it ends, or the leadership\n"
    "does, queues again.\n"
    "\n"
    "  -i, --id ID    what others see as the candidate\n"
    "      --once     one term only\n"
    "  -c, --command TEXT  give TEXT to the shell\n"
    "  -l, --listen   print the leader, now and at each change, without taking part\n"
    "      --json     with -l: lines of JSON, see zkr(1)\n"
    "      --verbose  say how long it took and what is held\n"
    "  -h, --help\n"
    "  -V, --version\n";

struct elect {
    struct command command;
    const char *id;
    bool listen, json;

    zkr_leader_latch *latch;
    struct held held;
    _Atomic(int64_t) token; /* of the current term, for on_loss() */
    int64_t shown;          /* -l: token of the leader printed last, 0 = nobody */
};

static int take_arguments(struct elect *e, int argc, char **argv)
{
    struct globals *g = &e->held.env->globals;
    const struct option_row rows[] = {
        {"id", 'i', option_text, &e->id, "a text"},
        {"command", 'c', option_text, &e->command.text, "a text"},
        {"listen", 'l', option_on, &e->listen, NULL},
        {"once", 0, option_on, &e->held.once, NULL},
        {"json", 0, option_on, &e->json, NULL},
        OPTIONS_END};
    int rc = options_take(g, usage, rows, argc, argv);
    if (rc == OPTIONS_GO_ON) {
        rc = options_command(&e->command, "elect", argv + optind);
    }
    if (rc != OPTIONS_GO_ON) {
        return rc;
    }
    e->held.path = argv[optind];
    if (e->listen && (e->command.argv || e->held.once || e->id)) {
        return options_refuse("elect", "-l goes with --json and PATH alone");
    }
    if (!e->listen && (!e->command.argv || e->json)) {
        return options_refuse("elect", !e->command.argv ? "which COMMAND?"
                                                        : "--json goes with -l");
    }
    return options_settle(g, e->held.path);
}

/* --- the latch --- */

static void on_loss(zkr_leader_latch *latch, const zkr_lost *lost, void *ctx)
{
    struct elect *e = ctx;
    (void)latch;
    if (lost->fencing_token ==
        atomic_load(&e->token)) { /* not that of an earlier term */
        held_lost(&e->held, lost);
    }
}

static int wait_for_grant(void *elect)
{
    return zkr_leader_latch_await(((struct elect *)elect)->latch, ZKR_FOREVER);
}

static void cancel(void *elect)
{
    (void)zkr_leader_latch_stop(((struct elect *)elect)->latch, ZKR_LATCH_SILENT);
}

static int read_grant(void *elect, struct held *h)
{
    struct elect *e = elect;
    held_reset(h);
    int rc = zkr_leader_latch_fencing_token(e->latch, &h->token);
    if (rc == ZKR_OK) {
        rc = zkr_leader_latch_node(e->latch, h->node, h->node_size);
    }
    if (rc == ZKR_OK) {
        atomic_store(&e->token, h->token);
    }
    return rc;
}

/* The latch queues again by itself, so its valid time may be that of a later term. */
static int64_t valid_for_ms(void *elect)
{
    const struct elect *e = elect;
    int64_t token;
    int64_t valid = zkr_leader_latch_valid_for_ms(e->latch);
    return zkr_leader_latch_fencing_token(e->latch, &token) == ZKR_OK &&
                   token == e->held.token
               ? valid
               : 0;
}

static int begin(struct elect *e)
{
    int status = held_begin(&e->held, NULL);
    if (status != 0) {
        return status;
    }
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    if (!e->listen) {
        o.on_loss = on_loss;
        o.ctx = e;
    }
    int rc = zkr_leader_latch_create(&e->latch, e->held.env->client, e->held.path,
                                     e->id, &o);
    return rc == ZKR_OK ? 0 : cli_fail_rc(rc);
}

/* --- taking part --- */

enum { WON = -1, AGAIN = -2 }; /* besides exit codes */

/* Waits for one term. Returns WON, AGAIN if that was lost at once, or an exit code, reported. */
static int win(struct elect *e)
{
    int code;
    enum held_start start = held_obtain(&e->held, CLI_NEVER, &code);
    return start == HELD_START     ? WON
           : start == HELD_REFUSED ? cli_fail_rc(code)
           : start == HELD_ENDED   ? code
                                   : AGAIN;
}

/* One term. Returns an exit code, reported. */
static int lead(struct elect *e)
{
    struct held *h = &e->held;
    h->started = cli_now_ms();
    h->lost = false;
    h->last = true;
    held_say_waiting(h);
    int rc = zkr_leader_latch_start(e->latch);
    int status = rc == ZKR_OK ? AGAIN : cli_fail_rc(rc);
    while (status == AGAIN) {
        status = win(e);
    }
    if (status == WON) {
        status = held_use(h, e->command.argv);
    }
    (void)zkr_leader_latch_stop(e->latch, ZKR_LATCH_SILENT);
    return status;
}

/* A command that ends at once must not keep the servers busy. Returns the exit code of a signal, or 0. */
static int rest_until(const struct env *env, int64_t until)
{
    int signo, left;
    do {
        struct pollfd fd = {.fd = env->signals.fd, .events = POLLIN};
        left = cli_until(until);
        (void)poll(&fd, 1, signals_pulse(&env->signals, left));
        signo = signals_stop(&env->signals);
    } while (left > 0 && signo == 0);
    return signo ? cli_exit_signal(signo) : 0;
}

/* Only the first term needs a server within the connect timeout. */
static int take_part(struct elect *e)
{
    enum { LEAST_TERM_MS = 1000 };
    struct held *h = &e->held;
    int status = held_connect(h);
    while (status == 0) {
        status = lead(e);
        if (h->last) {
            return status;
        }
        status = rest_until(h->env, h->started + LEAST_TERM_MS);
    }
    return status;
}

/* --- listening --- */

static int ask_list(void *latch, void *out)
{
    return zkr_leader_latch_participants(latch, out);
}

static int show(void *ctx)
{
    struct elect *e = ctx;
    zkr_contenders *list;
    int status = client_list(e->held.env, ask_list, e->latch, &list);
    if (status != 0) {
        return status;
    }
    const zkr_contender *leader = zkr_contenders_get(list, 0);
    int64_t token = leader ? leader->fencing_token : 0;
    if (token != e->shown) {
        e->shown = token;
        if (e->json) {
            view_leader_json(stdout, e->held.path, list);
        } else {
            view_leader_print(stdout, list);
        }
        status = cli_flush();
    }
    zkr_contenders_free(list);
    return status;
}

static int wait_change(void *ctx, int64_t timeout_ms)
{
    const struct elect *e = ctx;
    return zkr_leader_latch_watch(e->latch, timeout_ms);
}

static int listen_on(struct elect *e)
{
    static const struct client_watch how = {wait_change, show, NULL};
    e->shown = -1; /* nothing yet */
    int status = client_work(e->held.env, show, e);
    return status == 0 ? client_watch(e->held.env, &how, e) : status;
}

int cmd_elect(struct env *env, int argc, char **argv)
{
    static const struct held_grantor latch = {wait_for_grant, cancel, read_grant};
    struct elect e = {.listen = false};
    e.held = (struct held){.env = env,
                           .grantor = &latch,
                           .ctx = &e,
                           .what = "leadership of",
                           .kill_signal = SIGTERM,
                           .until = CLI_NEVER,
                           .lease = {.valid_for_ms = valid_for_ms, .wanted_ms = -1}};
    int status = take_arguments(&e, argc, argv);
    if (status != OPTIONS_GO_ON) {
        return status;
    }
    env->signals.users_ignored = !e.listen;
    status = begin(&e);
    if (status == 0) {
        status = e.listen ? listen_on(&e) : take_part(&e);
    }
    (void)zkr_leader_latch_destroy(e.latch);
    return held_end(&e.held, status);
}
