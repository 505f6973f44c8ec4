/* SPDX-License-Identifier: Apache-2.0 */
#include "raw.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "die.h"
#include "stats.h"

#define NAME "_c_00000000-0000-4000-8000-000000000000-lock-"
#define DATA "bench-host/12345/12345"

enum { PATH_ROOM = 256 };

struct raw {
    zhandle_t *zh;
    pthread_mutex_t mu;
    pthread_cond_t moved;
    bool connected;
    unsigned awaited;  /* how many answers the caller waits for */
    unsigned removing; /* how many deletes no caller waits for */
    int rc;            /* code of the last answer with an error */
    char node[PATH_ROOM];
    char ahead[PATH_ROOM]; /* "" = our node is the first */
    bool ahead_gone;
    char first[PATH_ROOM]; /* the first node that on_first() received; "" = none */
};

/* --- waiting --- */

static void answered(struct raw *r, int rc)
{
    pthread_mutex_lock(&r->mu);
    r->awaited--;
    r->rc = rc != ZOK ? rc : r->rc;
    pthread_cond_signal(&r->moved);
    pthread_mutex_unlock(&r->mu);
}

static void expect(struct raw *r, unsigned answers)
{
    pthread_mutex_lock(&r->mu);
    r->awaited = answers;
    r->rc = ZOK;
    pthread_mutex_unlock(&r->mu);
}

static int await(struct raw *r)
{
    pthread_mutex_lock(&r->mu);
    while (r->awaited > 0) {
        pthread_cond_wait(&r->moved, &r->mu);
    }
    int rc = r->rc;
    pthread_mutex_unlock(&r->mu);
    return rc;
}

static void must(int rc, const char *what)
{
    if (rc != ZOK) {
        bench_die("%s: %s", what, zerror(rc));
    }
}

/* --- answers, on libzookeeper's completion thread --- */

static void on_session(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct raw *r = ctx;
    (void)zh;
    (void)path;
    if (type == ZOO_SESSION_EVENT && state == ZOO_CONNECTED_STATE) {
        pthread_mutex_lock(&r->mu);
        r->connected = true;
        pthread_cond_signal(&r->moved);
        pthread_mutex_unlock(&r->mu);
    }
}

static void on_watch(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct raw *r = ctx;
    (void)zh;
    (void)state;
    if (type == ZOO_SESSION_EVENT) {
        return;
    }
    pthread_mutex_lock(&r->mu);
    if (strcmp(path, r->ahead) == 0) {
        r->ahead_gone = true;
        pthread_cond_signal(&r->moved);
    }
    pthread_mutex_unlock(&r->mu);
}

static void on_created(int rc, const char *path, const void *data)
{
    struct raw *r = (struct raw *)(uintptr_t)data;
    if (rc == ZOK) {
        (void)snprintf(r->node, sizeof(r->node), "%s", path);
    }
    answered(r, rc);
}

static void on_made(int rc, const char *path, const void *data)
{
    (void)path;
    answered((struct raw *)(uintptr_t)data, rc == ZNODEEXISTS ? ZOK : rc);
}

static long sequence_of(const char *name)
{
    size_t len = strlen(name);
    return len < 10 ? -1 : strtol(name + len - 10, NULL, 10);
}

/* Finds the node directly ahead of our node, if there is one. */
static void on_listed(int rc, const struct String_vector *names, const void *data)
{
    struct raw *r = (struct raw *)(uintptr_t)data;
    long own = sequence_of(r->node), best = -1;
    const char *ahead = NULL;
    for (int i = 0; rc == ZOK && i < names->count; i++) {
        long sequence = sequence_of(names->data[i]);
        if (sequence < own && sequence > best) {
            best = sequence;
            ahead = names->data[i];
        }
    }
    pthread_mutex_lock(&r->mu);
    r->ahead[0] = '\0';
    r->ahead_gone = false;
    if (ahead) {
        int dir_len = (int)(strrchr(r->node, '/') - r->node);
        (void)snprintf(r->ahead, sizeof(r->ahead), "%.*s/%s", dir_len, r->node, ahead);
    }
    pthread_mutex_unlock(&r->mu);
    answered(r, rc);
}

