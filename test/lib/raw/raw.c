/* SPDX-License-Identifier: Apache-2.0 */
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw_impl.h"

static zkt_packet create_request(zkt_raw *s, const zkt_node *node)
{
    const bool container = (node->flags & ZKT_CONTAINER) != 0;
    zkt_packet p =
        zkt_raw_request(s, container ? ZKT_OP_CREATE_CONTAINER : ZKT_OP_CREATE,
                        strlen(node->path) + node->data_len);

    zkt_raw_put_path(s, &p, node->path);
    zkt_put_buffer(&p, node->data, node->data_len);
    zkt_put_int(&p, 1);
    zkt_put_int(&p, node->perms != 0 ? node->perms : ZKT_ALL);
    zkt_put_text(&p, node->scheme != NULL ? node->scheme : "world");
    zkt_put_text(&p, node->id != NULL ? node->id : "anyone");
    zkt_put_int(&p, node->flags);
    return p;
}

int zkt_raw_post_create(zkt_raw *s, const zkt_node *node)
{
    zkt_packet p = create_request(s, node);
    return zkt_raw_send(s, &p);
}

int zkt_raw_create(zkt_raw *s, const zkt_node *node, char *made, size_t size)
{
    zkt_packet p = create_request(s, node);
    zkt_packet reply;
    size_t length;

    int rc = zkt_raw_call(s, &p, s->xid, &reply);
    if (rc == ZKT_OK && made != NULL) {
        const unsigned char *name = zkt_take_buffer(&reply, &length);
        size_t skip = strlen(s->chroot);
        if (name == NULL || length < skip) {
            return ZKT_LOST;
        }
        (void)snprintf(made, size, "%.*s", (int)(length - skip),
                       (const char *)name + skip);
    }
    return rc;
}

int zkt_raw_delete(zkt_raw *s, const char *path)
{
    zkt_packet p = zkt_raw_request(s, ZKT_OP_DELETE, strlen(path));
    zkt_packet reply;

    zkt_raw_put_path(s, &p, path);
    zkt_put_int(&p, -1);
    return zkt_raw_call(s, &p, s->xid, &reply);
}

/* Sends a request that consists of a path and a watch flag. */
static int ask(zkt_raw *s, int32_t op, const char *path, bool watch, zkt_packet *reply)
{
    zkt_packet p = zkt_raw_request(s, op, strlen(path));
    zkt_raw_put_path(s, &p, path);
    zkt_put_bool(&p, watch);
    return zkt_raw_call(s, &p, s->xid, reply);
}

int zkt_raw_exists(zkt_raw *s, const char *path, bool watch, zkt_stat *st)
{
    zkt_packet reply;
    int rc = ask(s, ZKT_OP_EXISTS, path, watch, &reply);
    if (rc == ZKT_OK) {
        zkt_take_stat(&reply, st);
    }
    return rc;
}

int zkt_raw_get(zkt_raw *s, const char *path, void *data, size_t *size, zkt_stat *st)
{
    zkt_packet reply;
    size_t length;
    int rc = ask(s, ZKT_OP_GET, path, false, &reply);

    if (rc != ZKT_OK) {
        return rc;
    }
    const unsigned char *found = zkt_take_buffer(&reply, &length);
    if (length < *size) {
        *size = length;
    }
    if (found != NULL && *size > 0) {
        memcpy(data, found, *size);
    }
    zkt_take_stat(&reply, st);
    return reply.bad ? ZKT_LOST : ZKT_OK;
}

int zkt_raw_set(zkt_raw *s, const char *path, const void *data, size_t size)
{
    zkt_packet p = zkt_raw_request(s, ZKT_OP_SET, strlen(path) + size);
    zkt_packet reply;

    zkt_raw_put_path(s, &p, path);
    zkt_put_buffer(&p, data, size);
    zkt_put_int(&p, -1);
    return zkt_raw_call(s, &p, s->xid, &reply);
}

int zkt_raw_set_acl(zkt_raw *s, const char *path, int perms)
{
    zkt_packet p = zkt_raw_request(s, ZKT_OP_SET_ACL, strlen(path));
    zkt_packet reply;

    zkt_raw_put_path(s, &p, path);
    zkt_put_int(&p, 1);
    zkt_put_int(&p, perms);
    zkt_put_text(&p, "world");
    zkt_put_text(&p, "anyone");
    zkt_put_int(&p, -1);
    return zkt_raw_call(s, &p, s->xid, &reply);
}

static void put_text_or_none(zkt_packet *p, const char *text)
{
    if (text != NULL) {
        zkt_put_text(p, text);
    } else {
        zkt_put_int(p, -1);
    }
}

int zkt_raw_reconfig(zkt_raw *s, const char *joining, const char *leaving)
{
    zkt_packet p = zkt_raw_request(s, ZKT_OP_RECONFIG,
                                   (joining != NULL ? strlen(joining) : 0) +
                                       (leaving != NULL ? strlen(leaving) : 0));
    zkt_packet reply;

    put_text_or_none(&p, joining);
    put_text_or_none(&p, leaving);
    put_text_or_none(&p, NULL); /* no complete list of the new members */
    zkt_put_long(&p, -1);
    return zkt_raw_call(s, &p, s->xid, &reply);
}

