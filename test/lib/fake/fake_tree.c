/* SPDX-License-Identifier: Apache-2.0 */
/* The fake's data: how each server applies writes, answers reads, and fires watches. */
#include <string.h>

#include "fake_impl.h"
#include "util.h"

uint32_t zkf_hash(const char *text)
{
    uint32_t hash = 2166136261U;
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * 16777619U;
    }
    return hash;
}

struct zkf_node *
zkf__tree_find(const struct zkf__tree *t, const char *path, uint32_t hash)
{
    struct zkf_node *node = t->first;
    while (node && (node->hash != hash || strcmp(node->path, path) != 0)) {
        node = node->next;
    }
    return node;
}

static const char *parent_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == path) {
        return "/";
    }
    char *parent = zkf__copy(path, (size_t)(slash - path));
    return parent;
}

struct zkf_node *zkf__tree_parent(const struct zkf__tree *t, const char *path)
{
    const char *parent = parent_path(path);
    return zkf__tree_find(t, parent, zkf_hash(parent));
}

/* --- watches at a server --- */

static void add_watch(struct zkf__server *server,
                      struct zkf__conn *conn,
                      const struct zkf__watch *what)
{
    struct zkf__watch *w;
    for (w = server->watches; w; w = w->next) {
        if (w->conn == conn && w->type == what->type && w->hash == what->hash &&
            strcmp(w->path, what->path) == 0) {
            return;
        }
    }
    w = zkf__alloc(sizeof(*w));
    *w = *what;
    w->conn = conn;
    w->next = server->watches;
    server->watches = w;
}

static void send_event(struct zkf__conn *conn, int event, const char *path)
{
    zkf__channel_put(&conn->down, (struct zkf__item){
                                      .kind = ZKF__EVENT, .code = event, .path = path});
}

static bool take_watch(struct zkf__watch **at, const char *path, uint32_t hash)
{
    struct zkf__watch *w = *at;
    if (w->hash != hash || strcmp(w->path, path) != 0) {
        return false;
    }
    *at = w->next;
    return true;
}

/*
 * Fires and removes the watches of @type on @node. For a deletion, each connection is notified once. Since the fix of
 * CVE-2024-23944, servers withhold the event of a node that the client may not read, although they remove the watch:
 * WatchManager.triggerWatch() removes it from its table, and NIOServerCnxn.process(event, znodeAcl) drops the event.
 * Events sent by setWatches() are not checked in this way.
 */
static void fire(struct zkf__server *server,
                 enum zkf__watch_type type,
                 int event,
                 const struct zkf_node *node)
{
    if (!server) {
        return;
    }
    const char *path = node->path;
    bool lapses = zkf__w.lapses != 0 &&
                  (zkf__w.lapses == node->hash || zkf__w.lapses == node->parent_hash);
    /*
     * A client that is not notified when a directory was deleted, or changed (which uses up the same watch), cannot
     * react for a while. See children_cache.h.
     */
    bool guards = type == ZKF__DATA && node->creates > 0;
    bool hushed =
        zkf__w.config.hushes && !guards && (lapses || (node->forbidden & ZKF_READ));
    struct zkf__watch **at = &server->watches;
    uint32_t hash = zkf_hash(path);
    struct zkf__conn *told[8];
    size_t count = 0;
    while (*at) {
        struct zkf__watch *w = *at;
        bool fits = w->type == type || event == ZKF__EV_DELETED;
        if (!fits || !take_watch(at, path, hash)) {
            at = &w->next;
            continue;
        }
        bool again = false;
        for (size_t i = 0; i < count; i++) {
            again = again || told[i] == w->conn;
        }
        if (!again && count < sizeof(told) / sizeof(told[0])) {
            told[count++] = w->conn;
            zkf__did.hushed += hushed;
            if (!hushed) {
                send_event(w->conn, event, path);
            }
        }
    }
}

void zkf__drop_watches(struct zkf__server *server, const struct zkf__conn *conn)
{
    struct zkf__watch **at = &server->watches;
    while (*at) {
        if ((*at)->conn == conn) {
            *at = (*at)->next;
        } else {
            at = &(*at)->next;
        }
    }
}