static void on_first(int rc, const struct String_vector *names, const void *data)
{
    struct raw *r = (struct raw *)(uintptr_t)data;
    r->first[0] = '\0';
    if (rc == ZOK && names->count > 0) {
        (void)snprintf(r->first, sizeof(r->first), "%s", names->data[0]);
    }
    answered(r, rc);
}

static void
on_got(int rc, const char *v, int len, const struct Stat *s, const void *data)
{
    (void)v;
    (void)len;
    (void)s;
    answered((struct raw *)(uintptr_t)data, rc);
}

static void on_missing(int rc, const struct Stat *s, const void *data)
{
    (void)s;
    answered((struct raw *)(uintptr_t)data, rc == ZNONODE ? ZOK : rc);
}

static void on_deleted(int rc, const void *data)
{
    answered((struct raw *)(uintptr_t)data, rc);
}

static void on_removed(int rc, const void *data)
{
    struct raw *r = (struct raw *)(uintptr_t)data;
    must(rc, "delete");
    pthread_mutex_lock(&r->mu);
    r->removing--;
    pthread_cond_signal(&r->moved);
    pthread_mutex_unlock(&r->mu);
}

/* --- sessions --- */

static void drop_line(const char *line)
{
    (void)line;
}

struct raw *raw_open(const char *servers)
{
    struct raw *r = calloc(1, sizeof(*r));
    pthread_condattr_t attr;
    if (!r || pthread_mutex_init(&r->mu, NULL) != 0 ||
        pthread_condattr_init(&attr) != 0 ||
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) != 0 ||
        pthread_cond_init(&r->moved, &attr) != 0) {
        bench_die("out of memory");
    }
    (void)pthread_condattr_destroy(&attr);
    zoo_set_debug_level(ZOO_LOG_LEVEL_WARN); /* the same level as in the library */
    r->zh = zookeeper_init2(servers, on_session, BENCH_SESSION_MS, NULL, r,
                            ZOO_NO_LOG_CLIENTENV, drop_line);
    if (!r->zh) {
        bench_die("cannot open a session at %s", servers);
    }
    /* The same setting as in the library. */
    (void)zoo_set_servers_resolution_delay(r->zh, -1);
    struct timespec until = {.tv_sec = (time_t)(stats_now() / 1000000000 + 15)};
    int rc = 0;
    pthread_mutex_lock(&r->mu);
    while (!r->connected && rc == 0) {
        rc = pthread_cond_timedwait(&r->moved, &r->mu, &until);
    }
    pthread_mutex_unlock(&r->mu);
    if (!r->connected) {
        bench_die("no session at %s within 15 s", servers);
    }
    return r;
}

void raw_close(struct raw *r)
{
    (void)zookeeper_close(r->zh);
    (void)pthread_cond_destroy(&r->moved);
    (void)pthread_mutex_destroy(&r->mu);
    free(r);
}

void raw_make(struct raw *r, const char *path)
{
    expect(r, 1);
    must(zoo_acreate(r->zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, on_made,
                     r),
         "create");
    must(await(r), path);
}

void raw_make_many(struct raw *r, const char *dir, int count)
{
    char path[PATH_ROOM];
    expect(r, (unsigned)count);
    for (int i = 0; i < count; i++) {
        (void)snprintf(path, sizeof(path), "%s/%d", dir, i);
        must(zoo_acreate(r->zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT,
                         on_made, r),
             "create");
    }
    must(await(r), dir);
}

void raw_delete_many(struct raw *r, const char *dir, int count)
{
    char path[PATH_ROOM];
    expect(r, (unsigned)count);
    for (int i = 0; i < count; i++) {
        (void)snprintf(path, sizeof(path), "%s/%d", dir, i);
        must(zoo_adelete(r->zh, path, -1, on_deleted, r), "delete");
    }
    must(await(r), dir);
}

