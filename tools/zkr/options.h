/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: the options of a subcommand, PATH and COMMAND. */
#ifndef ZKR_CLI_OPTIONS_H
#define ZKR_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "settings.h"

/** One option of a subcommand. */
struct option_row {
    const char *name; /* long name, without dashes; NULL = none */
    int letter;       /* 0 = none */
    /*
     * Takes the value, or NULL for an option without one. Returns false if the value is wrong. If take is NULL, the
     * option is refused.
     */
    bool (*take)(void *to, char *value);
    void *to;
    /* For messages: the value, or why it is refused; NULL = no value. */
    const char *needs;
};
#define OPTIONS_END                                                                    \
    {                                                                                  \
        .name = NULL                                                                   \
    }

/** A combination of options that is refused if @is is set. */
struct option_fault {
    bool is;
    const char *text; /* the message */
};
#define OPTION_FAULTS_END                                                              \
    {                                                                                  \
        .text = NULL                                                                   \
    }

/** An integer from @least to @most. */
struct option_range {
    int64_t *to, least, most;
};

/** Functions for take. @to points to a bool, a const char *, an int64_t in milliseconds, or a struct option_range. */
bool option_on(void *to, char *value);
bool option_off(void *to, char *value);
bool option_text(void *to, char *value);
bool option_seconds(void *to, char *value);
bool option_int(void *range, char *value);
/** Takes the name or number of a signal. @to points to an int. */
bool option_signal(void *to, char *value);
/** Reports "zkr: X; see 'zkr SUBCOMMAND --help'". Returns CLI_USAGE. */
#define options_refuse(g, ...)                                                         \
    settings_refuse(                                                                   \
        &(const struct origin){.kind = ORIGIN_COMMAND, .subcommand = (g)->subcommand}, \
        __VA_ARGS__)

/**
 * Takes all options: those in @rows, and those that all subcommands share. Sets optind to the first word after them.
 * Like all functions below, returns GO_ON or a reported exit code.
 */
int options_take(struct globals *g, const char *usage, const struct option_row *rows);
/** Refuses the command line with the text of the first fault that has @is set. */
int options_check(const struct globals *g, const struct option_fault *faults);
/** Takes all options, and then g->path, which must be the last word. It may be missing if g->path is already set. */
int options_path(struct globals *g, const char *usage, const struct option_row *rows);
/**
 * Takes all options, and then PATH and an optional COMMAND. An option can set g->several, for several paths, or
 * g->alone, for no COMMAND.
 */
int options_command(struct globals *g, const char *usage, const struct option_row *r);
/** Takes the settings of the environment and of the file, and then checks that g->path can be locked. */
int options_settle(struct globals *g);
int options_check_path(const struct globals *g, const char *path);

#endif
