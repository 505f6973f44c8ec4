/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

static size_t length_of(unsigned char first)
{
    return first < 0x80                    ? 1
           : first >= 0xc2 && first < 0xe0 ? 2
           : first >= 0xe0 && first < 0xf0 ? 3
           : first >= 0xf0 && first < 0xf5 ? 4
                                           : 0;
}

size_t text_decode(const char *s, uint32_t *point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)s[0];
    size_t length = length_of(first);
    uint32_t value = length > 1 ? first & (0x7fU >> length) : first;
    for (size_t i = 1; i < length; i++) {
        unsigned char next = (unsigned char)s[i];
        if ((next & 0xc0) != 0x80) {
            return 0;
        }
        value = value << 6 | (next & 0x3fU);
    }
    if (length == 0 || value < least[length] || value > 0x10ffff ||
        (value >= 0xd800 && value <= 0xdfff)) {
        return 0;
    }
    *point = value;
    return length;
}

/* Returns whether the character is neither a control character nor one that changes the direction of text. */
static bool is_printable(uint32_t point)
{
    return point >= 0x20 && !(point >= 0x7f && point < 0xa0) && point != 0x61c &&
           point != 0x200e && point != 0x200f &&
           !(point >= 0x2028 && point <= 0x202e) &&
           !(point >= 0x2066 && point <= 0x2069);
}

/* Returns the number of bytes in the next column. Sets *shown if they are printable. */
static size_t next_column(const char *s, bool *shown)
{
    uint32_t point = 0;
    size_t length = text_decode(s, &point);
    *shown = length > 0 && is_printable(point);
    return length > 0 ? length : 1;
}

void text_widen(int *width, const char *s, int most)
{
    int columns = 0;
    bool shown;
    for (; *s && columns < most; columns++) {
        s += next_column(s, &shown);
    }
    *width = columns > *width ? columns : *width;
}

/* Prints at most @most columns. Returns the number of columns. */
static int print_columns(FILE *out, const char *s, int most)
{
    int columns = 0;
    for (; *s && columns < most; columns++) {
        bool shown;
        size_t length = next_column(s, &shown);
        (void)fwrite(shown ? s : "?", 1, shown ? length : 1, out);
        s += length;
    }
    return columns;
}

void text_print(FILE *out, const char *s, int width)
{
    int rest = width - print_columns(out, s, INT_MAX);
    if (rest > 0) {
        (void)fprintf(out, "%*s", rest, "");
    }
}

void text_cell(FILE *out, const char *s, int width)
{
    static const char dots[] = "...";
    int columns = 0;
    text_widen(&columns, s, width + 1);
    if (columns > width) {
        (void)print_columns(out, s, width - (int)strlen(dots));
        (void)fputs(dots, out);
    } else {
        text_print(out, s, width);
    }
}

void text_line(FILE *out, const char *label, const char *s)
{
    (void)fputs(label, out);
    text_print(out, s, 0);
    (void)fputc('\n', out);
}

void text_clean(char *s)
{
    while (*s) {
        bool shown, control = (unsigned char)*s < ' ' || *s == 0x7f;
        size_t length = next_column(s, &shown);
        if (!shown) {
            memset(s, control ? ' ' : '?', length);
        }
        s += length;
    }
}

void text_age(char *buf, size_t size, int64_t ms)
{
    int64_t s = ms < 0 ? 0 : ms / 1000;
    int64_t m = s / 60, h = m / 60, d = h / 24;
    if (m == 0) {
        (void)snprintf(buf, size, "%" PRId64 "s", s);
    } else if (h == 0) {
        (void)snprintf(buf, size, "%" PRId64 "m%02" PRId64 "s", m, s % 60);
    } else if (d == 0) {
        (void)snprintf(buf, size, "%" PRId64 "h%02" PRId64 "m", h, m % 60);
    } else {
        (void)snprintf(buf, size, "%" PRId64 "d%02" PRId64 "h", d, h % 24);
    }
}
