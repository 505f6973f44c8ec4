/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

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
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it was started right above */
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

/* Credentials and a file of them are one setting. */
static enum origin_kind *origin_of(struct globals *g, enum setting setting)
{
    return &g->from[setting == SETTING_AUTH_FILE ? SETTING_AUTH : setting];
}

int settings_take(struct globals *g,
                  enum setting setting,
                  const char *value,
                  const struct origin *from)
{
    const char *fault = NULL, *number = NULL; /* the kind of number that is needed */
    char text[256];
    if (*origin_of(g, setting) > from->kind) {
        return OPTIONS_GO_ON;
    }
    *origin_of(g, setting) = from->kind;
    switch (setting) {
    case SETTING_SERVERS:
        g->servers = value;
        g->servers_from = *from;
        break;
    case SETTING_SESSION:
        number =
            cli_parse_int(value, 1, INT32_MAX, &g->session_ms) ? NULL : "milliseconds";
        break;
    case SETTING_CONNECT:
        g->connect_given =
            cli_parse_seconds(value, &g->connect_ms) && g->connect_ms > 0;
        number = g->connect_given ? NULL : "seconds, more than 0";
        break;
    case SETTING_AUTH:
        fault = auth_add(&g->auth, value);
        break;
    case SETTING_AUTH_FILE:
        fault = auth_add_file(&g->auth, value, text, sizeof(text));
        break;
    case SETTING_TLS:
        free_secret(g->tls_cert);
        g->tls_cert = strdup(value);
        fault = g->tls_cert ? NULL : "needs more memory than there is";
        break;
    case SETTING_ACL:
        fault = acl_take(&g->acl, value);
        break;
    case SETTINGS:
        break;
    }
    if (number) {
        return settings_refuse(from, "%s needs %s, not '%.200s'", from->name, number,
                               value);
    }
    return fault ? settings_refuse(from, "%s %s", from->name, fault) : OPTIONS_GO_ON;
}

/* --- the file --- */

static int cannot_read(const char *file, int error)
{
    return cli_fail(CLI_USAGE, "cannot read %.1000s: %s", file, strerrordesc_np(error));
}

/* The whole file as a string; NULL and errno on failure. */
static char *read_all(int fd)
{
    enum { MOST = 65536 };
    char *text = calloc(1, MOST + 1);
    size_t used = 0;
    ssize_t n = 1;
    while (text && n > 0 && used < MOST) {
        n = read(fd, text + used, MOST - used);
        used += n > 0 ? (size_t)n : 0;
    }
    if (n < 0 || used == MOST) {
        free(text);
        errno = n < 0 ? errno : EFBIG;
        return NULL;
    }
    return text;
}

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

/* A line that is no setting may be a secret, so no part of such a line is shown. */
static bool is_name(const char *text)
{
    return *text != '\0' &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(text);
}

static bool has_secret(enum setting setting, const char *value)
{
    int commas = 0;
    for (; setting == SETTING_TLS && *value; value++) {
        commas += *value == ',';
    }
    return setting == SETTING_AUTH || commas >= TLS_FILES;
}

static int take_value(struct globals *g,
                      enum setting setting,
                      const char *value,
                      const struct origin *from,
                      bool is_open)
{
    if (!is_open || !has_secret(setting, value) ||
        *origin_of(g, setting) > from->kind) {
        return settings_take(g, setting, value, from);
    }
    return setting == SETTING_AUTH
               ? settings_refuse(from, "others may read ZKR_AUTH here; put it into "
                                       "another file, and name that in ZKR_AUTH_FILE")
               : settings_refuse(from, "others may read the password in ZKR_TLS here; "
                                       "chmod 600 mends that, or a key without one");
}

static int take_line(struct globals *g, char *line, struct origin *from, bool is_open)
{
    char *equals = strchr(line, '=');
    if (equals) {
        *equals = '\0';
        from->name = trim(line);
    }
    if (!equals || !is_name(from->name)) {
        return settings_refuse(from, "this line is not ZKR_NAME=value");
    }
    for (size_t i = 0; i < SETTINGS; i++) {
        if (strcmp(from->name, setting_names[i].variable) == 0) {
            return take_value(g, (enum setting)i, trim(equals + 1), from, is_open);
        }
    }
    return settings_refuse(from, "unknown setting '%.200s'", from->name);
}

static int take_lines(struct globals *g, const char *file, bool is_open)
{
    struct origin from = {.kind = ORIGIN_FILE, .file = file};
    int rc = OPTIONS_GO_ON;
    for (char *rest = g->config; rest && rc == OPTIONS_GO_ON;) {
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
    const char *given = cli_variable("ZKR_CONFIG");
    const char *file = given ? given : "/etc/zkr.conf";
    int fd =
        open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe may have no writer */
    if (fd < 0) {
        return errno == ENOENT && !given ? OPTIONS_GO_ON : cannot_read(file, errno);
    }
    struct stat st = {.st_mode = S_IRWXO};
    (void)fstat(fd, &st);
    bool is_open = (st.st_mode & S_IRWXO) != 0;
    g->config = read_all(fd);
    int error = errno;
    (void)close(fd);
    return g->config ? take_lines(g, file, is_open) : cannot_read(file, error);
}

/* --- the environment --- */

int settings_take_rest(struct globals *g)
{
    int rc = OPTIONS_GO_ON;
    for (size_t i = 0; i < SETTINGS && rc == OPTIONS_GO_ON; i++) {
        const struct origin from = {.kind = ORIGIN_ENVIRONMENT,
                                    .name = setting_names[i].variable};
        const char *value = cli_variable(setting_names[i].variable);
        rc = value ? settings_take(g, (enum setting)i, value, &from) : OPTIONS_GO_ON;
    }
    return rc == OPTIONS_GO_ON ? take_file(g) : rc;
}
