/* SPDX-License-Identifier: Apache-2.0 */
/* The options that every subcommand understands, also before its name. */
#ifndef ZKR_CLI_OPTIONS_H
#define ZKR_CLI_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkr/client.h>

struct globals {
    const char *servers;
    int64_t session_ms; /* 0 = the library's default */
    int64_t connect_ms;
    bool connect_given; /* it is not the default */
    char *auth_scheme;  /* NULL = none */
    char *auth_cert;
    size_t auth_cert_len;
    const char *tls_cert; /* NULL = no TLS */
    int log_level;        /* 0 = no log */
    bool verbose;
};

/** Codes of the options that have no letter. A subcommand's own ones start at OPTION_OWN. */
enum {
    OPTION_CONNECT_TIMEOUT = 256,
    OPTION_AUTH,
    OPTION_TLS,
    OPTION_VERBOSE,
    OPTION_OWN
};

/** For getopt_long(): their letters, and the rows of their table. */
#define OPTIONS_LETTERS "z:t:vhV"
#define OPTIONS_ROWS                                                                   \
    {"servers", required_argument, NULL, 'z'},                                         \
        {"session-timeout", required_argument, NULL, 't'},                             \
        {"connect-timeout", required_argument, NULL, OPTION_CONNECT_TIMEOUT},          \
        {"auth", required_argument, NULL, OPTION_AUTH},                                \
        {"tls", required_argument, NULL, OPTION_TLS},                                  \
        {"verbose", no_argument, NULL, OPTION_VERBOSE},                                \
        {"help", no_argument, NULL, 'h'},                                              \
    {                                                                                  \
        "version", no_argument, NULL, 'V'                                              \
    }

void globals_begin(struct globals *g);

/** The caller goes on with the next option. */
enum { OPTIONS_GO_ON = -1 };

/**
 * What a subcommand does not know itself: a global option, or a mistake, as returned by getopt_long(). Returns OPTIONS_GO_ON or
 * an exit code.
 */
int globals_take(struct globals *g, int option, char **argv, const char *usage);

/** "zkr: X; try 'zkr SUBCOMMAND --help'" and CLI_USAGE. */
int options_refuse(const char *subcommand, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void globals_end(struct globals *g);

#endif
