/* SPDX-License-Identifier: Apache-2.0 */
#include "clean.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fourlw.h"
#include "raw.h"
#include "server.h"
#include "util.h"

enum { CHECK_MS = 5000, STEP_MS = 5, IDS_MAX = 1024 };

/* The IDs of threads or descriptors at one moment. */
typedef struct ids {
    int count;
    int id[IDS_MAX];
} ids;

static struct {
    ids threads;
    ids fds;
} baseline;

static ids list_ids(const char *dir)
{
    ids found = {.count = 0};
    DIR *d = opendir(dir);
    const struct dirent *entry;

    while (d != NULL && (entry = readdir(d)) != NULL) {
        char *end;
        long id = strtol(entry->d_name, &end, 10);
        if (end != entry->d_name && *end == '\0' && id != dirfd(d) &&
            found.count < IDS_MAX) {
            found.id[found.count++] = (int)id;
        }
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    return found;
}

static ids threads(void)
{
    return list_ids("/proc/self/task");
}

static ids fds(void)
{
    return list_ids("/proc/self/fd");
}

int zkt_thread_count(void)
{
    return threads().count;
}

int zkt_fd_count(void)
{
    return fds().count;
}

static bool contains(const ids *list, int id)
{
    for (int i = 0; i < list->count; i++) {
        if (list->id[i] == id) {
            return true;
        }
    }
    return false;
}

static void *tell_id(void *arg)
{
    *(int *)arg = (int)syscall(SYS_gettid);
    return NULL;
}

/* A sanitizer starts its own thread together with the first thread of the program. */
static void start_first_thread(void)
{
    pthread_t thread;
    ids now;
    int id = 0;

    if (pthread_create(&thread, NULL, tell_id, &id) == 0) {
        (void)pthread_join(thread, NULL);
        for (now = threads(); contains(&now, id); now = threads()) {
            zkt_sleep_ms(1);
        }
    }
}

void zkt_baseline(void)
{
    start_first_thread();
    baseline.threads = threads();
    baseline.fds = fds();
}

static void add(char *why, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add(char *why, size_t size, const char *format, ...)
{
    va_list args;
    size_t used = strlen(why);

    va_start(args, format);
    (void)vsnprintf(why + used, size - used, format, args);
    va_end(args);
}

static void first_line(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "re");

    out[0] = '\0';
    if (f != NULL) {
        if (fgets(out, (int)size, f) != NULL) {
            out[strcspn(out, "\n")] = '\0';
        }
        (void)fclose(f);
    }
}

static void thread_name(int id, char *out, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/comm", id);
    first_line(path, out, size);
}

static void fd_target(int id, char *out, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", id);
    ssize_t n = readlink(path, out, size - 1);
    out[n > 0 ? n : 0] = '\0';
}

/* Adds to @why the IDs in @now that are not in @before. */
static void add_new(char *why,
                    size_t size,
                    const char *what,
                    const ids *before,
                    const ids *now,
                    void (*name)(int id, char *out, size_t size))
{
    if (now->count <= before->count) {
        return;
    }
    add(why, size, "%s: %d, were %d:", what, now->count, before->count);
    for (int i = 0; i < now->count; i++) {
        char text[128];
        if (!contains(before, now->id[i])) {
            name(now->id[i], text, sizeof text);
            add(why, size, " %d (%s)", now->id[i], text);
        }
    }
    add(why, size, "\n");
}

/* Returns the parent of a process, and its name, from "pid (name) state ppid ...". */
static int parent_of(int pid, char *name, size_t size)
{
    char path[64];
    char line[512];

    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    first_line(path, line, sizeof line);
    const char *open = strchr(line, '(');
    char *close = strrchr(line, ')');
    if (open == NULL || close == NULL || strlen(close) < 5) {
        return -1;
    }
    *close = '\0';
    (void)snprintf(name, size, "%s", open + 1);
    return (int)strtol(close + 4, NULL, 10);
}

/* Some kernels lack /proc/<pid>/task/<tid>/children, so this examines every process. */
static int children(char *why, size_t size)
{
    const int self = (int)getpid();
    int count = 0;
    DIR *d = opendir("/proc");
    const struct dirent *entry;

    while (d != NULL && (entry = readdir(d)) != NULL) {
        char name[64];
        int pid = (int)strtol(entry->d_name, NULL, 10);
        if (pid > 0 && parent_of(pid, name, sizeof name) == self &&
            !zkt_server_knows(pid)) {
            add(why, size, "%s %d (%s)", count == 0 ? "child processes:" : "", pid,
                name);
            count++;
        }
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    if (count > 0) {
        add(why, size, "\n");
    }
    return count;
}

int zkt_child_count(void)
{
    char names[1024] = "";
    return children(names, sizeof names);
}

static void server_left(const char *hosts, const char *path, char *why, size_t size)
{
    const bool others = hosts == zkt_servers_known() && !zkt_servers_private();
    zkt_list list = {0};
    int rc = zkt_children(hosts, path, &list);
    int64_t watches = others ? zkt_watches_under(hosts, path) : zkt_watch_count(hosts);
    int64_t owned = others ? zkt_ephemerals_under(hosts, path) : zkt_ephemerals(hosts);

    if (rc != ZKT_OK && rc != ZKT_NONODE) {
        add(why, size, "children of %s: error %d\n", path, rc);
    }
    if (list.count > 0) {
        add(why, size, "children of %s: %d:", path, list.count);
        for (int i = 0; i < list.count && i < 10; i++) {
            add(why, size, " %s", list.name[i]);
        }
        add(why, size, "\n");
    }
    zkt_list_free(&list);
    if (watches != 0) {
        add(why, size, "watches: %lld\n", (long long)watches);
    }
    if (owned != 0) {
        add(why, size, "ephemeral nodes: %lld\n", (long long)owned);
    }
}

bool zkt_is_clean(const char *hosts, const char *path, char *why, size_t size)
{
    const ids now_threads = threads(), now_fds = fds();

    why[0] = '\0';
    add_new(why, size, "threads", &baseline.threads, &now_threads, thread_name);
    add_new(why, size, "descriptors", &baseline.fds, &now_fds, fd_target);
    (void)children(why, size);
    if (path != NULL && hosts != NULL) {
        server_left(hosts, path, why, size);
    }
    return why[0] == '\0';
}

void zkt_check_clean_at(const char *hosts, const char *path)
{
    char why[4096];
    const int64_t end = zkt_now_ms() + CHECK_MS;

    while (!zkt_is_clean(hosts, path, why, sizeof why)) {
        if (zkt_now_ms() >= end) {
            zkt_fail("left over after %d ms:\n%s", CHECK_MS, why);
        }
        zkt_sleep_ms(STEP_MS);
    }
}

void zkt_check_clean(const char *path)
{
    zkt_check_clean_at(path != NULL ? zkt_servers() : NULL, path);
}

const char *zkt_unique_path(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct text {
        struct text *next;
        char path[];
    } * texts;
    static int counter;
    const size_t size = strlen(name) + 40;
    struct text *t = malloc(sizeof *t + size);

    if (t == NULL) {
        zkt_fail("out of memory");
    }
    (void)pthread_mutex_lock(&lock);
    (void)snprintf(t->path, size, "/t/%d-%d-%s", (int)getpid(), ++counter, name);
    t->next = texts;
    texts = t;
    (void)pthread_mutex_unlock(&lock);
    return t->path;
}
