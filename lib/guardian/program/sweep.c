/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletes the nodes of a session that no connection can end. Servers such as ClickHouse Keeper give each connection a
 * new session, and keep the old session until its timeout. A new session lists one directory after the other, and
 * deletes the nodes that the old session owns. The callbacks run in one thread of libzookeeper.
 */
#include "sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A node with unanswered requests. */
struct node {
    struct sweep *sweep;
    char path[];
};

static void note(struct sweep *s, int rc)
{
    s->failed = s->failed || (rc != ZOK && rc != ZNONODE && rc != ZNOAUTH);
    s->progress(s->context);
}

static void on_list(int rc, const struct String_vector *names, const void *sweep);

static void next_directory(struct sweep *s)
{
    const struct directory *d = wards_directory(s->next, s->ward->client);
    s->here = d;
    if (!d || s->failed) {
        s->done(s->context, !s->failed);
        return;
    }
    s->next = d->next;
    s->awaited = 1;
    if (zoo_aget_children(s->zh, d->path, 0, on_list, s) != ZOK) {
        s->done(s->context, false);
    }
}

static void drop(struct sweep *s)
{
    if (--s->awaited == 0) {
        next_directory(s);
    }
}

static void drop_node(struct node *node)
{
    struct sweep *s = node->sweep;
    free(node);
    drop(s);
}

static void on_deleted(int rc, const void *data)
{
    struct node *node = (void *)(uintptr_t)data;
    note(node->sweep, rc);
    drop_node(node);
}

/* No other node ever gets this name, because the name of a lock node has a random part and a number. */
static void on_stat(int rc, const struct Stat *stat, const void *data)
{
    struct node *node = (void *)(uintptr_t)data;
    struct sweep *s = node->sweep;
    if (rc == ZOK && stat->ephemeralOwner == s->ward->session) {
        rc = zoo_adelete(s->zh, node->path, -1, on_deleted, node);
        if (rc == ZOK) {
            return;
        }
    }
    note(s, rc);
    drop_node(node);
}

static int look(struct sweep *s, const char *name)
{
    const size_t size = strlen(s->here->path) + 1 + strlen(name) + 1;
    struct node *node = malloc(sizeof(*node) + size);
    if (!node) {
        return ZSYSTEMERROR;
    }
    node->sweep = s;
    (void)snprintf(node->path, size, "%s/%s", s->here->path, name);
    s->awaited++;
    int rc = zoo_aexists(s->zh, node->path, 0, on_stat, node);
    if (rc != ZOK) {
        s->awaited--;
        free(node);
    }
    return rc;
}

static void on_list(int rc, const struct String_vector *names, const void *sweep)
{
    static const char ours[] = "_c_"; /* the prefix of all lock nodes of the library */
    struct sweep *s = (void *)(uintptr_t)sweep;
    note(s, rc);
    for (int32_t i = 0; rc == ZOK && i < names->count; i++) {
        if (strncmp(names->data[i], ours, sizeof(ours) - 1) == 0) {
            note(s, look(s, names->data[i]));
        }
    }
    drop(s);
}

void sweep_begin(struct sweep *s)
{
    s->failed = false;
    next_directory(s);
}
