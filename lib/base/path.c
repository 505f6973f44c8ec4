/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum {
    DIGITS = 10,
    /* A server takes packets of 1 MB less a byte: this, our name below it, the data, the ACL. */
    PATH_LIMIT = 1024 * 1024 - 1024
};

static bool continues(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/*
 * Bytes of the UTF-8 character at @p, 0 when servers refuse it (ZooKeeper: PathUtils): control
 * characters, U+D800 to U+F8FF, by which also all beyond U+FFFF, U+FFF0 and up; and what is none.
 */
static size_t character_length(const unsigned char *p)
{
    if (p[0] < 0x80) {
        return p[0] >= 0x20 && p[0] != 0x7f ? 1 : 0;
    }
    if (p[0] >= 0xc2 && p[0] <= 0xdf && continues(p[1])) {
        return p[0] == 0xc2 && p[1] <= 0x9f ? 0 : 2;
    }
    if (p[0] >= 0xe0 && p[0] <= 0xef && continues(p[1]) && continues(p[2])) {
        unsigned code = (p[0] & 0x0fU) << 12 | (p[1] & 0x3fU) << 6 | (p[2] & 0x3fU);
        bool refused =
            code < 0x800 || (code >= 0xd800 && code <= 0xf8ff) || code >= 0xfff0;
        return refused ? 0 : 3;
    }
    return 0;
}

static const char *segment_fault(const char *segment, size_t len)
{
    if (len == 0) {
        return "has an empty part";
    }
    if (segment[0] == '.' && (len == 1 || (len == 2 && segment[1] == '.'))) {
        return "must not contain . or .. as a part";
    }
    return NULL;
}

const char *zkr__path_fault(const char *path)
{
    if (!path || path[0] != '/') {
        return "must start with /";
    }
    if (path[1] == '\0') {
        return "must not be the root";
    }
    if (strlen(path) > PATH_LIMIT) {
        return "is longer than 1047552 bytes";
    }
    for (const unsigned char *p = (const unsigned char *)path; *p;) {
        size_t len = character_length(p);
        if (len == 0) {
            return "contains a control character, or another that servers refuse";
        }
        p += len;
    }
    for (const char *p = path; *p;) {
        const char *segment = p + 1;
        size_t len = strcspn(segment, "/");
        const char *fault = segment_fault(segment, len);
        if (fault) {
            return fault;
        }
        p = segment + len;
    }
    return NULL;
}

char *zkr__path_join(const char *dir, const char *name)
{
    size_t size = strlen(dir) + 1 + strlen(name) + 1;
    char *path = zkr__mem_alloc(size);
    if (path) {
        (void)snprintf(path, size, "%s/%s", dir, name);
    }
    return path;
}

const char *zkr__path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void zkr__path_protect(char *out,
                       const char guid[ZKR__GUID_LEN + 1],
                       const char *prefix)
{
    size_t size = ZKR__PROTECTED_LEN + strlen(prefix) + 1;
    (void)snprintf(out, size, ZKR__PROTECTED "%s-%s", guid, prefix);
}

/* Exactly ten digits up to the end of the string. */
static bool ten_digits(const char *s, int64_t *value)
{
    int64_t v = 0;
    for (int i = 0; i < DIGITS; i++) {
        if (s[i] < '0' || s[i] > '9') {
            return false;
        }
        v = v * 10 + (s[i] - '0');
    }
    *value = v;
    return s[DIGITS] == '\0';
}

static const char *after_last(const char *name, const char *prefix)
{
    const char *found = NULL;
    size_t len = strlen(prefix);
    for (const char *p = name; len > 0 && (p = strstr(p, prefix)) != NULL; p++) {
        found = p + len;
    }
    return found;
}

/* A minus before trailing digits is a sign where it cannot be the separator of "x-<id>-N". */
static bool is_sign(const char *name, const char *minus, int64_t magnitude)
{
    return magnitude > ZKR__SEQUENCE_LIMIT || minus == name || minus[-1] == '-' ||
           minus[-1] == '_';
}

bool zkr__path_sequence(const char *name, const char *prefix, int64_t *sequence)
{
    int64_t value;
    const char *digits = after_last(name, prefix);
    if (digits) {
        bool negative = digits[0] == '-';
        if (ten_digits(digits + negative, &value)) {
            *sequence = negative ? -value : value;
            return true;
        }
    }
    size_t len = strlen(name);
    if (len < DIGITS || !ten_digits(name + len - DIGITS, &value)) {
        return false;
    }
    const char *before = name + len - DIGITS - 1;
    bool negative = len > DIGITS && *before == '-' && is_sign(name, before, value);
    *sequence = negative ? -value : value;
    return true;
}
