/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "access.h"
#include "cli.h"
#include "clock.h"
#include "interrupt.h"
#include "log.h"
#include "notify.h"
#include "parse.h"
#include "peers.h"
#include "say.h"
#include "settings.h"
#include "signals.h"
#include "stats.h"

/* --- opening --- */

static const char guardian_variable[] = "ZKR_GUARDIAN_PATH";

/*
 * Finds the guardian near zkr, even if both were moved: where it is installed, where it is built, or beside zkr. Passes
 * its path to the library in an environment variable. Returns false if there is no guardian.
 */
static bool set_guardian(void)
{
    static const char *const near[] = {"/../libexec/zkr-guardian",
                                       "/guardian/zkr-guardian", "/zkr-guardian"};
    char path[PATH_MAX], *slash;
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    slash = strrchr(path, '/');
    for (size_t i = 0; slash && i < sizeof(near) / sizeof(near[0]); i++) {
        size_t room = sizeof(path) - (size_t)(slash - path);
        bool fits = snprintf(slash, room, "%s", near[i]) < (int)room;
        if (fits && access(path, X_OK) == 0) {
            /* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread exists yet */
            return setenv(guardian_variable, path, 1) == 0;
        }
    }
    return false;
}

/* Opens the client. The command must not inherit the variable, so this function unsets it. */
static int open_client(struct env *env, const zkr_client_options *o)
{
    bool set = o->guardian != 0 && !parse_variable(guardian_variable) && set_guardian();
    int rc = zkr_client_open(&env->client, env->globals.servers, o);
    if (set) {
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): no thread of the library reads it */
        (void)unsetenv(guardian_variable);
    }
    return rc;
}

int client_open(struct env *env, const char *owner, bool nearby, bool guarded)
{
    const struct globals *g = &env->globals;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    if (g->auth.count == 0 && acl_needs_auth(&g->acl)) {
        return cli_fail(CLI_USAGE,
                        "--acl creator needs credentials; give --auth or --auth-file");
    }
    o.session_timeout_ms = g->session_ms;
    o.connect_timeout_ms = g->connect_ms;
    o.lease_probe_ms = g->session_ms / 15; /* see lease.h */
    o.owner = owner;
    o.tls_cert = g->tls_cert;
    o.more_auth = g->auth.list;
    o.more_auth_count = (int64_t)g->auth.count;
    o.acl = g->acl.list.count > 0 ? &g->acl.list : NULL;
    o.log = g->log_level > 0 ? log_write : log_hint;
    o.log_level = g->log_level > 0 ? g->log_level : ZKR_LOG_WARN;
    o.log_ctx = (void *)(uintptr_t)&g->log_level;
    o.nearby = nearby;
    o.guardian = guarded ? ZKR_GUARDIAN_TRY : 0;
    int rc = open_client(env, &o);
    env->signals.client = env->client;
    if (rc == ZKR_EINVAL) {
        const char *fault = zkr_last_error()->message;
        return strncmp(fault, "option ", strlen("option ")) == 0
                   ? cli_fail(CLI_USAGE, "%s", fault)
                   : settings_refuse(&g->servers_from, "%s", fault);
    }
    return cli_check(rc);
}

/* --- waiting --- */

int client_wait(const struct env *env, int64_t ms)
{
    int rc = zkr_client_wait_connected(env->client, ms);
    if (rc == ZKR_OK) {
        return 0;
    }
    if (rc != ZKR_ETIMEDOUT) {
        return cli_fail_rc(rc);
    }
    char *closing = peers_closing(env->globals.servers);
    if (closing) {
        int status = cli_fail(CLI_SERVER,
                              "%.200s closes each new connection; check whether this "
                              "host has too many (maxClientCnxns), and whether a "
                              "server runs behind the proxy, if there is one",
                              closing);
        free(closing);
        return status;
    }
    return cli_fail(CLI_SERVER, "%s; check -z or $ZKR_SERVERS, %s",
                    zkr_last_error()->message,
                    env->globals.tls_cert
                        ? "--tls, and whether the port is a TLS port (-v logs more)"
                        : "and whether a server runs");
}

static void stop_work(void *ctx)
{
    const struct interrupt *interrupt = ctx;
    int signo = atomic_load(&interrupt->caught);
    if (signo) {
        say_in_haste();
        say_drain();
        _exit(cli_exit_signal(signo));
    }
    client_exit(cli_fail(CLI_SERVER, "the servers have not answered in time; try again "
                                     "later, or check -z and the servers"));
}

int client_work(const struct env *env, int64_t until, client_work_fn work, void *ctx)
{
    enum { GRACE_MS = 1000 };
    struct interrupt interrupt;
    int64_t late = until == NEVER ? NEVER : until + GRACE_MS;
    if (!interrupt_begin(&interrupt, &env->signals, late, stop_work, &interrupt)) {
        return cli_fail_thread();
    }
    int status = work(ctx);
    (void)interrupt_end(&interrupt);
    return status;
}

/* --- the end --- */

void client_exit(int status)
{
    stats_end();
    (void)cli_flush();
    say_drain();
    _exit(status);
}

bool client_is_done(const struct env *env)
{
    return zkr_client_flush(env->client, CLIENT_GRACE_MS) == ZKR_OK;
}

static _Noreturn void give_up(zkr_client *c, bool silent, int status)
{
    if (!silent) {
        cli_note("the servers have not confirmed that our node is deleted; it is gone "
                 "when the session times out, in at most %.3f s",
                 (double)zkr_client_session_timeout_ms(c) / 1000);
    }
    client_exit(status);
}

static void exit_late(void *status)
{
    client_exit(*(const int *)status);
}

/* Closes the client, but gives up at @until, because zkr_client_close() can wait 2.5 s for a silent server. */
static void close_until(const struct env *env, int64_t until, int status)
{
    struct interrupt interrupt;
    if (!interrupt_begin(&interrupt, &env->signals, until, exit_late, &status)) {
        client_exit(status);
    }
    (void)zkr_client_close(env->client);
    (void)interrupt_end(&interrupt);
}

int64_t client_grace(int64_t until)
{
    int64_t now = clock_now_ms();
    return until == NEVER ? NEVER : (until > now ? until : now) + CLIENT_GRACE_MS;
}

int client_end(struct env *env, int64_t until, bool silent, int status)
{
    enum { CHECK_MS = 50, SAY_MS = 1000, NO_AUTH = -102 };
    zkr_client *c = env->client;
    int64_t say = clock_now_ms() + SAY_MS;
    /* Signals are still read while the client is being closed. */
    env->signals.client = NULL;
    while (c && zkr_client_finish(c, lesser(CHECK_MS, clock_left_ms(until))) ==
                    ZKR_ETIMEDOUT) {
        int signo = signals_take_ending(&env->signals);
        bool refused = zkr_last_error()->zk_rc == NO_AUTH;
        notify_alive();
        if (signo) {
            give_up(c, false, cli_exit_signal(signo));
        }
        if (clock_left_ms(until) == 0) {
            give_up(c, silent, status);
        }
        if (clock_left_ms(say) == 0) {
            say = NEVER;
            cli_note(
                "%s",
                refused
                    ? "the servers refuse to delete our node, or to list its "
                      "directory; zkr ends its session, which deletes the node"
                    : "waiting for the servers to confirm that our node is deleted, or "
                      "for the end of the session; a signal ends this wait");
            if (refused) {
                break;
            }
        }
    }
    stats_end();
    if (c && until != NEVER) {
        close_until(env, until, status);
    } else {
        (void)zkr_client_close(c);
    }
    env->client = NULL;
    return status;
}
