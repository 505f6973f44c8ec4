/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <zkr/zkr.h>

#include "cli.h"
#include "lease.h"

int client_open(struct env *env, const char *owner)
{
    const struct globals *g = &env->globals;
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    if (g->auth.count == 0 && acl_needs_auth(&g->acl)) {
        return cli_fail(CLI_USAGE, "--acl creator needs credentials: --auth or "
                                   "--auth-file");
    }
    o.session_timeout_ms = g->session_ms;
    o.connect_timeout_ms = g->connect_ms;
    o.lease_probe_ms = lease_probe_pause(g->session_ms);
    o.owner = owner;
    o.tls_cert = g->tls_cert;
    o.more_auth = g->auth.list;
    o.more_auth_count = (int64_t)g->auth.count;
    o.acl = g->acl.list.count > 0 ? &g->acl.list : NULL;
    if (g->log_level > 0) {
        o.log_level = g->log_level;
        o.log = cli_log;
        o.log_ctx = (void *)(uintptr_t)&g->log_level;
    }
    int rc = zkr_client_open(&env->client, g->servers, &o);
    if (rc == ZKR_EINVAL) {
        const char *fault = zkr_last_error()->message;
        return strncmp(fault, "option ", strlen("option ")) == 0
                   ? cli_fail(CLI_USAGE, "%s", fault)
                   : settings_refuse(&g->servers_from, "%s", fault);
    }
    return rc == ZKR_OK ? 0 : cli_fail_rc(rc);
}

int client_wait(const struct env *env, int64_t ms)
{
    int rc = zkr_client_wait_connected(env->client, ms);
    if (rc == ZKR_OK) {
        return 0;
    }
    if (rc != ZKR_ETIMEDOUT) {
        return cli_fail_rc(rc);
    }
    return cli_fail(
        CLI_SERVER, "%s; check -z or $ZKR_SERVERS, %s", zkr_last_error()->message,
        env->globals.tls_cert ? "--tls, and that the port is one for TLS (-v says more)"
                              : "and that a server runs");
}

int client_work(const struct env *env, client_work_fn work, void *ctx)
{
    struct signals_guard *guard = signals_guard_begin(&env->signals, CLI_NEVER, NULL);
    if (!guard) {
        return cli_fail_thread();
    }
    int status = work(ctx);
    (void)signals_guard_end(guard);
    return status;
}

int client_ask(const struct env *env,
               client_ask_fn ask,
               void *object,
               void *out,
               int *status)
{
    enum { ATTEMPTS = 3 };
    int rc = ZKR_ECONNLOSS;
    for (int i = 0; i < ATTEMPTS && (rc == ZKR_ECONNLOSS || rc == ZKR_ESESSION); i++) {
        *status = client_wait(env, env->globals.connect_ms);
        if (*status != 0) {
            return rc;
        }
        rc = ask(object, out);
    }
    return rc;
}

int client_list(const struct env *env,
                client_ask_fn ask,
                void *object,
                zkr_contenders **out)
{
    int status;
    int rc = client_ask(env, ask, object, out, &status);
    return status != 0 || rc == ZKR_OK ? status : cli_fail_rc(rc);
}

int client_list_mutex(void *mutex, void *out)
{
    return zkr_mutex_contenders(mutex, out);
}

int client_list_semaphore(void *semaphore, void *out)
{
    return zkr_semaphore_holders(semaphore, out);
}

/* --- showing it again --- */

/*
 * Waits until the watch reports a change; checks for signals in between, and calls tick() each second. Neither costs the
 * servers anything. Sets *status when a signal or tick() ends the wait.
 */
static int wait_or_stop(const struct signals *s,
                        const struct client_watch *how,
                        void *ctx,
                        int *status)
{
    enum { CHECK_MS = 100, TICK_MS = 1000 };
    int64_t tick_at = how->tick ? cli_now_ms() + TICK_MS : CLI_NEVER;
    int rc = ZKR_ETIMEDOUT;
    while (rc == ZKR_ETIMEDOUT && *status == 0) {
        int signo = signals_stop(s);
        if (signo) {
            *status = cli_exit_signal(signo);
        } else if (how->tick && cli_until(tick_at) == 0) {
            tick_at = cli_now_ms() + TICK_MS;
            *status = how->tick(ctx);
        } else {
            rc = how->wait(ctx, CHECK_MS);
        }
    }
    return rc;
}

int client_watch(const struct env *env, const struct client_watch *how, void *ctx)
{
    int status = 0;
    while (status == 0) {
        int rc = wait_or_stop(&env->signals, how, ctx, &status);
        if (status == 0) {
            status = rc == ZKR_OK || zkr_err_retriable(rc) ? how->show(ctx)
                                                           : cli_fail_rc(rc);
        }
    }
    return status;
}

/* --- the end --- */

void client_exit(int status)
{
    (void)cli_flush();
    _exit(status);
}

bool client_is_done(const struct env *env)
{
    return zkr_client_flush(env->client, CLIENT_GRACE_MS) == ZKR_OK;
}

static _Noreturn void
give_up(zkr_client *c, const struct client_end *how, bool silent, int status)
{
    stats_end(how->stats);
    int64_t session_ms = zkr_client_session_timeout_ms(c);
    if (!silent) {
        cli_note("the servers have not confirmed that our node is deleted; it goes at "
                 "the latest when the session times out, after %" PRId64 ".%03" PRId64
                 " s",
                 session_ms / 1000, session_ms % 1000);
    }
    client_exit(status);
}

static void exit_late(void *status)
{
    client_exit(*(const int *)status);
}

/* zkr_client_close() can wait 2.5 s for a silent server; zkr need not. */
static void close_until(const struct env *env, int64_t until, int status)
{
    const struct signals_cancel how = {exit_late, &status};
    struct signals_guard *guard = signals_guard_begin(&env->signals, until, &how);
    if (!guard) {
        client_exit(status);
    }
    (void)zkr_client_close(env->client);
    (void)signals_guard_end(guard);
}

int client_end(const struct env *env, const struct client_end *how, int status)
{
    zkr_client *c = env->client;
    enum { CHECK_MS = 50, SAY_MS = 1000, NO_AUTH = -102 };
    int64_t now = cli_now_ms(), say = now + SAY_MS, until = how->until;
    if (until != CLI_NEVER) {
        until = (until > now ? until : now) + CLIENT_GRACE_MS;
    }
    while (c && zkr_client_flush(c, CHECK_MS) == ZKR_ETIMEDOUT) {
        int signo = signals_stop(&env->signals);
        (void)signals_pulse(&env->signals, CHECK_MS);
        if (signo) {
            give_up(c, how, false, cli_exit_signal(signo));
        }
        if (cli_until(until) == 0) {
            give_up(c, how, how->silent, status);
        }
        bool refused = zkr_last_error()->zk_rc == NO_AUTH;
        if (cli_until(say) == 0 && refused) {
            cli_note("we may not delete our node any more; it goes with our session, "
                     "which ends now");
            break;
        }
        if (cli_until(say) == 0) {
            say = CLI_NEVER;
            cli_note("waiting for the servers to confirm that our node is deleted, or "
                     "for the end of the session; a signal ends this");
        }
    }
    stats_end(how->stats);
    if (c && until != CLI_NEVER) {
        close_until(env, until, status);
    } else {
        (void)zkr_client_close(c);
    }
    return status;
}
