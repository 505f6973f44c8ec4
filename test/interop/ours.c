/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C library under remote control. In addition to the common words of peer.h, "warnings WORDS" ends the session. It
 * prints the number of warnings about the path during this session, and the number of those that contain these words.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zkr/zkr.h>

#include "peer.h"
#include "util.h"

enum { WARNINGS_MAX = 8 };

static struct {
    zkr_client *c;
    zkr_mutex *m;
    zkr_rwlock *rw;
    bool by_ticket;
    zkr_mutex *side; /* m, or a side of rw */
    zkr_ticket *t;
    char path[256];
    atomic_int warnings;
    char warning[WARNINGS_MAX][512];
} our;

static void note(int level, const char *line, void *ctx)
{
    if (level == ZKR_LOG_WARN && strstr(line, our.path)) {
        int i = atomic_fetch_add(&our.warnings, 1) % WARNINGS_MAX;
        (void)snprintf(our.warning[i], sizeof(our.warning[i]), "%s", line);
    }
}

/* Objects that are still held are released with the session. */
static void end(void)
{
    (void)zkr_client_shutdown(our.c);
    (void)zkr_ticket_destroy(our.t);
    (void)zkr_client_close(our.c);
    (void)zkr_mutex_destroy(our.m);
    (void)zkr_rwlock_destroy(our.rw);
    our.c = NULL, our.m = our.side = NULL, our.rw = NULL, our.t = NULL;
}

static bool begin(const char *servers, int session_ms)
{
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = session_ms;
    o.log = note;
    o.log_level = ZKR_LOG_WARN;
    atomic_store(&our.warnings, 0);
    memset(our.warning, 0, sizeof(our.warning));
    return zkr_client_open(&our.c, servers, &o) == ZKR_OK &&
           zkr_client_wait_connected(our.c, 30000) == ZKR_OK &&
           zkr_mutex_create(&our.m, our.c, our.path, NULL) == ZKR_OK &&
           zkr_rwlock_create(&our.rw, our.c, our.path, NULL) == ZKR_OK;
}

static void choose(const char *kind)
{
    our.by_ticket = strcmp(kind, "ticket") == 0;
    our.side = strcmp(kind, "write") == 0  ? zkr_rwlock_writer(our.rw)
               : strcmp(kind, "read") == 0 ? zkr_rwlock_reader(our.rw)
                                           : our.m;
}

static int release(void)
{
    if (!our.by_ticket) {
        return zkr_mutex_release(our.side);
    }
    int rc = zkr_ticket_release(our.t);
    (void)zkr_ticket_destroy(our.t);
    our.t = NULL;
    return rc;
}

static int acquire(int ms)
{
    if (!our.by_ticket) {
        return zkr_mutex_acquire(our.side, ms);
    }
    int rc = zkr_mutex_request(our.side, ms, NULL, NULL, &our.t);
    rc = rc == ZKR_OK ? zkr_ticket_wait(our.t, ZKR_FOREVER) : rc;
    if (rc != ZKR_OK) {
        (void)zkr_ticket_destroy(our.t);
        our.t = NULL;
    }
    return rc;
}

static const char *acquired(int rc)
{
    return rc == ZKR_OK                                 ? "true"
           : rc == ZKR_ETIMEDOUT || rc == ZKR_ENOANSWER ? "false"
                                                        : "error";
}

static bool add(const char *file)
{
    long n = -1;
    FILE *f = fopen(file, "re");
    bool ok = f && fscanf(f, "%ld", &n) == 1;
    if (f) {
        (void)fclose(f);
    }
    zkt_sleep_ms(1); /* for others to come between */
    f = ok ? fopen(file, "we") : NULL;
    ok = f && fprintf(f, "%ld\n", n + 1) > 0;
    return f && fclose(f) == 0 && ok;
}

static long soak(const char *file)
{
    char stop[512];
    long n = 0;
    (void)snprintf(stop, sizeof(stop), "%s-end", file);
    while (access(stop, F_OK) != 0) {
        if (acquire(60000) != ZKR_OK || !add(file) || release() != ZKR_OK) {
            return -1;
        }
        n++;
    }
    return n;
}

static int warnings_with(const char *words)
{
    int n = 0;
    for (int i = 0; i < WARNINGS_MAX; i++) {
        n += our.warning[i][0] && strstr(our.warning[i], words);
    }
    return n;
}

static void obey(const char *servers, char *line)
{
    char *rest = line + strcspn(line, " "), number[64];
    int ms = 0;
    *rest = '\0';
    rest += rest[1] != '\0';
    if (strcmp(line, "begin") == 0 &&
        sscanf(rest, "%63s %255s %d", number, our.path, &ms) == 3) {
        end();
        printf("%s %s\n", begin(servers, ms) ? "ready" : "error", number);
    } else if (strcmp(line, "end") == 0) {
        end();
        puts("ok");
    } else if (strcmp(line, "lock") == 0) {
        choose(rest);
        puts("ok");
    } else if (strcmp(line, "acquire") == 0) {
        puts(acquired(acquire((int)strtol(rest, NULL, 10))));
    } else if (strcmp(line, "release") == 0) {
        puts(release() == ZKR_OK ? "ok" : "error");
    } else if (strcmp(line, "add") == 0) {
        puts(add(rest) ? "ok" : "error");
    } else if (strcmp(line, "soak") == 0) {
        printf("%ld\n", soak(rest));
    } else if (strcmp(line, "warnings") == 0) {
        end(); /* afterwards, no log line is pending */
        printf("%d %d\n", atomic_load(&our.warnings), warnings_with(rest));
    }
    (void)fflush(stdout);
}

int ours_live(const char *servers)
{
    char line[1024];
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        obey(servers, line);
    }
    end();
    return 0;
}
