/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <zkr/client.h>

#include "cli.h"
#include "say.h"

/* Writes the time in UTC, in the form 2026-01-31T23:59:59.123Z. */
static void stamp(char *buf, size_t size)
{
    enum { NS_PER_MS = 1000000 };
    struct timespec now;
    struct tm tm;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &tm);
    size_t used = strftime(buf, size, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(buf + used, size - used, ".%03dZ", (int)(now.tv_nsec / NS_PER_MS));
}

/*
 * Returns a log line of libzookeeper without its time, process and thread, or NULL if the line is not from
 * libzookeeper.
 */
static const char *foreign_text(const char *line)
{
    enum { MOST = 80 };
    const char *mark = strstr(line, ":ZOO_");
    return mark && mark - line < MOST ? mark + 1 : NULL;
}

void log_write(int level, const char *line, void *ctx)
{
    static const char *const names[] = {"", "error", "warning", "info", "debug"};
    const int *most = ctx;
    const char *foreign = foreign_text(line);
    if (foreign && level >= ZKR_LOG_INFO && *most < ZKR_LOG_DEBUG) {
        return;
    }
    char time[32], text[SAY_MOST];
    stamp(time, sizeof(time));
    const char *name = names[level > 0 && level <= ZKR_LOG_DEBUG ? level : 0];
    int printed = snprintf(text, sizeof(text), "zkr: %s: time=%s %s", name, time,
                           foreign ? foreign : line);
    say_line(text, (size_t)(printed > 0 ? printed : 0), true);
}

/*
 * Parses the field at @at. *key points to its key in the line, which has no terminating null byte. The value, without
 * quotes and backslashes, is copied to @value and truncated to @room bytes. Returns the start of the next field.
 */
static const char *next_field(const char *at,
                              const char **key,
                              size_t *key_length,
                              char *value,
                              size_t room)
{
    size_t used = 0;
    *key = at;
    *key_length = strcspn(at, "= ");
    at += *key_length + (at[*key_length] == '=');
    bool quoted = *at == '"';
    for (at += quoted; *at != '\0' && *at != (quoted ? '"' : ' '); at++) {
        at += quoted && *at == '\\' && at[1] != '\0';
        if (used + 1 < room) {
            value[used++] = *at;
        }
    }
    value[used] = '\0';
    at += quoted && *at == '"';
    return at + strspn(at, " ");
}

void log_hint(int level, const char *line, void *unused)
{
    enum { ROOM = 1024, EVENT = 0, PATH, NODE, REASON, FIELDS };
    static const char *const keys[FIELDS] = {"event", "path", "node", "reason"};
    char values[FIELDS][ROOM] = {"", "", "", ""}, value[ROOM];
    (void)level;
    (void)unused;
    while (*line) {
        const char *key;
        size_t length;
        line = next_field(line, &key, &length, value, sizeof(value));
        for (int i = 0; i < FIELDS; i++) {
            if (strlen(keys[i]) == length && strncmp(keys[i], key, length) == 0) {
                memcpy(values[i], value, sizeof(value));
            }
        }
    }
    bool meant = strcmp(values[EVENT], "stranger") == 0 ||
                 strcmp(values[EVENT], "ahead_stays") == 0;
    if (meant && *values[REASON]) {
        cli_note("%s: %s%s%s", values[PATH], values[REASON],
                 *values[NODE] ? ": node " : "", values[NODE]);
    }
}
