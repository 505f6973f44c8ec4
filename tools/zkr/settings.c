/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "access.h"
#include "cli.h"
#include "parse.h"
#include "secret.h"

const struct setting_name setting_names[SETTINGS] = {
    [SETTING_SERVERS] = {"ZKR_SERVERS", "servers", 'z', "-z"},
    [SETTING_SESSION] = {"ZKR_SESSION_TIMEOUT", "session-timeout", 't', "-t"},
    [SETTING_CONNECT] = {"ZKR_CONNECT_TIMEOUT", "connect-timeout", 0,
                         "--connect-timeout"},
    [SETTING_AUTH] = {"ZKR_AUTH", "auth", 0, "--auth"},
    [SETTING_AUTH_FILE] = {"ZKR_AUTH_FILE", "auth-file", 0, "--auth-file"},
    [SETTING_ACL] = {"ZKR_ACL", "acl", 0, "--acl"},
    [SETTING_TLS] = {"ZKR_TLS", "tls", 0, "--tls"}};

void settings_begin(struct globals *g)
{
    enum { CONNECT_MS = 15000 };
    *g = (struct globals){.connect_ms = CONNECT_MS,
                          .servers = "127.0.0.1:2181",
                          .subcommand = "",
                          .servers_from = {.kind = ORIGIN_COMMAND, .subcommand = ""}};
}

static void free_tls(struct globals *g)
{
    secret_free(g->tls_cert, g->tls_cert ? strlen(g->tls_cert) : 0);
}

void settings_end(struct globals *g)
{
    auth_end(&g->auth);
    acl_end(&g->acl);
    free_tls(g);
    secret_free(g->config, SECRET_MOST);
}

int settings_refuse(const struct origin *from, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start() is right above */
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

/* --auth and --auth-file are one setting. */
static enum origin_kind *origin_of(struct globals *g, enum setting setting)
{
    return &g->from[setting == SETTING_AUTH_FILE ? SETTING_AUTH : setting];
}

int settings_take(struct globals *g,
                  enum setting setting,
                  const char *value,
                  const struct origin *from)
{
    /* If the value is faulty, messages do not show it. */
    const char *fault = NULL, *needs = NULL;
    char text[256];
    if (*origin_of(g, setting) > from->kind) {
        return GO_ON;
    }
    *origin_of(g, setting) = from->kind;
    switch (setting) {
    case SETTING_SERVERS:
        g->servers = value;
        g->servers_from = *from;
        break;
    case SETTING_SESSION:
        needs = parse_int(value, 1, INT32_MAX, &g->session_ms) ? NULL : "milliseconds";
        break;
    case SETTING_CONNECT:
        g->connect_given = parse_seconds(value, &g->connect_ms) && g->connect_ms > 0;
        needs = g->connect_given ? NULL : "seconds, more than 0";
        break;
    case SETTING_AUTH:
        fault = auth_add(&g->auth, value);
        break;
    case SETTING_AUTH_FILE:
        fault = auth_add_file(&g->auth, value, text, sizeof(text));
        break;
    case SETTING_TLS:
        free_tls(g);
        g->tls_cert = strdup(value);
        fault = g->tls_cert ? NULL : access_no_memory;
        break;
    case SETTING_ACL:
        fault = acl_take(&g->acl, value);
        break;
    case SETTINGS:
        break;
    }
    return needs ? settings_refuse(from, "%s needs %s, not '%.200s'", from->name, needs,
                                   value)
           : fault ? settings_refuse(from, "%s %s", from->name, fault)
                   : GO_ON;
}

/* --- the file --- */

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) {
        length--;
    }
    text[length] = '\0';
    return text;
}

/*
 * Returns whether @text is the name of a variable. A line without a name may be a secret, so messages show no part of
 * it.
 */
static bool is_name(const char *text)
{
    return *text != '\0' &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(text);
}

/* Returns the reason why a file that others may read must not have this value, or NULL. */
static const char *exposed(enum setting setting, const char *value)
{
    int commas = 0;
    if (setting == SETTING_AUTH) {
        return "others can read ZKR_AUTH in this file; move it to another file, and "
               "name that file in ZKR_AUTH_FILE";
    }
    for (; setting == SETTING_TLS && *value; value++) {
        commas += *value == ',';
    }
    return commas >= TLS_FILES ? "others can read the password in ZKR_TLS in this "
                                 "file; set mode 600, or use a key without a password"
                               : NULL;
}

static int take_line(struct globals *g, char *line, struct origin *from, bool is_open)
{
    char *equals = strchr(line, '=');
    if (equals) {
        *equals = '\0';
        from->name = trim(line);
    }
    if (!equals || !is_name(from->name)) {
        return settings_refuse(from, "the line is not of the form ZKR_NAME=value");
    }
    enum setting setting = 0;
    while (setting < SETTINGS &&
           strcmp(from->name, setting_names[setting].variable) != 0) {
        setting++;
    }
    if (setting == SETTINGS) {
        return settings_refuse(from, "unknown setting '%.200s'", from->name);
    }
    const char *value = trim(equals + 1);
    const char *fault = is_open ? exposed(setting, value) : NULL;
    return fault && *origin_of(g, setting) <= from->kind
               ? settings_refuse(from, "%s", fault)
               : settings_take(g, setting, value, from);
}

static int take_lines(struct globals *g, const char *file, bool is_open)
{
    struct origin from = {.kind = ORIGIN_FILE, .file = file};
    int rc = GO_ON;
    for (char *rest = g->config; rest && rc == GO_ON;) {
        char *line = trim(strsep(&rest, "\n"));
        from.line++;
        if (*line && *line != '#') {
            rc = take_line(g, line, &from, is_open);
        }
    }
    return rc;
}

static int take_file(struct globals *g)
{
    const char *given = parse_variable("ZKR_CONFIG");
    const char *file = given ? given : "/etc/zkr.conf";
    mode_t mode;
    g->config = secret_read(file, &mode);
    if (!g->config) {
        return errno == ENOENT && !given
                   ? GO_ON
                   : cli_fail(CLI_USAGE, "cannot read %.1000s: %s", file,
                              strerrordesc_np(errno));
    }
    return take_lines(g, file, (mode & S_IRWXO) != 0);
}

/* --- the environment --- */

int settings_take_rest(struct globals *g)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        const struct origin from = {.kind = ORIGIN_ENVIRONMENT,
                                    .name = setting_names[i].variable};
        const char *value = parse_variable(from.name);
        int rc = value ? settings_take(g, (enum setting)i, value, &from) : GO_ON;
        if (rc != GO_ON) {
            return rc;
        }
    }
    return take_file(g);
}
