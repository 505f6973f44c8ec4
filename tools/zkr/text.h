/* SPDX-License-Identifier: Apache-2.0 */
/* Makes text from other clients safe for a terminal. */
#ifndef ZKR_CLI_TEXT_H
#define ZKR_CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * Decodes one UTF-8 character at @s. Returns its length in bytes, or 0 if it is overlong, a surrogate, truncated, or
 * not UTF-8 at all.
 */
size_t text_decode(const char *s, uint32_t *point);
/** Writes @s with '?' for each unprintable byte or character, and then spaces up to @width. */
void text_print(FILE *out, const char *s, int width);
/** Writes @s like text_print(), but in at most @width columns. A longer text ends in "...". */
void text_cell(FILE *out, const char *s, int width);
/** Writes @label, then @s as text_print() does, and a newline. */
void text_line(FILE *out, const char *label, const char *s);
/** Replaces control characters with spaces and other unprintable bytes with '?', in place. */
void text_clean(char *s);
/**
 * Raises *width to the number of columns that text_print() needs for @s, but at most to @most. Counts one column for
 * each character.
 */
void text_widen(int *width, const char *s, int most);
/** Writes an age such as "3s", "2m05s", "4h07m" or "9d02h". */
void text_age(char *buf, size_t size, int64_t ms);

#endif
