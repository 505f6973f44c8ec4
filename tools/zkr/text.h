/* SPDX-License-Identifier: Apache-2.0 */
/* Text that others wrote, made safe for a terminal. */
#ifndef ZKR_CLI_TEXT_H
#define ZKR_CLI_TEXT_H

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

#endif
