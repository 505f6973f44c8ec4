/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zkr/version.h>

#include "cli.h"

void globals_begin(struct globals *g)
{
    enum { CONNECT_MS = 15000 };
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet */
    const char *servers = getenv("ZKR_SERVERS");
    *g = (struct globals){.connect_ms = CONNECT_MS};
    g->servers = servers && *servers ? servers : "127.0.0.1:2181";
}

void globals_end(struct globals *g)
{
    if (g->auth_cert) {
        explicit_bzero(g->auth_cert, g->auth_cert_len);
    }
    free(g->auth_scheme);
    free(g->auth_cert);
}

int options_refuse(const char *subcommand, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return cli_fail(CLI_USAGE, "%s; 'zkr%s%s --help' shows what there is", text,
                    *subcommand ? " " : "", subcommand);
}

/* Copies "scheme:credentials" and wipes the latter from the argument, where ps shows it. */
static int take_auth(struct globals *g, char *argument, const char *subcommand)
{
    char *colon = strchr(argument, ':');
    if (!colon || colon == argument) {
        return options_refuse(subcommand, "--auth wants SCHEME:CREDENTIALS");
    }
    char *cert = colon + 1;
    globals_end(g);
    g->auth_cert_len = strlen(cert);
    g->auth_scheme = strndup(argument, (size_t)(colon - argument));
    g->auth_cert = strdup(cert);
    memset(cert, 'x', g->auth_cert_len);
    return g->auth_scheme && g->auth_cert ? OPTIONS_GO_ON
                                          : cli_fail(CLI_INTERNAL, "out of memory");
}

static int take_session(struct globals *g, const char *argument, const char *subcommand)
{
    return cli_parse_int(argument, 1, INT32_MAX, &g->session_ms)
               ? OPTIONS_GO_ON
               : options_refuse(subcommand, "-t wants milliseconds, not '%s'",
                                argument);
}

static int take_connect(struct globals *g, const char *argument, const char *subcommand)
{
    if (!cli_parse_seconds(argument, &g->connect_ms) || g->connect_ms == 0) {
        return options_refuse(subcommand,
                              "--connect-timeout wants seconds, more than 0, not '%s'",
                              argument);
    }
    g->connect_given = true;
    return OPTIONS_GO_ON;
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
        return options_refuse(subcommand, "there is no option -%c", optopt);
    }
    return options_refuse(subcommand, "there is no option %s, or it takes no argument",
                          word);
}

int globals_take(struct globals *g, int option, char **argv, const char *usage)
{
    const char *subcommand = strcmp(argv[0], "zkr") == 0 ? "" : argv[0];
    switch (option) {
    case 'z':
        g->servers = optarg;
        return OPTIONS_GO_ON;
    case 't':
        return take_session(g, optarg, subcommand);
    case OPTION_CONNECT_TIMEOUT:
        return take_connect(g, optarg, subcommand);
    case OPTION_AUTH:
        return take_auth(g, optarg, subcommand);
    case OPTION_TLS:
        g->tls_cert = optarg;
        return OPTIONS_GO_ON;
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
