/* SPDX-License-Identifier: Apache-2.0 */
/* Text that others wrote, made safe for a terminal, and as JSON on one line. */
#ifndef ZKR_CLI_TEXT_H
#define ZKR_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * Decodes one character of UTF-8 at @s. Returns its length in bytes; 0 when it is overlong, a surrogate, cut
 * off, or not UTF-8 at all.
 */
size_t text_decode(const char *s, uint32_t *point);
/** Writes @s with '?' for each unprintable byte or character, then spaces up to @width. */
void text_print(FILE *out, const char *s, int width);
/** The same in @width columns at most: a longer text ends in "...". */
void text_cell(FILE *out, const char *s, int width);
/** @label, the text of @s, and the end of the line. */
void text_line(FILE *out, const char *label, const char *s);
/** Replaces in place: control characters by spaces, other unprintable bytes by '?'. */
void text_clean(char *s);
/** Makes *width what text_print() needs for @s, if no character is double-wide, but at most @most. */
void text_widen(int *width, const char *s, int most);
/** An age such as "3s", "2m05s", "4h07m" or "9d02h". */
void text_age(char *buf, size_t size, int64_t ms);

/* A writer of JSON, which adds commas; the caller closes all brackets. @key: NULL in an array. */
struct json {
    FILE *out;
    bool comma; /* before the next value */
};

/** A line of the output: an object, whose first member is "path". */
void json_begin(struct json *j, const char *path);
void json_end(struct json *j);
/** @bracket: '{' or '['. */
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
/** @text: any bytes; those that are not UTF-8 become U+FFFD, control characters are escaped. NULL: null. */
void json_text(struct json *j, const char *key, const char *text);

void json_bool(struct json *j, const char *key, bool value);
void json_int(struct json *j, const char *key, int64_t value);
/** The value, or null if not @known. */
void json_number(struct json *j, const char *key, bool known, int64_t value);
/** A session id, as a string "0x...": 64 bits are too many for some readers. */
void json_session(struct json *j, bool known, int64_t id);

#endif