int zkt_raw_children(zkt_raw *s, const char *path, bool watch, zkt_list *list)
{
    zkt_packet reply;

    *list = (zkt_list){0};
    int rc = ask(s, ZKT_OP_CHILDREN, path, watch, &reply);
    if (rc != ZKT_OK) {
        return rc;
    }
    const int32_t n = zkt_take_int(&reply);
    if (n <= 0) {
        return ZKT_OK;
    }
    list->name = calloc((size_t)n, sizeof *list->name);
    while (list->name != NULL && list->count < n) {
        size_t length;
        const unsigned char *name = zkt_take_buffer(&reply, &length);
        char *copy = name != NULL ? calloc(1, length + 1) : NULL;
        if (copy == NULL) {
            return ZKT_LOST;
        }
        memcpy(copy, name, length); /* strndup() may read one byte beyond the name */
        list->name[list->count++] = copy;
    }
    return list->name != NULL ? ZKT_OK : ZKT_LOST;
}

void zkt_list_free(zkt_list *list)
{
    for (int i = 0; i < list->count; i++) {
        free(list->name[i]);
    }
    free(list->name);
    *list = (zkt_list){0};
}

int zkt_raw_auth(zkt_raw *s, const char *scheme, const char *cert)
{
    zkt_packet p = zkt_raw_begin(strlen(scheme) + strlen(cert));
    zkt_packet reply;

    zkt_put_int(&p, ZKT_XID_AUTH);
    zkt_put_int(&p, ZKT_OP_AUTH);
    zkt_put_int(&p, 0);
    zkt_put_text(&p, scheme);
    zkt_put_text(&p, cert);
    return zkt_raw_call(s, &p, ZKT_XID_AUTH, &reply);
}

/* ---- one-shot ---------------------------------------------------------------------- */

enum { ONCE_MS = 10000 };

/* Closes a session that was opened for one request. Returns the result of that request. */
static int done(zkt_raw *s, int rc)
{
    (void)zkt_raw_close(s);
    return rc;
}

int zkt_create(const char *hosts, const char *path, const char *data, int flags)
{
    const zkt_node node = {
        .path = path, .data = data, .data_len = strlen(data), .flags = flags};
    zkt_raw *s = zkt_raw_open(hosts, ONCE_MS);
    return s == NULL ? ZKT_LOST : done(s, zkt_raw_create(s, &node, NULL, 0));
}

int zkt_delete(const char *hosts, const char *path)
{
    zkt_raw *s = zkt_raw_open(hosts, ONCE_MS);
    return s == NULL ? ZKT_LOST : done(s, zkt_raw_delete(s, path));
}

int zkt_set(const char *hosts, const char *path, const char *data)
{
    zkt_raw *s = zkt_raw_open(hosts, ONCE_MS);
    return s == NULL ? ZKT_LOST : done(s, zkt_raw_set(s, path, data, strlen(data)));
}

int zkt_set_acl(const char *hosts, const char *path, int perms)
{
    zkt_raw *s = zkt_raw_open(hosts, ONCE_MS);
    return s == NULL ? ZKT_LOST : done(s, zkt_raw_set_acl(s, path, perms));
}

bool zkt_exists(const char *hosts, const char *path)
{
    zkt_raw *s = zkt_raw_open(hosts, ONCE_MS);
    return s != NULL && done(s, zkt_raw_exists(s, path, false, NULL)) == ZKT_OK;
}

int zkt_get(const char *hosts, const char *path, char *text, size_t size, zkt_stat *st)
{
    size_t length = size - 1;
    zkt_raw *s = zkt_raw_open(hosts, ONCE_MS);

    if (s == NULL) {
        return ZKT_LOST;
    }
    int rc = done(s, zkt_raw_get(s, path, text, &length, st));
    text[rc == ZKT_OK ? length : 0] = '\0';
    return rc;
}

int zkt_children(const char *hosts, const char *path, zkt_list *list)
{
    zkt_raw *s = zkt_raw_open(hosts, ONCE_MS);

    *list = (zkt_list){0};
    return s == NULL ? ZKT_LOST : done(s, zkt_raw_children(s, path, false, list));
}

int zkt_children_count(const char *hosts, const char *path)
{
    zkt_list list;
    int rc = zkt_children(hosts, path, &list);
    int n = list.count;

    zkt_list_free(&list);
    return rc == ZKT_OK ? n : rc == ZKT_NONODE ? 0 : -1;
}

static int delete_below(zkt_raw *s, const char *path)
{
    char child[1024];
    zkt_list list;
    int rc = zkt_raw_children(s, path, false, &list);

    for (int i = 0; rc == ZKT_OK && i < list.count; i++) {
        if (strcmp(path, "/") == 0 && strcmp(list.name[i], "zookeeper") == 0) {
            continue;
        }
        (void)snprintf(child, sizeof child, "%s/%s", strcmp(path, "/") == 0 ? "" : path,
                       list.name[i]);
        rc = delete_below(s, child);
        if (rc == ZKT_OK) {
            rc = zkt_raw_delete(s, child);
        }
        rc = rc == ZKT_NONODE ? ZKT_OK : rc;
    }
    zkt_list_free(&list);
    return rc == ZKT_NONODE ? ZKT_OK : rc;
}

int zkt_delete_children(const char *hosts, const char *path)
{
    zkt_raw *s = zkt_raw_open(hosts, ONCE_MS);
    return s == NULL ? ZKT_LOST : done(s, delete_below(s, path));
}

int zkt_create_path(const char *hosts, const char *path)
{
    char part[1024];
    zkt_node node = {.path = part};
    zkt_raw *s = zkt_raw_open(hosts, ONCE_MS);
    int rc = ZKT_OK;

    if (s == NULL) {
        return ZKT_LOST;
    }
    for (size_t i = 1; rc == ZKT_OK && path[i - 1] != '\0' && i < sizeof part; i++) {
        if (path[i] == '/' || path[i] == '\0') {
            memcpy(part, path, i);
            part[i] = '\0';
            rc = zkt_raw_create(s, &node, NULL, 0);
            rc = rc == ZKT_NODEEXISTS ? ZKT_OK : rc;
        }
    }
    return done(s, rc);
}
