/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: the options that every subcommand understands, also before its name, and PATH. */
#ifndef ZKR_CLI_OPTIONS_H
#define ZKR_CLI_OPTIONS_H

#include <getopt.h>

#include "settings.h"

/** Codes of the options that have no letter. A subcommand's own ones start at OPTION_OWN. */
enum {
    OPTION_CONNECT_TIMEOUT = 256,
    OPTION_AUTH,
    OPTION_AUTH_FILE,
    OPTION_ACL,
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
        {"auth-file", required_argument, NULL, OPTION_AUTH_FILE},                      \
        {"acl", required_argument, NULL, OPTION_ACL},                                  \
        {"tls", required_argument, NULL, OPTION_TLS},                                  \
        {"verbose", no_argument, NULL, OPTION_VERBOSE},                                \
        {"help", no_argument, NULL, 'h'},                                              \
    {                                                                                  \
        "version", no_argument, NULL, 'V'                                              \
    }

/**
 * What a subcommand does not know itself: a global option, or a mistake, as returned by getopt_long(). Returns OPTIONS_GO_ON or
 * an exit code.
 */
int options_take(struct globals *g, int option, char **argv, const char *usage);

/** "zkr: X; try 'zkr SUBCOMMAND --help'" and CLI_USAGE. */
int options_refuse(const char *subcommand, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Is @operands, what follows the options, PATH alone? Returns OPTIONS_GO_ON or CLI_USAGE, reported. */
int options_alone(const char *subcommand, char *const *operands);

/** Is it an option, where none may stand? */
bool options_is_late(const char *word);
int options_refuse_late(const char *subcommand, const char *word);

/** May it be locked? Returns OPTIONS_GO_ON or CLI_PATH, reported. */
int options_check_path(const struct globals *g, const char *path);

#endif
