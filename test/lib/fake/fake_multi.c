/* SPDX-License-Identifier: Apache-2.0 */
/* The fake's transactions: either all parts are carried out, or none. */
#include <stdlib.h>
#include <string.h>
#include <zookeeper/proto.h>
#include <zookeeper/zookeeper.h>

#include "fake_impl.h"
#include "util.h"

/* --- from the caller --- */

static struct zkf__req part(const struct zkf__req *whole,
                            int kind,
                            const char *path,
                            int version,
                            const void *data,
                            size_t data_len)
{
    return (struct zkf__req){.kind = kind,
                             .path = zkf__string(path),
                             .hash = zkf_hash(path),
                             .version = version,
                             .data = zkf__copy(data, data_len),
                             .data_len = data_len,
                             .label = whole->label};
}

static struct zkf__req part_of_op(const struct zkf__req *whole, const zoo_op_t *op)
{
    struct zkf__req p;
    switch (op->type) {
    case ZOO_CREATE_OP:
        p = part(whole, ZKR__OP_CREATE, op->create_op.path, -1, op->create_op.data,
                 op->create_op.datalen > 0 ? (size_t)op->create_op.datalen : 0);
        p.ephemeral = (op->create_op.flags & ZOO_EPHEMERAL) != 0;
        p.sequential = (op->create_op.flags & ZOO_SEQUENCE) != 0;
        return p;
    case ZOO_DELETE_OP:
        return part(whole, ZKR__OP_DELETE, op->delete_op.path, op->delete_op.version,
                    NULL, 0);
    case ZOO_SETDATA_OP:
        return part(whole, ZKR__OP_SET, op->set_op.path, op->set_op.version,
                    op->set_op.data,
                    op->set_op.datalen > 0 ? (size_t)op->set_op.datalen : 0);
    case ZOO_CHECK_OP:
        return part(whole, ZKF__CHECK_ONE, op->check_op.path, op->check_op.version,
                    NULL, 0);
    default:
        zkt_fail("the fake knows no operation %d", op->type);
    }
}

void zkf__multi_take(struct zkf__req *req, const struct zkr__op *op)
{
    req->failed_at = SIZE_MAX;
    req->first = op->path_count + (op->makes ? 1 : 0);
    req->op_count = op->op_count;
    req->parts = zkf__alloc((op->path_count + op->op_count + op->deleted_count + 1) *
                            sizeof(struct zkf__req));
    for (size_t i = 0; i < op->path_count; i++) {
        const struct zkr__edit *edit = op->edits ? &op->edits[i] : NULL;
        req->parts[req->part_count++] =
            edit && edit->data ? part(req, ZKR__OP_SET, op->paths[i], edit->version,
                                      edit->data, edit->data_len)
                               : part(req, ZKF__CHECK_ONE, op->paths[i],
                                      op->versions ? op->versions[i] : -1, NULL, 0);
    }
    if (op->makes) {
        struct zkf__req p = part(req, ZKR__OP_CREATE, op->makes->path, -1,
                                 op->makes->data, op->makes->data_len);
        p.ephemeral = true;
        req->parts[req->part_count++] = p;
    }
    for (size_t i = 0; i < op->op_count; i++) {
        req->parts[req->part_count++] = part_of_op(req, &op->ops[i]);
    }
    for (size_t i = 0; i < op->deleted_count; i++) {
        req->parts[req->part_count++] =
            part(req, ZKR__OP_DELETE, op->deleted[i], -1, NULL, 0);
    }
}

/* Like the real door, creates one more node after the others, sets its data and deletes it. */
void zkf__creates_take(struct zkf__req *req, int client, const struct zkr__op *op)
{
    req->failed_at = SIZE_MAX;
    req->first = op->creation_count;
    req->parts = zkf__alloc((op->creation_count + 3) * sizeof(struct zkf__req));
    for (size_t i = 0; i < op->creation_count; i++) {
        struct zkf__req p = part(req, ZKR__OP_CREATE, op->creations[i].path, -1,
                                 op->creations[i].data, op->creations[i].data_len);
        p.ephemeral = p.sequential = true;
        if (zkf__w.config.hooks.on_submit) {
            const struct zkr__op one = {.kind = ZKR__OP_CREATE,
                                        .path = op->creations[i].path};
            p.label = zkf__w.config.hooks.on_submit(client, &one);
        }
        req->parts[req->part_count++] = p;
    }
    static const int stamp[] = {ZKR__OP_CREATE, ZKR__OP_SET, ZKR__OP_DELETE};
    for (size_t i = 0; i < 3; i++) {
        struct zkf__req p = part(req, stamp[i], op->creations[0].path, -1, NULL, 0);
        p.label = 0;
        req->parts[req->part_count++] = p;
    }
}

