/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: options, a subcommand's own and those that all understand, PATH and COMMAND. */
#ifndef ZKR_CLI_OPTIONS_H
#define ZKR_CLI_OPTIONS_H

#include "settings.h"

/** One option of a subcommand. */
struct option_row {
    const char *name; /* long, without its dashes; NULL = there is none */
    int letter;       /* 0 = there is none */
    /* Takes the value, NULL for an option without one. False: it is not what is needed. NULL: the option is refused. */
    bool (*take)(void *to, char *value);
    void *to;
    const char
        *needs; /* its value, for messages; NULL = it has none. Why it is refused */
};
#define OPTIONS_END                                                                    \
    {                                                                                  \
        .name = NULL                                                                   \
    }

/** For a row: to bool, which becomes true or false; to const char *; to int64_t, in milliseconds; to nothing. */
bool option_on(void *to, char *value);
bool option_off(void *to, char *value);
bool option_text(void *to, char *value);
bool option_seconds(void *to, char *value);
bool option_ignored(void *to, char *value);

/**
 * Takes all options, those of @rows and those of all subcommands; optind is then at the first word behind them. Returns
 * OPTIONS_GO_ON or an exit code, reported.
 */
int options_take(struct globals *g,
                 const char *usage,
                 const struct option_row *rows,
                 int argc,
                 char **argv);

/** "zkr: X; see 'zkr SUBCOMMAND --help'" and CLI_USAGE. */
#define options_refuse(command, ...)                                                   \
    settings_refuse(                                                                   \
        &(const struct origin){.kind = ORIGIN_COMMAND, .subcommand = (command)},       \
        __VA_ARGS__)

/** Is @operands, what follows the options, PATH alone? Returns OPTIONS_GO_ON or CLI_USAGE, reported. */
int options_alone(const char *subcommand, char *const *operands);

/** The settings that were not on the command line, then the path: may it be locked? Returns as options_take(). */
int options_settle(struct globals *g, const char *path);
int options_check_path(const struct globals *g, const char *path);

/** COMMAND, or the text of -c. It must not move: it points into itself. */
struct command {
    const char *text; /* of a -c ahead of PATH; NULL = none */
    char **argv;      /* NULL: there is none */
    char *shell[4];   /* what argv is with -c */
};

/** @operands: PATH, and perhaps a command. Returns OPTIONS_GO_ON or an exit code, reported. */
int options_command(struct command *c, const char *subcommand, char **operands);

#endif
