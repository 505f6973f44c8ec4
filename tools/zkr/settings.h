/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for all subcommands, wherever it is said: a file, the environment, the command line. */
#ifndef ZKR_CLI_SETTINGS_H
#define ZKR_CLI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkr/client.h>

#include "acl.h"
#include "auth.h"

struct globals {
    char *
        config; /* the text of the file, into which others point; NULL = there is none */
    const char *servers;
    int64_t session_ms; /* 0 = the library's default */
    int64_t connect_ms;
    bool connect_given;   /* it is not the default */
    const char *tls_cert; /* NULL = no TLS */
    struct auth auth;
    struct acl acl;
    int log_level; /* 0 = no log */
    bool verbose;
};

enum setting {
    SETTING_SERVERS,
    SETTING_SESSION,
    SETTING_CONNECT,
    SETTING_AUTH,
    SETTING_AUTH_FILE,
    SETTING_ACL,
    SETTING_TLS
};

/** Where a setting is said; the later counts. */
enum origin_kind { ORIGIN_FILE = 1, ORIGIN_ENVIRONMENT, ORIGIN_COMMAND };

struct origin {
    enum origin_kind kind;
    const char *name;       /* as it is called there, such as "-t" */
    const char *subcommand; /* of ORIGIN_COMMAND; "" = ahead of it */
    const char *file;       /* of ORIGIN_FILE */
    int line;
};

/** The caller goes on with the next option. */
enum { OPTIONS_GO_ON = -1 };

/**
 * Takes one. @value: borrowed for as long as @g is used; credentials are copied. Returns OPTIONS_GO_ON or an exit code,
 * reported.
 */
int settings_take(struct globals *g,
                  enum setting setting,
                  const char *value,
                  const struct origin *from);

/** Says what is wrong with a setting, and where it stands. Returns CLI_USAGE. */
int settings_refuse(const struct origin *from, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void settings_begin(struct globals *g);
void settings_end(struct globals *g);

#endif
