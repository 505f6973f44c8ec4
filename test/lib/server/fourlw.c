/* SPDX-License-Identifier: Apache-2.0 */
#include "fourlw.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

enum { WAIT_MS = 2000, SETTLE_MS = 1000, HOST_MAX = 256, HOSTS_MAX = 16 };

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
    char *text = zkt_4lw_text(host, "mntr", WAIT_MS), *at = text;

    for (const char *line; (line = strsep(&at, "\n")) != NULL;) {
        if (strncmp(line, key, length) == 0 && line[length] == '\t') {
            value = strtoll(line + length, NULL, 10);
        }
    }
    free(text);
    return value;
}

enum zkr__test_mode zkt_mode(const char *host)
{
    return zkt_mode_within(host, WAIT_MS);
}

/* Returns the last transaction that the server has applied, or -1 if it does not serve. */
static int64_t applied(const char *host)
{
    char *text = zkt_4lw_text(host, "srvr", SETTLE_MS);
    const char *at = text != NULL ? strstr(text, "Zxid: 0x") : NULL;
    const int64_t zxid = at != NULL ? (int64_t)strtoull(at + 8, NULL, 16) : -1;

    free(text);
    return zxid;
}

/* A server fires the watches of a write before it reports the write as applied. */
static void settle_one(const char *host, int64_t zxid, int64_t newest)
{
    const int64_t begin = zkt_now_ms();

    while (zxid >= 0 && zxid < newest && zkt_now_ms() - begin < SETTLE_MS) {
        zkt_pause(begin);
        zxid = applied(host);
    }
}

void zkt_settle(const char *hosts)
{
    char host[HOST_MAX];
    int64_t zxids[HOSTS_MAX], newest = -1;
    int n = 0;

    if (!zkt_host_at(hosts, 1, host, sizeof host)) {
        return;
    }
    for (; n < HOSTS_MAX && zkt_host_at(hosts, n, host, sizeof host); n++) {
        zxids[n] = applied(host);
        newest = zxids[n] > newest ? zxids[n] : newest;
    }
    for (int i = 0; i < n; i++) {
        (void)zkt_host_at(hosts, i, host, sizeof host);
        settle_one(host, zxids[i], newest);
    }
}

/*
 * Combines the counts of the servers that answer. With @sum, each has its own count, and the sum is returned. Otherwise
 * all servers will have the same count eventually. @n is the count of the next server, or -1 if it did not answer.
 */
static int64_t taken_with(int64_t count, int64_t n, bool sum)
{
    return sum && count > 0 && n > 0 ? count + n : n > count ? n : count;
}

static int64_t count_by(const char *hosts, const char *key, bool sum)
{
    char host[HOST_MAX];
    int64_t count = -1;

    zkt_settle(hosts);
    for (int i = 0; zkt_host_at(hosts, i, host, sizeof host); i++) {
        count = taken_with(count, zkt_mntr(host, key), sum);
    }
    return count;
}

int64_t zkt_watch_count(const char *hosts)
{
    return count_by(hosts, "zk_watch_count", true);
}

int64_t zkt_ephemerals(const char *hosts)
{
    return count_by(hosts, "zk_ephemerals_count", false);
}

/* Returns whether the line is @root, or a path below it. */
static bool below(const char *line, const char *root)
{
    const size_t length = strlen(root);
    return strncmp(line, root, length) == 0 &&
           (strchr("/\r", line[length]) != NULL ||
            (length > 0 && root[length - 1] == '/'));
}

/*
 * Counts lines of an answer. With @owners, these are the indented lines after a path (wchp), otherwise indented paths
 * (dump).
 */
static int64_t count_lines(char *text, const char *root, bool owners)
{
    int64_t n = 0;
    bool inside = false;

    for (const char *line; (line = strsep(&text, "\n")) != NULL;) {
        if (*line != '\t') {
            inside = below(line, root);
        } else {
            n += owners ? inside : below(line + 1, root);
        }
    }
    return n;
}

static int64_t
count_under(const char *hosts, const char *path, const char *word, bool owners)
{
    char host[HOST_MAX];
    char root[1024];
    int64_t count = -1;

    (void)snprintf(root, sizeof root, "%s%s", zkt_chroot(hosts), path);
    zkt_settle(hosts);
    for (int i = 0; zkt_host_at(hosts, i, host, sizeof host); i++) {
        char *text = zkt_4lw_text(host, word, WAIT_MS);
        if (text != NULL) {
            count = taken_with(count, count_lines(text, root, owners), owners);
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

/* Returns how many sessions other than @session_id watch @path, according to an answer to wchp. */
static int64_t others_at(char *text, const char *path, int64_t session_id)
{
    const size_t length = strlen(path);
    int64_t n = 0;
    bool inside = false;
    for (const char *line; (line = strsep(&text, "\n")) != NULL;) {
        if (*line != '\t') {
            inside = strncmp(line, path, length) == 0 && strchr("\r", line[length]);
        } else {
            n += inside && (int64_t)strtoull(line + 1, NULL, 16) != session_id;
        }
    }
    return n;
}

int64_t zkt_watchers_but(const char *hosts, const char *path, int64_t session_id)
{
    char host[HOST_MAX];
    char full[1024];
    int64_t sum = 0;

    (void)snprintf(full, sizeof full, "%s%s", zkt_chroot(hosts), path);
    zkt_settle(hosts);
    for (int i = 0; zkt_host_at(hosts, i, host, sizeof host); i++) {
        char *text = zkt_4lw_text(host, "wchp", WAIT_MS);
        sum += others_at(text, full, session_id);
        free(text);
    }
    return sum;
}

/* Reads @field in the lines of "cons", for one session or, if @session_id is 0, for every session. */
static int64_t cons(const char *hosts, int64_t session_id, const char *field)
{
    char host[HOST_MAX];
    char sid[40];
    int64_t found = session_id == 0 ? 0 : -1;

    (void)snprintf(sid, sizeof sid, ",sid=0x%" PRIx64 ",", (uint64_t)session_id);
    const char *wanted = session_id == 0 ? ",sid=0x" : sid;
    for (int i = 0; zkt_host_at(hosts, i, host, sizeof host); i++) {
        char *text = zkt_4lw_text(host, "cons", WAIT_MS), *rest = text;
        for (const char *line; (line = strsep(&rest, "\n")) != NULL;) {
            const bool fits = strstr(line, wanted) != NULL;
            const char *at = fits && field != NULL ? strstr(line, field) : NULL;
            found += fits && field == NULL;
            found = at != NULL ? strtoll(at + strlen(field), NULL, 10) : found;
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
