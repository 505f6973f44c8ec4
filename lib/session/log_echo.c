/* SPDX-License-Identifier: Apache-2.0 */
#include "session/log_echo.h"

#include <string.h>

#include "base/clock.h"

static const int64_t minute = 60000 * ZKR__MS;

static uint64_t hash(const char *line)
{
    const char *from = strstr(line, ":ZOO_");
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *at = from ? from : line; *at != '\0'; at++) {
        size_t digits = strspn(at, "0123456789");
        if (digits > 0 && strncmp(at + digits, "ms", 2) == 0) {
            at += digits;
        }
        h = (h ^ (unsigned char)*at) * UINT64_C(1099511628211);
    }
    return h;
}

static bool is_new(struct zkr__echo *e, uint64_t h)
{
    for (unsigned i = 0; i < e->count; i++) {
        if (e->said[i] == h) {
            return false;
        }
    }
    if (e->count == ZKR__ECHOES) {
        return false;
    }
    e->said[e->count++] = h;
    return true;
}

bool zkr__echo_passes(struct zkr__echo *e,
                      unsigned connected,
                      const char *line,
                      int64_t now)
{
    if (e->connected != connected) {
        *e = (struct zkr__echo){.connected = connected};
    }
    if (!is_new(e, hash(line)) && now - e->passed_at < minute) {
        return false;
    }
    e->passed_at = now;
    return true;
}
