/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zkr/version.h>

#include "cli.h"

int options_refuse(const char *subcommand, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return cli_fail(CLI_USAGE, "%s; see 'zkr%s%s --help'", text, *subcommand ? " " : "",
                    subcommand);
}

/* Wipes a secret from where ps shows it: what follows the @nth @mark. */
static void wipe(char *argument, char mark, int nth)
{
    for (; argument && nth > 0; nth--) {
        argument = strchr(argument, mark);
        argument = argument ? argument + 1 : NULL;
    }
    if (argument) {
        memset(argument, 'x', strlen(argument));
    }
}

/* An option without its value, which may be a secret. */
static int name_length(const char *word)
{
    return (int)strcspn(word, "=");
}

static int refuse_option(int option, char **argv, const char *subcommand)
{
    const char *word = argv[optind > 0 ? optind - 1 : 0];
    bool is_long = strncmp(word, "--", 2) == 0;
    if (option == ':') {
        return is_long ? options_refuse(subcommand, "%s needs an argument", word)
                       : options_refuse(subcommand, "-%c needs an argument", optopt);
    }
    if (optopt > 0 && optopt < OPTION_CONNECT_TIMEOUT && !is_long) {
        return options_refuse(subcommand, "unknown option -%c", optopt);
    }
    return options_refuse(subcommand, "unknown option %.*s, or it takes no argument",
                          name_length(word), word);
}

static int take_setting(struct globals *g,
                        enum setting setting,
                        const char *name,
                        const char *subcommand)
{
    const struct origin from = {
        .kind = ORIGIN_COMMAND, .name = name, .subcommand = subcommand};
    int rc = settings_take(g, setting, optarg, &from);
    if (setting == SETTING_AUTH) {
        wipe(optarg, ':', 1);
    } else if (setting == SETTING_TLS) {
        wipe(optarg, ',', TLS_FILES);
    }
    return rc;
}

int options_take(struct globals *g, int option, char **argv, const char *usage)
{
    const char *subcommand = strcmp(argv[0], "zkr") == 0 ? "" : argv[0];
    switch (option) {
    case 'z':
        return take_setting(g, SETTING_SERVERS, "-z", subcommand);
    case 't':
        return take_setting(g, SETTING_SESSION, "-t", subcommand);
    case OPTION_CONNECT_TIMEOUT:
        return take_setting(g, SETTING_CONNECT, "--connect-timeout", subcommand);
    case OPTION_AUTH:
        return take_setting(g, SETTING_AUTH, "--auth", subcommand);
    case OPTION_AUTH_FILE:
        return take_setting(g, SETTING_AUTH_FILE, "--auth-file", subcommand);
    case OPTION_ACL:
        return take_setting(g, SETTING_ACL, "--acl", subcommand);
    case OPTION_TLS:
        return take_setting(g, SETTING_TLS, "--tls", subcommand);
    case 'v':
        g->log_level = g->log_level == 0 ? ZKR_LOG_INFO : ZKR_LOG_DEBUG;
        g->verbose = true;
        return OPTIONS_GO_ON;
    case OPTION_VERBOSE:
        g->verbose = true;
        return OPTIONS_GO_ON;
    case 'h':
        (void)fputs(usage, stdout);
        return cli_flush();
    case 'V':
        (void)printf("zkr %s\n", zkr_version());
        return cli_flush();
    default:
        return refuse_option(option, argv, subcommand);
    }
}

/* --- PATH --- */

int options_check_path(const struct globals *g, const char *path)
{
    static const char own[] = "/zookeeper";
    size_t length = strlen(path);
    if (path[0] != '/') {
        return cli_fail(CLI_PATH, "a path starts with /: '%.1000s' does not", path);
    }
    if (length == 1) {
        return cli_fail(CLI_PATH, "/ cannot be a lock; use a path below it");
    }
    if (path[length - 1] == '/') {
        return cli_fail(CLI_PATH, "leave out the / at the end of '%.1000s'", path);
    }
    const char *chroot = strchr(g->servers, '/');
    bool at_root = !chroot || chroot[1] == '\0';
    if (at_root && strncmp(path, own, sizeof(own) - 1) == 0 &&
        (path[sizeof(own) - 1] == '/' || path[sizeof(own) - 1] == '\0')) {
        return cli_fail(CLI_PATH,
                        "%.1000s: paths below /zookeeper belong to the servers; use "
                        "another path",
                        path);
    }
    return OPTIONS_GO_ON;
}

bool options_is_late(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && strcmp(word, "--") != 0;
}

int options_refuse_late(const char *subcommand, const char *word)
{
    return options_refuse(subcommand, "options come before PATH: '%.*s'",
                          name_length(word), word);
}

int options_alone(const char *subcommand, char *const *operands)
{
    if (!operands[0]) {
        return options_refuse(subcommand, "which PATH?");
    }
    if (operands[1]) {
        return options_is_late(operands[1])
                   ? options_refuse_late(subcommand, operands[1])
                   : options_refuse(subcommand, "one PATH, please");
    }
    return OPTIONS_GO_ON;
}