void raw_watch_many(struct raw *r, const char *dir, int count)
{
    char path[PATH_ROOM];
    expect(r, (unsigned)count);
    for (int i = 0; i < count; i++) {
        (void)snprintf(path, sizeof(path), "%s/%d/" NAME "%010d", dir, i / 2, i);
        must(zoo_awexists(r->zh, path, on_watch, r, on_missing, r), "exists");
    }
    must(await(r), dir);
}

/* Deletes one node, and returns the code of the answer. */
static int delete_node(struct raw *r, const char *path)
{
    expect(r, 1);
    must(zoo_adelete(r->zh, path, -1, on_deleted, r), "delete");
    return await(r);
}

/* Lists the children of @path, and writes the first one to r->first. */
static void find_first(struct raw *r, const char *path)
{
    expect(r, 1);
    must(zoo_aget_children(r->zh, path, 0, on_first, r), "list");
    (void)await(r);
}

void raw_clean(struct raw *r, const char *path)
{
    char below[2 * PATH_ROOM];
    for (find_first(r, path); r->first[0] != '\0'; find_first(r, path)) {
        (void)snprintf(below, sizeof(below), "%s/%s", path, r->first);
        int rc = delete_node(r, below);
        if (rc == ZNOTEMPTY) {
            raw_clean(r, below);
        } else if (rc != ZOK && rc != ZNONODE) {
            bench_die("cannot delete %s: %s", below, zerror(rc));
        }
    }
    (void)delete_node(r, path);
}

/* --- requests --- */

static void send_create(struct raw *r, const char *dir)
{
    char path[PATH_ROOM];
    (void)snprintf(path, sizeof(path), "%s/" NAME, dir);
    must(zoo_acreate(r->zh, path, DATA, (int)sizeof(DATA) - 1, &ZOO_OPEN_ACL_UNSAFE,
                     ZOO_EPHEMERAL_SEQUENTIAL, on_created, r),
         "create");
}

static void send_list(struct raw *r, const char *dir)
{
    must(zoo_aget_children(r->zh, dir, 0, on_listed, r), "list");
}

void raw_create(struct raw *r, const char *dir)
{
    expect(r, 1);
    send_create(r, dir);
    must(await(r), "create");
}

void raw_join(struct raw *r, const char *dir)
{
    expect(r, 2);
    send_create(r, dir);
    send_list(r, dir);
    must(await(r), "create and list");
}

void raw_delete(struct raw *r)
{
    must(delete_node(r, r->node), "delete");
}

void raw_remove(struct raw *r)
{
    pthread_mutex_lock(&r->mu);
    r->removing++;
    pthread_mutex_unlock(&r->mu);
    must(zoo_adelete(r->zh, r->node, -1, on_removed, r), "delete");
}

void raw_flush(struct raw *r)
{
    pthread_mutex_lock(&r->mu);
    while (r->removing > 0) {
        pthread_cond_wait(&r->moved, &r->mu);
    }
    pthread_mutex_unlock(&r->mu);
}

/* Returns false if the node ahead is already gone. */
static bool watch_ahead(struct raw *r)
{
    expect(r, 1);
    must(zoo_awget(r->zh, r->ahead, on_watch, r, on_got, r), "get");
    int rc = await(r);
    if (rc != ZNONODE) {
        must(rc, "get");
    }
    return rc == ZOK;
}

void raw_lock(struct raw *r, const char *dir)
{
    raw_create(r, dir);
    for (;;) {
        expect(r, 1);
        send_list(r, dir);
        must(await(r), "list");
        if (r->ahead[0] == '\0') {
            return;
        }
        if (!watch_ahead(r)) {
            continue;
        }
        pthread_mutex_lock(&r->mu);
        while (!r->ahead_gone) {
            pthread_cond_wait(&r->moved, &r->mu);
        }
        pthread_mutex_unlock(&r->mu);
    }
}
