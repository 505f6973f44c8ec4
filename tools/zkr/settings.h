/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of all subcommands, from a file, the environment or the command line. */
#ifndef ZKR_CLI_SETTINGS_H
#define ZKR_CLI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access.h"

enum setting {
    SETTING_SERVERS,
    SETTING_SESSION,
    SETTING_CONNECT,
    SETTING_AUTH,
    SETTING_AUTH_FILE,
    SETTING_ACL,
    SETTING_TLS,
    SETTINGS
};

/** The names of a setting. */
struct setting_name {
    const char *variable; /* in the environment and in the file */
    const char *name;     /* the long option, without dashes */
    int letter;           /* the short option; 0 = none */
    const char *option;   /* for messages */
};
extern const struct setting_name setting_names[SETTINGS];
/** Where a setting was given. A later kind overrides an earlier one. */
enum origin_kind { ORIGIN_FILE = 1, ORIGIN_ENVIRONMENT, ORIGIN_COMMAND };

struct origin {
    enum origin_kind kind;
    const char *name;       /* name of the setting there, for example "-t" */
    const char *subcommand; /* for ORIGIN_COMMAND; "" = before the subcommand */
    const char *file;       /* for ORIGIN_FILE */
    int line;
};

/** The settings, and the rest of the command line. The struct must not be moved, because command may point into it. */
struct globals {
    /* Text of the file, into which other members point. */
    char *config;
    enum origin_kind from[SETTINGS]; /* where each setting was given; 0 = not yet */
    const char *servers;
    struct origin servers_from;
    int64_t session_ms; /* 0 = the library's default */
    int64_t connect_ms;
    bool connect_given; /* connect_ms was given, and is not the default */
    char *tls_cert;     /* NULL = no TLS */
    struct auth auth;
    struct acl acl;
    int log_level; /* 0 = no log */
    bool verbose;

    const char *subcommand; /* "" = not known yet */
    int argc;               /* for getopt_long() */
    char **argv;
    bool several; /* there are several PATHs, up to "--" */
    bool alone;   /* PATH has no COMMAND, and options may follow it */
    const char *path;
    char **paths; /* all words that are paths; the first is path */
    size_t path_count;
    char **command;   /* NULL: none */
    const char *text; /* text of a -c before PATH; NULL = none */
    char *shell[4];   /* the command for -c */
};

/** Number of files in the TLS setting. A password may follow them. */
enum { TLS_FILES = 3 };

/** Returned instead of an exit code if the caller must continue. */
enum { GO_ON = -1 };

void settings_begin(struct globals *g);
void settings_end(struct globals *g);

/**
 * Takes one setting. The command line overrides the environment, which overrides the file. An overridden value is not
 * even checked. @value is borrowed for as long as @g is used, but secrets are copied. Returns GO_ON or a reported exit
 * code.
 */
int settings_take(struct globals *g,
                  enum setting setting,
                  const char *value,
                  const struct origin *from);

/**
 * Takes the settings of the environment, and then those of the file, /etc/zkr.conf or $ZKR_CONFIG. Called after the
 * command line was parsed. Returns GO_ON or a reported exit code.
 */
int settings_take_rest(struct globals *g);
/** Reports a wrong setting, and where it was given. Returns CLI_USAGE. */
int settings_refuse(const struct origin *from, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