/* --- at the leader and the servers --- */

static void begin_trial(struct zkf__tree *trial)
{
    while (trial->first) {
        struct zkf_node *node = trial->first;
        trial->first = node->next;
        node->next = trial->spare;
        trial->spare = node;
    }
    struct zkf_node **end = &trial->first;
    for (const struct zkf_node *node = zkf__w.head.first; node; node = node->next) {
        struct zkf_node *copy = trial->spare;
        if (copy) {
            trial->spare = copy->next;
        } else {
            copy = zkf__alloc(sizeof(*copy));
        }
        *copy = *node;
        copy->next = NULL;
        *end = copy;
        end = &copy->next;
    }
}

struct zkf__txn *zkf__prepare_multi(struct zkf__req *req)
{
    struct zkf__txn *txn = zkf__alloc(sizeof(*txn));
    txn->req = req;
    txn->parts = zkf__alloc((req->part_count + 1) * sizeof(struct zkf__txn *));
    begin_trial(&zkf__w.trial);
    for (size_t i = 0; i < req->part_count; i++) {
        struct zkf__req *p = &req->parts[i];
        p->session = req->session;
        txn->parts[i] = zkf__prepare_on(&zkf__w.trial, p);
        if (p->rc != ZKF__OK) {
            req->rc = p->rc;
            req->failed_at = i;
            return txn;
        }
        zkf__apply(&zkf__w.trial, txn->parts[i], NULL);
    }
    req->rc = ZKF__OK;
    txn->kind = ZKF__T_MULTI;
    txn->part_count = req->part_count;
    return txn;
}

void zkf__apply_multi(struct zkf__tree *t,
                      const struct zkf__txn *txn,
                      struct zkf__server *server)
{
    for (size_t i = 0; i < txn->part_count; i++) {
        struct zkf__txn one = *txn->parts[i];
        one.zxid = txn->zxid;
        zkf__apply(t, &one, server);
    }
}

/* --- to the caller --- */

static int error_at(const struct zkf__req *req, size_t i)
{
    return i < req->failed_at ? ZKF__OK : i == req->failed_at ? req->rc : ZKF__RUNTIME;
}

static void *creates_answer(const struct zkf__req *req, int rc, struct zkr__answer *a)
{
    if (rc != ZKF__OK) {
        return NULL;
    }
    const char **names = calloc(req->first, sizeof(*names));
    if (!names) {
        zkt_fail("out of memory");
    }
    for (size_t i = 0; i < req->first; i++) {
        names[i] = req->parts[i].out_path;
    }
    a->names = names;
    a->name_count = req->first;
    a->czxid = req->zxid;
    return names;
}

void *zkf__multi_answer(const struct zkf__req *req, int rc, struct zkr__answer *a)
{
    bool said = rc == ZKF__OK ||
                (rc == req->rc && rc != ZKF__EXPIRED && req->failed_at != SIZE_MAX);
    a->failed_at = said ? req->failed_at : SIZE_MAX;
    if (req->kind == ZKR__OP_CREATES) {
        return creates_answer(req, rc, a);
    }
    if (!said || req->op_count == 0) {
        return NULL;
    }
    zoo_op_result_t *results =
        calloc(req->op_count, sizeof(*results) + sizeof(struct Stat));
    if (!results) {
        zkt_fail("out of memory");
    }
    struct Stat *stats = (void *)&results[req->op_count];
    for (size_t i = 0; i < req->op_count; i++) {
        const struct zkf__req *p = &req->parts[req->first + i];
        results[i].err = error_at(req, req->first + i);
        if (rc == ZKF__OK) {
            results[i].value = (char *)(uintptr_t)p->out_path;
            stats[i].mzxid = req->zxid;
            results[i].stat = &stats[i];
        }
    }
    a->results = results;
    return results;
}