/* A client has reconnected. Watches of nodes that have changed meanwhile fire now, and the others are set again. */
void zkf__set_watches(struct zkf__server *server, const struct zkf__req *req)
{
    for (const struct zkf__watch *w = req->watches; w; w = w->next) {
        const struct zkf_node *node = zkf__tree_find(&server->tree, w->path, w->hash);
        if (w->type == ZKF__EXIST ? node != NULL : node == NULL) {
            send_event(req->conn, node ? ZKF__EV_CREATED : ZKF__EV_DELETED, w->path);
        } else if (w->type == ZKF__DATA && node->mzxid > req->seen) {
            send_event(req->conn, ZKF__EV_CHANGED, w->path);
        } else if (w->type == ZKF__CHILD && node->pzxid > req->seen) {
            send_event(req->conn, ZKF__EV_CHILD, w->path);
        } else {
            struct zkf__watch set = *w;
            set.type = w->type == ZKF__CHILD ? ZKF__CHILD : ZKF__DATA;
            add_watch(server, req->conn, &set);
        }
    }
}

/* --- applying --- */

static struct zkf_node *new_node(struct zkf__tree *t)
{
    struct zkf_node *node = t->spare;
    if (node) {
        t->spare = node->next;
        return node;
    }
    return zkf__alloc(sizeof(*node));
}

int zkf__next_number(const struct zkf_node *parent)
{
    bool unapplied = parent->creates == INT32_MAX && parent->counted_at == zkf__w.now &&
                     parent->next_unapplied < 0;
    return unapplied ? parent->next_unapplied : parent->creates;
}

/*
 * Computes the number of the next child. Servers only raise the number, so beyond the largest value it stays the same.
 * But for children that are not applied yet, the leader continues to count, and wraps around.
 */
static void count_create(struct zkf_node *parent)
{
    parent->next_unapplied = zkf__next_number(parent) == INT32_MAX
                                 ? INT32_MIN
                                 : zkf__next_number(parent) + 1;
    parent->counted_at = zkf__w.now;
    parent->creates += parent->creates < INT32_MAX;
}

static void apply_create(struct zkf__tree *t,
                         const struct zkf__txn *txn,
                         struct zkf__server *server)
{
    struct zkf_node *node = new_node(t);
    *node = txn->node;
    node->czxid = node->mzxid = node->pzxid = txn->zxid;
    node->next = t->first;
    t->first = node;
    struct zkf_node *parent = zkf__tree_parent(t, node->path);
    if (parent->creates < INT32_MAX) {
        parent->pzxid = txn->zxid;
    }
    count_create(parent);
    parent->children++;
    fire(server, ZKF__DATA, ZKF__EV_CREATED, node);
    fire(server, ZKF__CHILD, ZKF__EV_CHILD, parent);
}

static void apply_delete(struct zkf__tree *t,
                         const struct zkf__txn *txn,
                         struct zkf_node *node,
                         struct zkf__server *server)
{
    if (t == &zkf__w.head && zkf__w.config.hooks.on_deleting) {
        zkf__w.config.hooks.on_deleting(node);
    }
    struct zkf_node **at = &t->first;
    while (*at != node) {
        at = &(*at)->next;
    }
    *at = node->next;
    struct zkf_node *parent = zkf__tree_parent(t, node->path);
    parent->children--;
    parent->pzxid = txn->zxid;
    node->next = t->spare;
    t->spare = node;
    fire(server, ZKF__DATA, ZKF__EV_DELETED, node);
    fire(server, ZKF__CHILD, ZKF__EV_CHILD, parent);
}

/* Each server deletes the nodes of a session in its own order. */
static void
apply_close(struct zkf__tree *t, const struct zkf__txn *txn, struct zkf__server *server)
{
    struct zkf_node *node;
    do {
        int64_t count = 0;
        struct zkf_node *chosen = NULL;
        for (node = t->first; node; node = node->next) {
            if (node->owner == txn->session && zkf_below(++count) == 0) {
                chosen = node;
            }
        }
        node = chosen;
        if (node) {
            apply_delete(t, txn, node, server);
        }
    } while (node);
}

static void apply_wipe(struct zkf__tree *t)
{
    struct zkf_node *next;
    for (struct zkf_node *node = t->first; node; node = next) {
        next = node->next;
        if (t == &zkf__w.head && node->owner != 0 && zkf__w.config.hooks.on_deleting) {
            zkf__w.config.hooks.on_deleting(node);
        }
        if (strcmp(node->path, "/") != 0) {
            node->next = t->spare;
            t->spare = node;
        } else {
            t->first = node;
            node->creates = node->children = 0;
        }
    }
    t->first->next = NULL;
}

