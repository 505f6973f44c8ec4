/* SPDX-License-Identifier: Apache-2.0 */
/* zkr elect: run a command while leading, or tell who leads. */
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <zkr/leader_latch.h>
#include <zkr/zkr.h>

#include "cli.h"
#include "command.h"
#include "commands.h"
#include "config.h"
#include "connect.h"
#include "hold.h"
#include "leave.h"
#include "table.h"
#include "watch.h"

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

enum { OPTION_ONCE = OPTION_OWN, OPTION_JSON };

struct elect {
    struct env *env;
    const char *path;
    struct command command;
    const char *id;
    bool once, listen, json;

    zkr_client *client;
    zkr_leader_latch *latch;
    struct hold hold;
    _Atomic(int64_t) token; /* of the term in use, for on_loss() */
    int64_t until;          /* for leave() */
    int64_t shown;          /* -l: token of the leader last printed, 0 = nobody */
};

static int take_option(struct elect *e, int option, char **argv)
{
    switch (option) {
    case 'i':
        e->id = optarg;
        return OPTIONS_GO_ON;
    case 'c':
        e->command.text = optarg;
        return OPTIONS_GO_ON;
    case 'l':
        e->listen = true;
        return OPTIONS_GO_ON;
    case OPTION_ONCE:
        e->once = true;
        return OPTIONS_GO_ON;
    case OPTION_JSON:
        e->json = true;
        return OPTIONS_GO_ON;
    default:
        return options_take(&e->env->globals, option, argv, usage);
    }
}

static int take_options(struct elect *e, int argc, char **argv)
{
    static const struct option table[] = {{"id", required_argument, NULL, 'i'},
                                          {"command", required_argument, NULL, 'c'},
                                          {"listen", no_argument, NULL, 'l'},
                                          {"once", no_argument, NULL, OPTION_ONCE},
                                          {"json", no_argument, NULL, OPTION_JSON},
                                          OPTIONS_ROWS,
                                          {NULL, 0, NULL, 0}};
    int option, rc = OPTIONS_GO_ON;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    while ((option = getopt_long(argc, argv, "+:i:c:l" OPTIONS_LETTERS, table, NULL)) !=
               -1 &&
           rc == OPTIONS_GO_ON) {
        rc = take_option(e, option, argv);
    }
    if (rc != OPTIONS_GO_ON) {
        return rc;
    }
    char **operands = argv + optind;
    e->path = operands[0];
    if (!e->path) {
        return options_refuse("elect", "which PATH?");
    }
    if (operands[1] && options_is_late(operands[1]) && !command_is_c(operands[1])) {
        return options_refuse_late("elect", operands[1]);
    }
    rc = command_take(&e->command, "elect", operands + 1);
    if (rc != OPTIONS_GO_ON) {
        return rc;
    }
    if (e->listen && (e->command.argv || e->once || e->id)) {
        return options_refuse("elect", "-l goes with --json and PATH alone");
    }
    if (!e->listen && (!e->command.argv || e->json)) {
        return options_refuse("elect", !e->command.argv ? "which COMMAND?"
                                                        : "--json goes with -l");
    }
    rc = config_take(&e->env->globals);
    return rc == OPTIONS_GO_ON ? options_check_path(&e->env->globals, e->path) : rc;
}

/* --- the latch --- */

static void on_loss(zkr_leader_latch *latch, const zkr_lost *lost, void *ctx)
{
    struct elect *e = ctx;
    (void)latch;
    if (lost->fencing_token == atomic_load(&e->token)) { /* not an earlier term */
        loss_tell(&e->hold.loss, lost);
    }
}

/* A latch joins again by itself: a later term of it is not the one we use. */
static int64_t valid_for(void *ctx)
{
    const struct elect *e = ctx;
    int64_t token;
    int64_t valid = zkr_leader_latch_valid_for_ms(e->latch);
    return zkr_leader_latch_fencing_token(e->latch, &token) == ZKR_OK &&
                   token == e->hold.token
               ? valid
               : 0;
}

static void cancel(void *ctx)
{
    (void)zkr_leader_latch_stop(ctx, ZKR_LATCH_SILENT);
}

static int open_all(struct elect *e)
{
    if (!hold_begin(&e->hold, e->path)) {
        return cli_fail(CLI_INTERNAL,
                        "out of memory or descriptors; raise the limits (ulimit)");
    }
    int status = connect_open(&e->client, &e->env->globals, NULL);
    if (status != 0) {
        return status;
    }
    zkr_leader_latch_options o = ZKR_LEADER_LATCH_OPTIONS_INIT;
    if (!e->listen) {
        o.on_loss = on_loss;
        o.ctx = e;
    }
    int rc = zkr_leader_latch_create(&e->latch, e->client, e->path, e->id, &o);
    e->hold.what = "leadership of";
    e->hold.client = e->client;
    e->hold.kill_signal = SIGTERM;
    e->hold.lease.notify = &e->env->notify;
    e->hold.lease.client = e->client;
    e->hold.lease.valid_for_ms = valid_for;
    e->hold.lease.ctx = e;
    e->hold.lease.wanted_ms = -1;
    return rc == ZKR_OK ? 0 : cli_fail_rc(rc);
}

/* --- taking part --- */

/* Nothing has been asked of a server yet. Later terms wait for one as long as it takes. */
static int connect_first(struct elect *e)
{
    struct signals_guard *guard =
        signals_guard_begin(&e->env->signals, CLI_NEVER, NULL);
    if (!guard) {
        return cli_fail_thread();
    }
    int status = connect_wait(e->client, &e->env->globals, e->env->globals.connect_ms);
    (void)signals_guard_end(guard);
    if (status == CLI_SERVER) {
        e->until = LEAVE_NOW;
    }
    return status;
}

