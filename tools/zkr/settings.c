/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

void settings_begin(struct globals *g)
{
    enum { CONNECT_MS = 15000 };
    *g = (struct globals){.connect_ms = CONNECT_MS,
                          .servers = "127.0.0.1:2181",
                          .servers_from = {.kind = ORIGIN_COMMAND, .subcommand = ""}};
}

static void free_secret(char *text)
{
    if (text) {
        explicit_bzero(text, strlen(text));
    }
    free(text);
}

void settings_end(struct globals *g)
{
    auth_end(&g->auth);
    acl_end(&g->acl);
    free_secret(g->tls_cert);
    free_secret(g->config);
}

int settings_refuse(const struct origin *from, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    switch (from->kind) {
    case ORIGIN_FILE:
        return cli_fail(CLI_USAGE, "%.1000s:%d: %s", from->file, from->line, text);
    case ORIGIN_ENVIRONMENT:
        return cli_fail(CLI_USAGE, "%s in the environment", text);
    case ORIGIN_COMMAND:
        break;
    }
    return cli_fail(CLI_USAGE, "%s; see 'zkr%s%s --help'", text,
                    *from->subcommand ? " " : "", from->subcommand);
}

static int take_session(struct globals *g, const char *value, const struct origin *from)
{
    return cli_parse_int(value, 1, INT32_MAX, &g->session_ms)
               ? OPTIONS_GO_ON
               : settings_refuse(from, "%s needs milliseconds, not '%.200s'",
                                 from->name, value);
}

static int take_connect(struct globals *g, const char *value, const struct origin *from)
{
    if (!cli_parse_seconds(value, &g->connect_ms) || g->connect_ms == 0) {
        return settings_refuse(from, "%s needs seconds, more than 0, not '%.200s'",
                               from->name, value);
    }
    g->connect_given = true;
    return OPTIONS_GO_ON;
}

static int take_tls(struct globals *g, const char *value, const struct origin *from)
{
    free_secret(g->tls_cert);
    g->tls_cert = strdup(value);
    return g->tls_cert ? OPTIONS_GO_ON
                       : settings_refuse(from, "%s needs more memory than there is",
                                         from->name);
}

static enum setting one_for(enum setting setting)
{
    return setting == SETTING_AUTH_FILE ? SETTING_AUTH : setting;
}

bool settings_is_overridden(const struct globals *g,
                            enum setting setting,
                            enum origin_kind kind)
{
    return g->said[one_for(setting)] > kind;
}

int settings_take(struct globals *g,
                  enum setting setting,
                  const char *value,
                  const struct origin *from)
{
    const char *fault = NULL;
    char text[256];
    if (settings_is_overridden(g, setting, from->kind)) {
        return OPTIONS_GO_ON;
    }
    g->said[one_for(setting)] = from->kind;
    switch (setting) {
    case SETTING_SERVERS:
        g->servers = value;
        g->servers_from = *from;
        break;
    case SETTING_SESSION:
        return take_session(g, value, from);
    case SETTING_CONNECT:
        return take_connect(g, value, from);
    case SETTING_AUTH:
        fault = auth_add(&g->auth, value);
        break;
    case SETTING_AUTH_FILE:
        fault = auth_add_file(&g->auth, value, text, sizeof(text));
        break;
    case SETTING_TLS:
        return take_tls(g, value, from);
    case SETTING_ACL:
        fault = acl_take(&g->acl, value);
        break;
    case SETTINGS:
        break;
    }
    return fault ? settings_refuse(from, "%s %s", from->name, fault) : OPTIONS_GO_ON;
}
