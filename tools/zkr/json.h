/* SPDX-License-Identifier: Apache-2.0 */
/* A writer of JSON on one line. Commas are its own business; balance is the caller's. */
#ifndef ZKR_CLI_JSON_H
#define ZKR_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *out;
    bool comma; /* before the next value */
};

/** @bracket: '{' or '['. */
void json_open(struct json *j, char bracket);
void json_close(struct json *j, char bracket);

/** The name of the member that follows. */
void json_key(struct json *j, const char *name);

/** @text may be anything: what is not UTF-8 becomes U+FFFD, controls are escaped. */
void json_string(struct json *j, const char *text);
void json_int(struct json *j, int64_t value);
void json_bool(struct json *j, bool value);
void json_null(struct json *j);

/** A member: null unless it is @known, NULL is not. */
void json_number(struct json *j, const char *key, bool known, int64_t value);
void json_text(struct json *j, const char *key, const char *text);

/** A session id or the like, as a string "0x...": 64 bits are too many for some readers. */
void json_hex(struct json *j, int64_t value);

#endif
