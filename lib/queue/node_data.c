/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/node_data.h"

#include <string.h>

#include "base/mem.h"

#define HELD_SINCE "\n" ZKR__FIELD_HELD_SINCE "="

bool zkr__is_compressed(const void *data, size_t len)
{
    return len >= 2 && memcmp(data, "\x1f\x8b", 2) == 0;
}

/* Compare the end of the gzip data, which has the checksum and the length of the text. Nothing is decompressed. */
static bool is_compressed_revocation(const unsigned char *data, size_t len)
{
    enum { HEAD = 10 };
    static const unsigned char end[] = {
        0xea, 0x2c, 0x89, 0xfb, sizeof(ZKR__REVOKE_DATA) - 1, 0, 0, 0};
    return len > HEAD + sizeof(end) && zkr__is_compressed(data, len) &&
           memcmp(data + len - sizeof(end), end, sizeof(end)) == 0;
}

bool zkr__is_revocation(const void *data, size_t len)
{
    return (len == sizeof(ZKR__REVOKE_DATA) - 1 &&
            memcmp(data, ZKR__REVOKE_DATA, len) == 0) ||
           is_compressed_revocation(data, len);
}

struct zkr__seen *zkr__seen_of(const struct zkr__answer *answer)
{
    size_t len =
        answer->data && answer->data_len <= ZKR__SEEN_MAX ? answer->data_len : 0;
    struct zkr__seen *seen =
        answer->code == ZKR_OK ? zkr__mem_alloc(sizeof(*seen) + len) : NULL;
    if (seen) {
        *seen = (struct zkr__seen){.owner = answer->owner,
                                   .created_ms = answer->created_ms,
                                   .czxid = answer->czxid,
                                   .holds = zkr__has_metadata(answer->data, len),
                                   .data_len = (unsigned)len};
    }
    if (seen && len > 0) {
        memcpy(seen->data, answer->data, len);
    }
    return seen;
}

bool zkr__has_metadata(const void *data, size_t len)
{
    const char *text = data;
    bool found = false;
    for (size_t i = 0; !found && i + sizeof(HELD_SINCE) - 1 <= len; i++) {
        found = memcmp(text + i, HELD_SINCE, sizeof(HELD_SINCE) - 1) == 0;
    }
    return found;
}
