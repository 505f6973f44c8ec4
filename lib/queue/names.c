/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/names.h"

#include <stdio.h>
#include <string.h>

enum { DIGITS = 10 };

static const char *const prefixes[ZKR__NAME_OTHER] = {
    [ZKR__NAME_LOCK] = "lock-",     [ZKR__NAME_READ] = "__READ__",
    [ZKR__NAME_WRITE] = "__WRIT__", [ZKR__NAME_LATCH] = "latch-",
    [ZKR__NAME_LEASE] = "lease-",
};

void zkr__name_make(char *out,
                    enum zkr__name_kind kind,
                    const char guid[ZKR__GUID_LEN + 1])
{
    (void)snprintf(out, ZKR__NAME_ROOM, ZKR__PROTECTED "%s-%s", guid, prefixes[kind]);
}

enum { PROTECTED = sizeof(ZKR__PROTECTED) - 1 };

bool zkr__name_is_protected(const char *name, enum zkr__name_kind kind)
{
    int64_t number;
    return strncmp(name, ZKR__PROTECTED, PROTECTED) == 0 && kind != ZKR__NAME_OTHER &&
           zkr__name_grew(name, name, kind, &number);
}

_Static_assert(sizeof("__READ__") == sizeof("__WRIT__"), "turned in place");

void zkr__name_turn(char *name, enum zkr__name_kind kind)
{
    size_t prefix_len = strlen(prefixes[kind]);
    memcpy(name + strlen(name) - DIGITS - prefix_len, prefixes[kind], prefix_len);
}

/* Returns the kind of the prefix at the end of the first @len bytes of @name. */
static enum zkr__name_kind kind_of(const char *name, size_t len)
{
    for (size_t kind = 0; kind < ZKR__NAME_OTHER; kind++) {
        size_t prefix_len = strlen(prefixes[kind]);
        if (len >= prefix_len &&
            memcmp(name + len - prefix_len, prefixes[kind], prefix_len) == 0) {
            return (enum zkr__name_kind)kind;
        }
    }
    return ZKR__NAME_OTHER;
}

/*
 * A minus before the digits is a sign only if it cannot be the separator of "x-<id>-N", and if servers assign the
 * number. Otherwise a chosen number, as in "job-2512312359", would stay ahead of all contenders forever.
 */
static bool is_sign(const char *name, size_t minus, int64_t magnitude)
{
    /* The magnitude of the lowest negative number. */
    const int64_t least = ZKR__SEQUENCE_LIMIT + 1;
    bool alone = minus == 0 || name[minus - 1] == '-' || name[minus - 1] == '_';
    return magnitude == least || (magnitude < least && alone);
}

bool zkr__name_parse(const char *name, enum zkr__name_kind *kind, int64_t *sequence)
{
    size_t len = strlen(name);
    if (len < DIGITS) {
        return false;
    }
    size_t before = len - DIGITS; /* number of bytes before the digits */
    int64_t value = 0;
    for (size_t i = before; i < len; i++) {
        if (name[i] < '0' || name[i] > '9') {
            return false;
        }
        value = value * 10 + (name[i] - '0');
    }
    *kind = kind_of(name, before);
    *sequence = value;
    if (*kind == ZKR__NAME_OTHER && before > 0 && name[before - 1] == '-' &&
        is_sign(name, before - 1, value)) {
        *kind = kind_of(name, before - 1);
        *sequence = -value;
    }
    return true;
}

bool zkr__name_grew(const char *name,
                    const char *mine,
                    enum zkr__name_kind kind,
                    int64_t *sequence)
{
    enum zkr__name_kind is;
    size_t len = strlen(name), asked = ZKR__PROTECTED_LEN + strlen(prefixes[kind]);
    if (strncmp(name, mine, ZKR__PROTECTED_LEN) != 0 ||
        !zkr__name_parse(name, &is, sequence) || is != kind) {
        return false;
    }
    return len == asked + DIGITS || (len == asked + 1 + DIGITS && name[asked] == '-');
}
