/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of all subcommands, the options of one, PATH and COMMAND. */
#ifndef ZKR_CLI_OPTIONS_H
#define ZKR_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zookeeper/zookeeper.jute.h>

#include <zkr/client.h>

/* --- access.c: credentials, each "scheme:cred", and the ACL of the nodes that are made --- */

/** What is wrong when memory is short. */
extern const char option_no_memory[];

struct auth {
    zkr_auth *list;
    size_t count;
};

/** Adds one. Returns NULL, or what is wrong, such as "needs SCHEME:CREDENTIALS". */
const char *auth_add(struct auth *a, const char *text);

/**
 * Adds each line of a file, except lines that are empty or start with #. Others must have no access to the file. Returns
 * NULL, or what is wrong, perhaps in @buf.
 */
const char *auth_add_file(struct auth *a, const char *file, char *buf, size_t size);
/** Wipes the credentials. */
void auth_end(struct auth *a);

struct acl {
    struct ACL_vector list; /* none: open to everyone */
    char *text;             /* list points into this copy */
};

/** "open", "creator", or SCHEME:ID:PERMS,... with PERMS of the letters crdwa. Returns like auth_add(). */
const char *acl_take(struct acl *a, const char *text);
/** Does the ACL need credentials of this client? */
bool acl_needs_auth(const struct acl *a);

void acl_end(struct acl *a);

/* --- settings.c: from a file, the environment or the command line --- */

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
    const char *name;     /* of the long option */
    int letter;           /* of the short one, 0 = there is none */
    const char *option;   /* in messages */
};
extern const struct setting_name setting_names[SETTINGS];
/** Where a setting is given. A later kind overrides an earlier one. */
enum origin_kind { ORIGIN_FILE = 1, ORIGIN_ENVIRONMENT, ORIGIN_COMMAND };

struct origin {
    enum origin_kind kind;
    const char *name;       /* of the setting there, such as "-t" */
    const char *subcommand; /* of ORIGIN_COMMAND; "" = before the subcommand */
    const char *file;       /* of ORIGIN_FILE */
    int line;
};

/** The settings, and the rest of the command line. Must not be moved: command may point into it. */
struct globals {
    char *config;                    /* text of the file; other members point into it */
    enum origin_kind from[SETTINGS]; /* where each was given, 0 = nowhere yet */
    const char *servers;
    struct origin servers_from;
    int64_t session_ms; /* 0 = the library's default */
    int64_t connect_ms;
    bool connect_given; /* connect_ms is not the default */
    char *tls_cert;     /* NULL = no TLS */
    struct auth auth;
    struct acl acl;
    int log_level; /* 0 = no log */
    bool verbose;

    const char *subcommand; /* "" = not known yet */
    int argc;               /* of what getopt_long() reads */
    char **argv;
    bool several; /* PATH... up to "--", instead of one */
    bool alone;   /* PATH without COMMAND: options may follow it */
    const char *path;
    char **paths; /* the words that are the paths; the first is path */
    size_t path_count;
    char **command;   /* NULL: none */
    const char *text; /* of -c before PATH; NULL = none */
    char *shell[4];   /* the command when -c is used */
};

/** The TLS setting names so many files; a password may follow. */
enum { TLS_FILES = 3 };

/** The caller goes on with the next option. */
enum { OPTIONS_GO_ON = -1 };

void settings_begin(struct globals *g);
void settings_end(struct globals *g);

/**
 * Takes one setting. The command line comes first, then the environment, then the file; an overridden value is not even
 * checked. @value: borrowed for as long as @g is used; secrets are copied. Returns OPTIONS_GO_ON or an exit code, reported.
 */
int settings_take(struct globals *g,
                  enum setting setting,
                  const char *value,
                  const struct origin *from);

/**
 * After the command line: takes the environment, then the file, /etc/zkr.conf or $ZKR_CONFIG. Returns OPTIONS_GO_ON or an
 * exit code, reported.
 */
int settings_take_rest(struct globals *g);
/** Reports what is wrong with a setting, and where the setting is given. Returns CLI_USAGE. */
int settings_refuse(const struct origin *from, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- options.c: the command line --- */

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
/** "zkr: X; see 'zkr SUBCOMMAND --help'" and CLI_USAGE. */
#define options_refuse(g, ...)                                                         \
    settings_refuse(                                                                   \
        &(const struct origin){.kind = ORIGIN_COMMAND, .subcommand = (g)->subcommand}, \
        __VA_ARGS__)

/**
 * Takes all options, those of @rows and those of all subcommands; optind is then at the first word behind them. Returns
 * OPTIONS_GO_ON or an exit code, reported, like all that follow.
 */
int options_take(struct globals *g, const char *usage, const struct option_row *rows);
/** The same, and then g->path, with nothing behind it. It may be left out if it is set before. */
int options_path(struct globals *g, const char *usage, const struct option_row *rows);
/** The same, and then what g->several and g->alone, set by an option, ask for; else g->path and perhaps g->command. */
int options_command(struct globals *g, const char *usage, const struct option_row *r);
/** Takes the settings of the environment and the file, then checks that g->path can be locked. */
int options_settle(struct globals *g);
int options_check_path(const struct globals *g, const char *path);

#endif
