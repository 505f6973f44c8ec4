/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: options of one subcommand or of all, PATH and COMMAND. */
#ifndef ZKR_CLI_OPTIONS_H
#define ZKR_CLI_OPTIONS_H

#include "settings.h"

/** One option of a subcommand. */
struct option_row {
    const char *name; /* long, without its dashes; NULL = there is none */
    int letter;       /* 0 = there is none */
    /* Takes the value, NULL for an option without one. False: the value is wrong. NULL: the option is always refused. */
    bool (*take)(void *to, char *value);
    void *to;
    const char *needs; /* the value, for messages, or why refused; NULL = no value */
};
#define OPTIONS_END                                                                    \
    {                                                                                  \
        .name = NULL                                                                   \
    }

/** For take, with a target of: bool, set to true or false; const char *; int64_t, in milliseconds; none. */
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

/** Checks that PATH alone follows the options. Returns OPTIONS_GO_ON or CLI_USAGE, reported. */
int options_alone(const char *subcommand, char *const *operands);

/** Takes the settings of the environment and the file, then checks that PATH can be locked. Returns like options_take(). */
int options_settle(struct globals *g, const char *path);
int options_check_path(const struct globals *g, const char *path);

/** COMMAND, or the text of -c. Must not be moved: argv may point into the structure. */
struct command {
    const char *text; /* of -c before PATH; NULL = none */
    char **argv;      /* NULL: no command */
    char *shell[4];   /* argv when -c is used */
};

/** @operands: PATH, and perhaps a command. Returns OPTIONS_GO_ON or an exit code, reported. */
int options_command(struct command *c, const char *subcommand, char **operands);

#endif