void zkf__apply(struct zkf__tree *t,
                const struct zkf__txn *txn,
                struct zkf__server *server)
{
    struct zkf_node *node;
    t->zxid = txn->zxid;
    switch (txn->kind) {
    case ZKF__T_CREATE:
        apply_create(t, txn, server);
        break;
    case ZKF__T_DELETE:
        node = zkf__tree_find(t, txn->node.path, txn->node.hash);
        if (node) {
            apply_delete(t, txn, node, server);
        }
        break;
    case ZKF__T_SET:
        node = zkf__tree_find(t, txn->node.path, txn->node.hash);
        if (node) {
            node->mzxid = txn->zxid;
            node->version++;
            zkf__tree_parent(t, node->path)->child_writes++;
            node->data = txn->node.data ? txn->node.data : node->data;
            node->data_len = txn->node.data ? txn->node.data_len : node->data_len;
            fire(server, ZKF__DATA, ZKF__EV_CHANGED, node);
        }
        break;
    case ZKF__T_CLOSE:
        apply_close(t, txn, server);
        break;
    case ZKF__T_ACL:
        node = zkf__tree_find(t, txn->node.path, txn->node.hash);
        if (node) {
            node->forbidden = txn->node.forbidden;
        }
        break;
    case ZKF__T_COUNT:
        node = zkf__tree_find(t, txn->node.path, txn->node.hash);
        if (node) {
            node->creates = txn->number;
        }
        break;
    case ZKF__T_WIPE:
        apply_wipe(t);
        break;
    case ZKF__T_MULTI:
        zkf__apply_multi(t, txn, server);
        break;
    case ZKF__T_NOTHING:
        break;
    }
}

/* --- reads --- */

static void list_names(const struct zkf__tree *t, struct zkf__req *req, int children)
{
    size_t len = strlen(req->path);
    len -= len == 1; /* the path of the root is only a slash */
    req->names = zkf__alloc((size_t)children * sizeof(*req->names));
    /* Servers list children in an arbitrary order. */
    size_t turn = (size_t)zkf_below(children);
    for (const struct zkf_node *node = t->first; node; node = node->next) {
        if (strncmp(node->path, req->path, len) == 0 && node->path[len] == '/' &&
            node->path[len + 1] != '\0' && !strchr(node->path + len + 1, '/')) {
            size_t at = (req->name_count++ + turn) % (size_t)children;
            req->names[at] = node->path + len + 1;
        }
    }
}

static int64_t told_number(const struct zkf_node *parent)
{
    switch (zkf__w.config.counting) {
    case ZKF_COUNTS_WRITES:
        return (int64_t)parent->creates + parent->child_writes / 2;
    case ZKF_COUNTS_LIVING:
        return parent->children;
    case ZKF_COUNTS_APART:
        return parent->creates + parent->pzxid % 4;
    case ZKF_COUNTS_CHILDREN:
    default:
        return parent->creates;
    }
}

void zkf__read(struct zkf__server *server, struct zkf__req *req)
{
    const struct zkf_node *node = zkf__tree_find(&server->tree, req->path, req->hash);
    struct zkf__watch watch = {.path = req->path, .hash = req->hash};
    req->zxid = server->tree.zxid;
    req->rc = node ? ZKF__OK : ZKF__NONODE;
    if (node && (node->forbidden & ZKF_READ) &&
        (req->kind != ZKR__OP_EXISTS || zkf__w.config.exists_asks)) {
        req->rc = ZKF__NOAUTH;
        zkf__did.refused++;
        return;
    }
    if (req->kind == ZKR__OP_CHILDREN) {
        watch.type = ZKF__CHILD;
    }
    if (req->watch && (node || req->kind == ZKR__OP_EXISTS)) {
        add_watch(server, req->conn, &watch);
    }
    if (node && (req->kind == ZKR__OP_GET || req->kind == ZKR__OP_EXISTS ||
                 req->kind == ZKR__OP_CHILDREN)) {
        req->czxid = node->czxid;
        req->owner = node->owner;
        req->created_ms = node->created_ms;
        req->out_version = node->version;
    }
    if (node && req->kind == ZKR__OP_ACL) {
        req->out_open = node->forbidden == 0;
        req->out_empty = node->data_len == 0;
        req->out_version = node->version;
    }
    if (node && req->kind == ZKR__OP_GET) {
        req->out_data = node->data;
        req->out_len = node->data_len;
    } else if (node && req->kind == ZKR__OP_CHILDREN) {
        list_names(&server->tree, req, node->children);
        req->made = told_number(node);
        zkf__did.miscounted += req->made != node->creates;
    }
}
