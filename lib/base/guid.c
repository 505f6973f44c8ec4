/* SPDX-License-Identifier: Apache-2.0 */
#include "base/guid.h"

#include <errno.h>
#include <stddef.h>
#include <sys/random.h>

int zkr__guid_make(char text[ZKR__GUID_LEN + 1])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char raw[16];
    if (getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw)) {
        return errno ? errno : EIO;
    }
    raw[6] = (unsigned char)((raw[6] & 0x0f) | 0x40); /* version 4 */
    raw[8] = (unsigned char)((raw[8] & 0x3f) | 0x80); /* variant 1 */
    char *to = text;
    for (size_t i = 0; i < sizeof(raw); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *to++ = '-';
        }
        *to++ = hex[raw[i] >> 4];
        *to++ = hex[raw[i] & 0x0f];
    }
    *to = '\0';
    return 0;
}
