/* SPDX-License-Identifier: Apache-2.0 */
#include "fourlw.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

enum { WAIT_MS = 2000, HOST_MAX = 256 };

char *zkt_4lw_text(const char *host, const char *word, int64_t timeout_ms)
{
    const int64_t deadline = zkt_now_ms() + timeout_ms;
    char first[HOST_MAX];
    size_t size = 0;
    size_t room = 4096;
    ssize_t n = -1;

    if (!zkt_host_at(host, 0, first, sizeof first)) {
        return NULL;
    }
    int fd = zkt_connect(first, deadline);
    if (fd < 0) {
        return NULL;
    }
    char *text = malloc(room);
    if (text != NULL && zkt_write_all(fd, word, strlen(word), deadline)) {
        while ((n = zkt_read_some(fd, text + size, room - size - 1, deadline)) > 0) {
            size += (size_t)n;
            if (room - size < 1024) {
                char *grown = realloc(text, room * 2);
                if (grown == NULL) {
                    break;
                }
                text = grown;
                room *= 2;
            }
        }
    }
    (void)close(fd);
    /* A reset after the answer is an end as good as any. */
    if (text == NULL || (n != 0 && size == 0)) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}

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

enum zkt_mode zkt_mode_within(const char *host, int64_t timeout_ms)
{
    static const char *const names[] = {"", "standalone", "leader", "follower",
                                        "observer"};
    enum zkt_mode mode = ZKT_MODE_NONE;
    char *text = zkt_4lw_text(host, "srvr", timeout_ms);
    const char *at = text != NULL ? strstr(text, "Mode: ") : NULL;

    if (at != NULL) {
        for (int i = 1; i <= ZKT_MODE_OBSERVER; i++) {
            if (strncmp(at + 6, names[i], strlen(names[i])) == 0) {
                mode = (enum zkt_mode)i;
            }
        }
    }
    free(text);
    return mode;
}

enum zkt_mode zkt_mode(const char *host)
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

/* Whether the line at @line is @root or a path below it. */
static bool below(const char *line, const char *root)
{
    const size_t length = strlen(root);
    return strncmp(line, root, length) == 0 &&
           (strchr("/\n\r", line[length]) != NULL ||
            (length > 0 && root[length - 1] == '/'));
}

/*
 * Lines of one 4lw answer that count: with @owners, the indented lines that follow a path
 * (wchp), else the indented paths themselves (dump).
 */
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

/* Of @owners each server has its own, and the sum counts; else all have the same in time. */
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

/* The line of "cons" of one session, or of every session when the id is 0. */
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
