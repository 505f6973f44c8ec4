/* SPDX-License-Identifier: Apache-2.0 */
/* Text that others wrote, made safe for a terminal and for JSON. */
#ifndef ZKR_CLI_TEXT_H
#define ZKR_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * Decodes one character of UTF-8 at @s. Returns its bytes; 0 when they are none: overlong, a surrogate, cut
 * off, not UTF-8 at all.
 */
size_t text_decode(const char *s, uint32_t *point);

/** Writes @s, each byte that is no printable character as '?', then spaces up to @width. */
void text_print(FILE *out, const char *s, int width);

/** In place: controls as spaces, all else that text_print() does not show as '?'. */
void text_clean(char *s);

/** Columns that text_print() takes, double-wide characters aside. */
int text_width(const char *s);

/** "3s", "2m05s", "4h07m", "9d02h" */
void text_age(char *buf, size_t size, int64_t ms);

#endif
