/* SPDX-License-Identifier: Apache-2.0 */
#include "connect.h"

#include <string.h>

#include <zkr/error.h>

#include "cli.h"
#include "lease.h"

int connect_open(zkr_client **out, const struct globals *g, const char *owner)
{
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
    int rc = zkr_client_open(out, g->servers, &o);
    if (rc == ZKR_EINVAL) {
        const char *fault = zkr_last_error()->message;
        return strncmp(fault, "option ", strlen("option ")) == 0
                   ? cli_fail(CLI_USAGE, "%s", fault)
                   : settings_refuse(&g->servers_from, "%s", fault);
    }
    return rc == ZKR_OK ? 0 : cli_fail_rc(rc);
}

int connect_wait(zkr_client *c, const struct globals *g, int64_t ms)
{
    int rc = zkr_client_wait_connected(c, ms);
    if (rc == ZKR_OK) {
        return 0;
    }
    if (rc != ZKR_ETIMEDOUT) {
        return cli_fail_rc(rc);
    }
    return cli_fail(
        CLI_SERVER, "%s; check -z or $ZKR_SERVERS, %s", zkr_last_error()->message,
        g->tls_cert ? "--tls, and that the port is one for TLS (-v says more)"
                    : "and that a server runs");
}

int connect_try(zkr_client *c,
                const struct globals *g,
                connect_ask_fn ask,
                void *ctx,
                int *status)
{
    enum { ATTEMPTS = 3 };
    int rc = ZKR_ECONNLOSS;
    for (int i = 0; i < ATTEMPTS && (rc == ZKR_ECONNLOSS || rc == ZKR_ESESSION); i++) {
        *status = connect_wait(c, g, g->connect_ms);
        if (*status != 0) {
            return rc;
        }
        rc = ask(ctx);
    }
    return rc;
}

struct list {
    connect_read_fn read;
    void *object;
    zkr_contenders **out;
};

static int ask_list(void *ctx)
{
    const struct list *l = ctx;
    return l->read(l->object, l->out);
}

int connect_read(zkr_client *c,
                 const struct globals *g,
                 connect_read_fn read,
                 void *object,
                 zkr_contenders **out)
{
    int status;
    struct list l = {read, object, out};
    int rc = connect_try(c, g, ask_list, &l, &status);
    return status != 0 || rc == ZKR_OK ? status : cli_fail_rc(rc);
}