/* The latch leads. False: not any more. */
static bool read_hold(struct elect *e)
{
    struct hold *h = &e->hold;
    h->session_id = zkr_client_session_id(e->client);
    loss_reset(&h->loss);
    if (zkr_leader_latch_fencing_token(e->latch, &h->token) != ZKR_OK ||
        zkr_leader_latch_node(e->latch, h->node, h->node_size) != ZKR_OK) {
        return false;
    }
    atomic_store(&e->token, h->token);
    return true;
}

enum { WON = -1, AGAIN = -2 }; /* besides exit codes */

/* Waits for a term that can be used. Returns WON, AGAIN, or an exit code, reported. */
static int win(struct elect *e)
{
    const struct signals_cancel how = {cancel, e->latch};
    struct signals_guard *guard =
        signals_guard_begin(&e->env->signals, CLI_NEVER, &how);
    if (!guard) {
        return cli_fail_thread();
    }
    int rc = zkr_leader_latch_await(e->latch, ZKR_FOREVER);
    int signo = signals_guard_end(guard);
    if (signo || rc != ZKR_OK) {
        return signo ? cli_exit_signal(signo) : cli_fail_rc(rc);
    }
    if (!read_hold(e)) {
        return AGAIN;
    }
    enum hold_start start = hold_await(&e->hold, e->env, 0, CLI_NEVER, &signo);
    return start == HOLD_START     ? WON
           : start == HOLD_STOPPED ? cli_exit_signal(signo)
                                   : AGAIN;
}

/* Returns WON, or an exit code, reported. */
static int campaign(struct elect *e)
{
    e->hold.lost = false;
    notify_send(&e->env->notify, "STATUS=waiting for the %s %.1000s", e->hold.what,
                e->path);
    int rc = zkr_leader_latch_start(e->latch);
    int status = rc == ZKR_OK ? AGAIN : cli_fail_rc(rc);
    while (status == AGAIN) {
        status = win(e);
    }
    return status;
}

/* A command that ends at once must not keep the servers busy. Exit code of a signal, or 0. */
static int rest_until(const struct elect *e, int64_t until)
{
    int signo, left;
    do {
        struct pollfd fd = {.fd = e->env->signals.fd, .events = POLLIN};
        left = cli_until(until);
        (void)poll(&fd, 1, signals_pulse(&e->env->signals, left));
        signo = signals_stop(&e->env->signals);
    } while (left > 0 && signo == 0);
    return signo ? cli_exit_signal(signo) : 0;
}

/* One term. *last: no other is to follow. */
static int lead(struct elect *e, bool *last)
{
    struct hold *h = &e->hold;
    int64_t started = cli_now_ms();
    *last = true;
    int status = campaign(e);
    if (status == WON) {
        if (e->env->globals.verbose) {
            hold_note(h, cli_now_ms() - started);
        }
        hold_ready(h, e->env);
        lease_begin(&h->lease);
        status = hold_run(h, e->env, e->command.argv);
        lease_end(&h->lease);
        *last = e->once || h->told || h->failed;
        notify_send(&e->env->notify, "%sSTATUS=releasing the %s %.1000s",
                    *last ? "STOPPING=1\n" : "", h->what, h->path);
    }
    (void)zkr_leader_latch_stop(e->latch, ZKR_LATCH_SILENT);
    return status;
}

static int take_part(struct elect *e)
{
    enum { LEAST_TERM_MS = 1000 };
    int first = connect_first(e);
    if (first != 0) {
        return first;
    }
    for (;;) {
        bool last;
        int64_t started = cli_now_ms();
        int status = lead(e, &last);
        if (last) {
            return status;
        }
        status = rest_until(e, started + LEAST_TERM_MS);
        if (status != 0) {
            return status;
        }
    }
}

/* --- listening --- */

static int read_list(void *latch, zkr_contenders **out)
{
    return zkr_leader_latch_participants(latch, out);
}

static int show(void *ctx)
{
    struct elect *e = ctx;
    zkr_contenders *list;
    int status = connect_read(e->client, &e->env->globals, read_list, e->latch, &list);
    if (status != 0) {
        return status;
    }
    const zkr_contender *leader = zkr_contenders_get(list, 0);
    int64_t token = leader ? leader->fencing_token : 0;
    if (token != e->shown) {
        e->shown = token;
        if (e->json) {
            table_leader_json(stdout, e->path, list);
        } else {
            table_leader_print(stdout, list);
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
    struct signals_guard *guard =
        signals_guard_begin(&e->env->signals, CLI_NEVER, NULL);
    if (!guard) {
        return cli_fail_thread();
    }
    const struct watch how = {wait_change, show, NULL};
    e->shown = -1; /* of nobody */
    int status = show(e);
    (void)signals_guard_end(guard);
    return status == 0 ? watch_run(&e->env->signals, &how, e) : status;
}

int cmd_elect(struct env *env, int argc, char **argv)
{
    struct elect e = {
        .env = env, .until = CLI_NEVER, .hold.loss.fd = -1, .hold.wish.fd = -1};
    int status = take_options(&e, argc, argv);
    if (status != OPTIONS_GO_ON) {
        return status;
    }
    env->signals.users_ignored = !e.listen;
    status = open_all(&e);
    if (status == 0) {
        status = e.listen ? listen_on(&e) : take_part(&e);
    }
    (void)zkr_leader_latch_destroy(e.latch);
    struct stats none = {.file = NULL};
    const struct leave how = {.signals = &env->signals,
                              .until = e.hold.lost ? leave_lost() : e.until,
                              .stats = &none,
                              .told = e.hold.lost};
    status = leave(e.client, &how, status);
    hold_end(&e.hold);
    return status;
}
