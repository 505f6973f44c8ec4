/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum {
    /* Servers accept packets of at most 1 MB minus 1 byte, with path, node name, data and ACL together. */
    PATH_LIMIT = 1024 * 1024 - 1024
};

static bool continues(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/*
 * Returns the length of the UTF-8 character at @p, or 0 if it is malformed or servers refuse it. Servers refuse control
 * characters, U+D800 to U+F8FF, and U+FFF0 and above (ZooKeeper: PathUtils).
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
            return "contains a character that servers refuse";
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

bool zkr__path_is_name(const char *name)
{
    size_t len = name ? strlen(name) : 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)name[i];
        if (byte < 0x20 || byte == 0x7f || byte == '/') {
            return false;
        }
    }
    return name && !segment_fault(name, len);
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
