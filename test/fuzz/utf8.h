/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 by RFC 3629 and table 3-7 of Unicode, implemented independently of the decoders under test. */
#ifndef ZKT_FUZZ_UTF8_H
#define ZKT_FUZZ_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Returns the length of the character at @text, which ends with a zero, or 0 if there is no valid character. */
static inline size_t utf8_point(const char *text, uint32_t *point)
{
    static const struct {
        uint8_t first, last; /* of the first byte */
        uint8_t second_from, second_to;
        size_t length;
    } rows[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2},
        {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
        {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    const uint8_t *p = (const uint8_t *)text;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (p[0] < rows[i].first || p[0] > rows[i].last) {
            continue;
        }
        size_t length = rows[i].length;
        uint32_t value = length == 1 ? p[0] : p[0] & (0xffU >> (length + 1));
        for (size_t j = 1; j < length; j++) {
            uint8_t from = j == 1 ? rows[i].second_from : 0x80;
            uint8_t to = j == 1 ? rows[i].second_to : 0xbf;
            if (p[j] < from || p[j] > to) {
                return 0;
            }
            value = value * 64 + (p[j] - 0x80U);
        }
        *point = value;
        return length;
    }
    return 0;
}

#endif
