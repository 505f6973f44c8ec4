/* SPDX-License-Identifier: Apache-2.0 */
#include "fourlw.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

enum { WAIT_MS = 2000, HOST_MAX = 256 };

int zkt_4lw(const char *host, const char *word, char *buf, size_t size)
{
    char *text = zkt_4lw_text(host, word, WAIT_MS);
    if (text == NULL) {
        return -1;
    }
    int length = snprintf(buf, size, "%s", text);
    free(text);
    return length;
}

int64_t zkt_mntr(const char *host, const char *key)
{
    const size_t length = strlen(key);
    int64_t value = -1;
    char *text = zkt_4lw_text(host, "mntr", WAIT_MS);

    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, key, length) == 0 && line[length] == '\t') {
            value = strtoll(line + length, NULL, 10);
            break;
        }
        const char *end = strchr(line, '\n');
        line = end != NULL ? end + 1 : NULL;
    }
    free(text);
    return value;
}

enum zkr__test_mode zkt_mode(const char *host)
{
    return zkt_mode_within(host, WAIT_MS);
}

int64_t zkt_watch_count(const char *hosts)
{
    char host[HOST_MAX];
    int64_t sum = -1;

    for (int i = 0; zkt_host_at(hosts, i, host, sizeof host); i++) {
        int64_t n = zkt_mntr(host, "zk_watch_count");
        if (n >= 0) {
            sum = (sum < 0 ? 0 : sum) + n;
        }
    }
    return sum;
}

int64_t zkt_ephemerals(const char *hosts)
{
    char host[HOST_MAX];
    int64_t most = -1;

    for (int i = 0; zkt_host_at(hosts, i, host, sizeof host); i++) {
        int64_t n = zkt_mntr(host, "zk_ephemerals_count");
        most = n > most ? n : most;
    }
    return most;
}

/* Is the line at @line @root, or a path below it? */
static bool below(const char *line, const char *root)
{
    const size_t length = strlen(root);
    return strncmp(line, root, length) == 0 &&
           (strchr("/\n\r", line[length]) != NULL ||
            (length > 0 && root[length - 1] == '/'));
}

/* Counts lines of an answer: with @owners the indented lines behind a path (wchp), else indented paths (dump). */
static int64_t count_lines(const char *text, const char *root, bool owners)
{
    int64_t n = 0;
    bool inside = false;

    for (const char *line = text; line != NULL && *line != '\0';) {
        if (*line != '\t') {
            inside = below(line, root);
        } else if (owners ? inside : below(line + 1, root)) {
            n++;
        }
        const char *end = strchr(line, '\n');
        line = end != NULL ? end + 1 : NULL;
    }
    return n;
}

/* With @owners each server has its own, and the sum counts; else all servers have the same in time. */
static int64_t
count_under(const char *hosts, const char *path, const char *word, bool owners)
{
    char host[HOST_MAX];
    char root[1024];
    int64_t count = -1;

    (void)snprintf(root, sizeof root, "%s%s", zkt_chroot(hosts), path);
    for (int i = 0; zkt_host_at(hosts, i, host, sizeof host); i++) {
        char *text = zkt_4lw_text(host, word, WAIT_MS);
        if (text != NULL) {
            int64_t n = count_lines(text, root, owners);
            count = owners && count > 0 ? count + n : n > count ? n : count;
            free(text);
        }
    }
    return count;
}

int64_t zkt_watches_under(const char *hosts, const char *path)
{
    return count_under(hosts, path, "wchp", true);
}

int64_t zkt_ephemerals_under(const char *hosts, const char *path)
{
    return count_under(hosts, path, "dump", false);
}

/* In an answer to wchp. */
static int64_t others_at(const char *text, const char *path, int64_t session_id)
{
    const size_t length = strlen(path);
    int64_t n = 0;
    bool inside = false;
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (*line != '\t') {
            inside = strncmp(line, path, length) == 0 && strchr("\r\n", line[length]);
        } else {
            n += inside && (int64_t)strtoull(line + 1, NULL, 16) != session_id;
        }
        const char *end = strchr(line, '\n');
        line = end != NULL ? end + 1 : NULL;
    }
    return n;
}

int64_t zkt_watchers_but(const char *hosts, const char *path, int64_t session_id)
{
    char host[HOST_MAX];
    char full[1024];
    int64_t sum = 0;

    (void)snprintf(full, sizeof full, "%s%s", zkt_chroot(hosts), path);
    for (int i = 0; zkt_host_at(hosts, i, host, sizeof host); i++) {
        char *text = zkt_4lw_text(host, "wchp", WAIT_MS);
        sum += others_at(text, full, session_id);
        free(text);
    }
    return sum;
}

/* The line of "cons" for a session; for 0, of every session. */
static int64_t cons(const char *hosts, int64_t session_id, const char *field)
{
    char host[HOST_MAX];
    char sid[40];
    int64_t found = session_id == 0 ? 0 : -1;

    (void)snprintf(sid, sizeof sid, ",sid=0x%" PRIx64 ",", (uint64_t)session_id);
    const char *wanted = session_id == 0 ? ",sid=0x" : sid;
    for (int i = 0; zkt_host_at(hosts, i, host, sizeof host); i++) {
        char *text = zkt_4lw_text(host, "cons", WAIT_MS);
        char *save = NULL;
        for (char *line = text != NULL ? strtok_r(text, "\n", &save) : NULL;
             line != NULL; line = strtok_r(NULL, "\n", &save)) {
            if (strstr(line, wanted) == NULL) {
                continue;
            }
            const char *at = field != NULL ? strstr(line, field) : NULL;
            if (field == NULL) {
                found++;
            } else if (at != NULL) {
                found = strtoll(at + strlen(field), NULL, 10);
            }
        }
        free(text);
    }
    return found;
}

int64_t zkt_connections(const char *hosts)
{
    return cons(hosts, 0, NULL);
}

int64_t zkt_cons_received(const char *hosts, int64_t session_id)
{
    return cons(hosts, session_id, ",recved=");
}

int64_t zkt_cons_sent(const char *hosts, int64_t session_id)
{
    return cons(hosts, session_id, ",sent=");
}
