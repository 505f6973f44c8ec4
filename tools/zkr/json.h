/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON on one line. */
#ifndef ZKR_CLI_JSON_H
#define ZKR_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** A writer that adds the commas. The caller closes all brackets. In an array, the @key of a value is NULL. */
struct json {
    FILE *out;
    bool comma; /* a comma is needed before the next value */
};

/** Begins a line of output, which is an object whose first member is "path". */
void json_begin(struct json *j, const char *path);
void json_end(struct json *j);
/** @bracket is '{' or '['. */
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
/**
 * @text may have any bytes. Bytes that are not UTF-8 become U+FFFD, and control characters are escaped. If @text is
 * NULL, writes null.
 */
void json_text(struct json *j, const char *key, const char *text);

void json_bool(struct json *j, const char *key, bool value);
void json_int(struct json *j, const char *key, int64_t value);
/** Writes @value, or null if it is not @known. */
void json_number(struct json *j, const char *key, bool known, int64_t value);
/** Writes a session ID as a string "0x...", because 64 bits are too many for some readers. */
void json_session(struct json *j, bool known, int64_t id);

#endif
