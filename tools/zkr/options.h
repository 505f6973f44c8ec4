/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: the options of a subcommand, PATH and COMMAND. */
#ifndef ZKR_CLI_OPTIONS_H
#define ZKR_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

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

/** Options that do not go together. */
struct option_fault {
    bool is;
    const char *text; /* why they do not */
};
#define OPTION_FAULTS_END                                                              \
    {                                                                                  \
        .text = NULL                                                                   \
    }

/** An integer from @least to @most. */
struct option_range {
    int64_t *to, least, most;
};

/** For take, with a target of: bool, set to true or false; const char *; int64_t, in milliseconds; struct option_range. */
bool option_on(void *to, char *value);
bool option_off(void *to, char *value);
bool option_text(void *to, char *value);
bool option_seconds(void *to, char *value);
bool option_int(void *range, char *value);
/** The same, with an int: a signal. */
bool option_signal(void *to, char *value);
/** "zkr: X; see 'zkr SUBCOMMAND --help'" and CLI_USAGE. */
#define options_refuse(g, ...)                                                         \
    settings_refuse(                                                                   \
        &(const struct origin){.kind = ORIGIN_COMMAND, .subcommand = (g)->subcommand}, \
        __VA_ARGS__)

/**
 * Takes all options, those of @rows and those of all subcommands; optind is then at the first word behind them. Returns
 * GO_ON or an exit code, reported, like all that follow.
 */
int options_take(struct globals *g, const char *usage, const struct option_row *rows);
/** Refuses the first fault that there is. */
int options_check(const struct globals *g, const struct option_fault *faults);
/** options_take(), and then g->path, with nothing behind it. It may be left out if it is set before. */
int options_path(struct globals *g, const char *usage, const struct option_row *rows);
/** The same, and then what g->several and g->alone, set by an option, ask for; else g->path and perhaps g->command. */
int options_command(struct globals *g, const char *usage, const struct option_row *r);
/** Takes the settings of the environment and the file, then checks that g->path can be locked. */
int options_settle(struct globals *g);
int options_check_path(const struct globals *g, const char *path);

#endif
