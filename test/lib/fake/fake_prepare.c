/* SPDX-License-Identifier: Apache-2.0 */
/* How the fake's leader prepares a write. */
#include <stdio.h>
#include <string.h>

#include "fake_impl.h"
#include "util.h"

static struct zkf__txn *nothing(struct zkf__req *req, int rc)
{
    struct zkf__txn *txn = zkf__alloc(sizeof(*txn));
    txn->req = req;
    req->rc = rc;
    return txn;
}

/* Changes by zkf_stranger_...() need no permission. */
static bool
may(const struct zkf_node *node, enum zkf_perm perm, const struct zkf__req *req)
{
    return !node || (node->forbidden & perm) == 0 || req->session == ZKF__STRANGER;
}

static bool fits(const struct zkf_node *parent, const struct zkf__req *req)
{
    bool over = parent && (parent->forbidden & ZKF_QUOTA) != 0;
    zkf__did.over_quota += over && req->session != ZKF__STRANGER;
    return !over || req->session == ZKF__STRANGER;
}

static struct zkf__txn *refuse(struct zkf__req *req)
{
    zkf__did.refused++;
    return nothing(req, ZKF__NOAUTH);
}

static struct zkf__txn *prepare_create(const struct zkf__tree *t, struct zkf__req *req)
{
    const struct zkf_node *parent = zkf__tree_parent(t, req->path);
    if (zkf__w.local != 0 && req->ephemeral && req->session != ZKF__STRANGER) {
        return nothing(req, t == &zkf__w.trial ? zkf__w.local : ZKF__LOCAL);
    }
    if (!parent) {
        return nothing(req, ZKF__NONODE);
    }
    if (!may(parent, ZKF_CREATE, req)) {
        return refuse(req);
    }
    if (!fits(parent, req)) {
        return nothing(req, ZKF__QUOTA_EXCEEDED);
    }
    const char *path = req->path;
    int number = zkf__next_number(parent);
    if (req->sequential) {
        size_t room = strlen(path) + 12;
        char *name = zkf__alloc(room);
        (void)snprintf(name, room, "%s%010d", path, number);
        path = name;
        zkf__did.stuck_numbers += number == INT32_MAX;
        zkf__did.negative_numbers += number < 0;
    }
    uint32_t hash = zkf_hash(path);
    if (zkf__tree_find(t, path, hash)) {
        return nothing(req, ZKF__EXISTS);
    }
    if (parent->owner != 0) {
        return nothing(req, ZKF__EPHEMERAL_PARENT);
    }
    struct zkf__txn *txn = nothing(req, ZKF__OK);
    txn->kind = ZKF__T_CREATE;
    txn->node = (struct zkf_node){
        .path = path,
        .hash = hash,
        .parent_hash = parent->hash,
        .sequence = req->sequential && number >= 0 ? number : -1,
        .owner = req->ephemeral ? req->session : 0,
        .created_ms = zkf__w.now / ZKR__MS,
        .container = req->container,
        .data = req->data,
        .data_len = req->data_len,
        .label = req->label,
    };
    req->out_path = path;
    req->owner = txn->node.owner;
    req->created_ms = txn->node.created_ms;
    return txn;
}

/*
 * Returns the node of the request, or NULL with the code in @req if there is no such node, or it has another version.
 */
static const struct zkf_node *wanted(const struct zkf__tree *t, struct zkf__req *req)
{
    const struct zkf_node *node = zkf__tree_find(t, req->path, req->hash);
    req->rc = !node ? ZKF__NONODE : ZKF__OK;
    if (node && req->version >= 0 && req->version != node->version) {
        req->rc = ZKF__BADVERSION;
    }
    return req->rc == ZKF__OK ? node : NULL;
}

static struct zkf__txn *prepare_delete(const struct zkf__tree *t, struct zkf__req *req)
{
    const struct zkf_node *node = wanted(t, req);
    bool missed = zkf__w.config.finds_first && req->rc == ZKF__NONODE;
    if (!missed && !may(zkf__tree_parent(t, req->path), ZKF_DELETE, req)) {
        return refuse(req);
    }
    if (!node) {
        return nothing(req, req->rc);
    }
    if (node->children > 0) {
        return nothing(req, ZKF__NOTEMPTY);
    }
    struct zkf__txn *txn = nothing(req, ZKF__OK);
    txn->kind = ZKF__T_DELETE;
    txn->node.path = req->path;
    txn->node.hash = req->hash;
    return txn;
}

static struct zkf__txn *prepare_set(const struct zkf__tree *t, struct zkf__req *req)
{
    const struct zkf_node *node = wanted(t, req);
    if (!may(node, ZKF_WRITE, req)) {
        return refuse(req);
    }
    if (node && !fits(zkf__tree_parent(t, req->path), req)) {
        return nothing(req, ZKF__QUOTA_EXCEEDED);
    }
    struct zkf__txn *txn = nothing(req, req->rc);
    if (node) {
        txn->kind = ZKF__T_SET;
        txn->node = *node;
        txn->node.data = req->data;
        txn->node.data_len = req->data_len;
    }
    return txn;
}

static struct zkf__txn *prepare_checks(const struct zkf__tree *t, struct zkf__req *req)
{
    for (size_t i = 0; i < req->path_count; i++) {
        const char *path = req->paths[i];
        const struct zkf_node *node = zkf__tree_find(t, path, zkf_hash(path));
        req->failed_at = i;
        if (!node) {
            return nothing(req, ZKF__NONODE);
        }
        if (!may(node, ZKF_READ, req)) {
            return refuse(req);
        }
    }
    req->failed_at = SIZE_MAX;
    return nothing(req, ZKF__OK);
}

static struct zkf__txn *prepare_check(const struct zkf__tree *t, struct zkf__req *req)
{
    const struct zkf_node *node = wanted(t, req);
    return may(node, ZKF_READ, req) ? nothing(req, req->rc) : refuse(req);
}

struct zkf__txn *zkf__prepare_on(const struct zkf__tree *t, struct zkf__req *req)
{
    switch (req->kind) {
    case ZKR__OP_CREATE:
    case ZKR__OP_PARENT:
        return prepare_create(t, req);
    case ZKR__OP_DELETE:
        return prepare_delete(t, req);
    case ZKR__OP_CHECK:
        return prepare_checks(t, req);
    case ZKR__OP_SET:
        return prepare_set(t, req);
    case ZKF__CHECK_ONE:
        return prepare_check(t, req);
    default:
        zkt_fail("the fake cannot write %d", req->kind);
    }
}

struct zkf__txn *zkf__prepare(struct zkf__req *req)
{
    return zkf__is_multi(req) ? zkf__prepare_multi(req)
                              : zkf__prepare_on(&zkf__w.head, req);
}
