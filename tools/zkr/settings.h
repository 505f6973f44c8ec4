/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for all subcommands, wherever it is said: a file, the environment, the command line. */
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

/** How each is called. */
struct setting_name {
    const char *variable; /* in the environment and in the file */
    const char *name;     /* of the long option */
    int letter;           /* of the short one, 0 = there is none */
    const char *option;   /* in messages */
};
extern const struct setting_name setting_names[SETTINGS];

/** Where a setting is said; the nearest to the command counts. */
enum origin_kind { ORIGIN_FILE = 1, ORIGIN_ENVIRONMENT, ORIGIN_COMMAND };

struct origin {
    enum origin_kind kind;
    const char *name;       /* as it is called there, such as "-t" */
    const char *subcommand; /* of ORIGIN_COMMAND; "" = ahead of it */
    const char *file;       /* of ORIGIN_FILE */
    int line;
};

struct globals {
    char *config;                    /* text of the file, into which others point */
    enum origin_kind said[SETTINGS]; /* the nearest that said it yet, 0 = none has */
    const char *servers;
    struct origin servers_from;
    int64_t session_ms; /* 0 = the library's default */
    int64_t connect_ms;
    bool connect_given; /* it is not the default */
    char *tls_cert;     /* NULL = no TLS */
    struct auth auth;
    struct acl acl;
    int log_level; /* 0 = no log */
    bool verbose;
};

/** In what is said of TLS, the names of so many files; a password may follow. */
enum { TLS_FILES = 3 };

/** The caller goes on with the next option. */
enum { OPTIONS_GO_ON = -1 };

void settings_begin(struct globals *g);
void settings_end(struct globals *g);

/**
 * Takes one; the nearest come first, and one that is overridden is not even looked at. @value: borrowed for as long as @g
 * is used; secrets are copied. Returns OPTIONS_GO_ON or an exit code, reported.
 */
int settings_take(struct globals *g,
                  enum setting setting,
                  const char *value,
                  const struct origin *from);

/**
 * The environment, then the file, /etc/zkr.conf or $ZKR_CONFIG, which counts less; the command line has been taken.
 * Returns OPTIONS_GO_ON or an exit code, reported.
 */
int settings_take_rest(struct globals *g);

/** Says what is wrong with a setting, and where it stands. Returns CLI_USAGE. */
int settings_refuse(const struct origin *from, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
