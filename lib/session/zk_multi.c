/* SPDX-License-Identifier: Apache-2.0 */
#include "session/zk_multi.h"

#include <limits.h>
#include <string.h>
#include <zookeeper/proto.h>
#include <zookeeper/zookeeper.h>

#include "base/error.h"
#include "base/path.h"
#include "session/zk_log.h"
#include "session/zk_value.h"

/*
 * In a transaction, a create returns no Stat, so the answer to a CREATES lacks the czxid of its nodes. Therefore the
 * last three operations of a CREATES create a node, set its data and delete it. No client ever sees that node, and the
 * set returns a Stat whose mzxid is the zxid of the transaction.
 */
enum { STAMP_OPS = 3 };

/*
 * Scratch memory of a request: this struct and the operations. For a MULTI, a Stat for each of the caller's operations
 * and their buffers follow. For a CREATES, a struct made follows.
 */
struct multi {
    int count;              /* number of results */
    size_t first, op_count; /* which of the operations are the caller's */
    struct made *made;      /* results of a CREATES */
    zoo_op_result_t results[];
};

/* The nodes that a CREATES has created. The text of their paths follows. */
struct made {
    struct Stat stamp;
    size_t count;
    const char *paths[];
};

static zoo_op_t *ops_of(struct multi *m)
{
    return (void *)&m->results[m->count];
}

/* Returns the index of the caller's first operation. */
static size_t first(const struct zkr__op *op)
{
    return op->path_count + (op->makes ? 1 : 0);
}

static size_t total(const struct zkr__op *op)
{
    return op->kind == ZKR__OP_CREATES ? op->creation_count + STAMP_OPS
                                       : first(op) + op->op_count + op->deleted_count;
}

static size_t made_room(const struct zkr__creation *creation)
{
    enum { SEQUENCE_LEN = 11 };
    return strlen(creation->path) + SEQUENCE_LEN + 1;
}

static size_t buffer_size(const zoo_op_t *op)
{
    bool wanted = op->type == ZOO_CREATE_OP && op->create_op.buf;
    return wanted && op->create_op.buflen > 0 ? (size_t)op->create_op.buflen : 0;
}

size_t zkr__zk_scratch(const struct zkr__op *op)
{
    size_t size = sizeof(struct multi) +
                  total(op) * (sizeof(zoo_op_result_t) + sizeof(zoo_op_t)) +
                  op->op_count * sizeof(struct Stat) +
                  (op->kind == ZKR__OP_CREATES ? sizeof(struct made) : 0);
    for (size_t i = 0; i < op->op_count; i++) {
        size += buffer_size(&op->ops[i]);
    }
    for (size_t i = 0; i < op->creation_count; i++) {
        size += sizeof(char *) + made_room(&op->creations[i]);
    }
    return size;
}

/* --- sending --- */

/* Add the caller's operations, but with buffers and Stats in the scratch memory. */
static void put_caller_ops(struct multi *m, const struct zkr__op *op)
{
    zoo_op_t *to = ops_of(m) + m->first;
    struct Stat *stats = (void *)(ops_of(m) + m->count);
    char *buffers = (char *)(stats + op->op_count);
    for (size_t i = 0; i < op->op_count; i++) {
        to[i] = op->ops[i];
        if (to[i].type == ZOO_CREATE_OP) {
            size_t size = buffer_size(&op->ops[i]);
            to[i].create_op.buf = size > 0 ? buffers : NULL;
            to[i].create_op.buflen = (int)size;
            buffers += size;
        } else if (to[i].type == ZOO_SETDATA_OP) {
            to[i].set_op.stat = to[i].set_op.stat ? &stats[i] : NULL;
        }
    }
}

/* A server's code for a transaction that it has not read. Newer headers have a name for this code. */
enum { THROTTLED = -127 };

/*
 * Returns whether a server has read the operations. If not, libzookeeper gives all of them the code of the transaction.
 * If so, the operations after the failed one have ZRUNTIMEINCONSISTENCY.
 */
static bool looked_at(const struct multi *m, int rc)
{
    int code = zkr__zk_code(rc);
    bool alike = m->count > 1 && m->results[0].err == rc && m->results[1].err == rc;
    return rc == ZOK || (rc <= ZAPIERROR && rc != THROTTLED && code != ZKR_ECONNLOSS &&
                         code != ZKR_ESESSION && !alike);
}

static size_t failed_at(const struct multi *m)
{
    for (int i = 0; i < m->count; i++) {
        int err = m->results[i].err;
        if (err != ZOK && err != ZRUNTIMEINCONSISTENCY) {
            return (size_t)i;
        }
    }
    return SIZE_MAX;
}

/* Set the codes in advance, because libzookeeper does not change a result that the answer lacks. */
static void expect_results(struct multi *m)
{
    for (int i = 0; i < m->count; i++) {
        m->results[i].err = ZRUNTIMEINCONSISTENCY;
    }
}

/* Returns the answer of the transaction. The transaction has succeeded only if each of its operations has. */
static struct zkr__answer answer_of(const struct multi *m, int rc)
{
    struct zkr__answer a = {
        .code = zkr__zk_code(rc), .zk_rc = rc, .failed_at = SIZE_MAX};
    for (int i = 0; rc == ZOK && i < m->count; i++) {
        if (m->results[i].err != ZOK) {
            a.code = ZKR_ECONNLOSS;
            a.zk_rc = ZRUNTIMEINCONSISTENCY;
        }
    }
    return a;
}

static void on_done(int rc, const void *data)
{
    struct zkr__asker *asker = (void *)(uintptr_t)data;
    const struct multi *m = asker->scratch;
    struct zkr__answer a = answer_of(m, rc);
    if (looked_at(m, a.zk_rc)) {
        a.failed_at = failed_at(m);
        a.results = m->op_count > 0 ? &m->results[m->first] : NULL;
    }
    if (m->made && a.code == ZKR_OK) {
        a.names = m->made->paths;
        a.name_count = m->made->count;
        a.czxid = m->made->stamp.mzxid;
    }
    asker->answer(asker, &a);
}

static void put_creates(struct multi *m, const struct zkr__op *op)
{
    size_t count = op->creation_count;
    zoo_op_t *ops = ops_of(m);
    struct made *made = (void *)(ops + m->count);
    char *text = (char *)&made->paths[count];
    m->made = made;
    made->count = count;
    for (size_t i = 0; i < count; i++) {
        const struct zkr__creation *creation = &op->creations[i];
        size_t room = made_room(creation);
        zoo_create_op_init(&ops[i], creation->path, creation->data,
                           (int)creation->data_len, op->acl, ZOO_EPHEMERAL_SEQUENTIAL,
                           text, (int)room);
        made->paths[i] = text;
        text += room;
    }
    /* No node has this path, because the names of the created nodes end in a number. */
    const char *stamp = op->creations[0].path;
    zoo_create_op_init(&ops[count], stamp, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    zoo_set_op_init(&ops[count + 1], stamp, NULL, -1, -1, &made->stamp);
    zoo_delete_op_init(&ops[count + 2], stamp, -1);
}

/* Add the operations of a CHECK or a MULTI. */
static void put_parts(struct multi *m, const struct zkr__op *op)
{
    zoo_op_t *ops = ops_of(m);
    m->first = first(op);
    m->op_count = op->op_count;
    for (size_t i = 0; i < op->path_count; i++) {
        const struct zkr__edit *edit = op->edits ? &op->edits[i] : NULL;
        if (edit && edit->data) {
            zoo_set_op_init(&ops[i], op->paths[i], edit->data, (int)edit->data_len,
                            edit->version, NULL);
        } else {
            zoo_check_op_init(&ops[i], op->paths[i],
                              op->versions ? op->versions[i] : -1);
        }
    }
    if (op->makes) {
        zoo_create_op_init(&ops[op->path_count], op->makes->path, op->makes->data,
                           (int)op->makes->data_len, op->acl, ZOO_EPHEMERAL, NULL, 0);
    }
    put_caller_ops(m, op);
    for (size_t i = 0; i < op->deleted_count; i++) {
        zoo_delete_op_init(&ops[m->first + m->op_count + i], op->deleted[i], -1);
    }
}

static int submit(void *zh, const struct zkr__op *op, struct zkr__asker *asker)
{
    if (zoo_state(zh) != ZOO_CONNECTED_STATE) {
        return is_unrecoverable(zh) ? ZINVALIDSTATE : ZCONNECTIONLOSS;
    }
    struct multi *m = asker->scratch;
    m->count = (int)total(op);
    expect_results(m);
    if (op->kind == ZKR__OP_CREATES) {
        put_creates(m, op);
    } else {
        put_parts(m, op);
    }
    return zoo_amulti(zh, m->count, ops_of(m), m->results, on_done, asker);
}

/*
 * On a handle that has ended, libzookeeper refuses an operation, and for each later operation frees a pointer that was
 * never set. So the handle must not end while operations are packed. A server can end a session only when the handle
 * reconnects, which zkr__log_hold() delays. A refusal of the credentials ends a connected handle, so session.c sends
 * nothing until they are accepted. One case remains: the handle has reconnected unnoticed, and its credentials are no
 * longer valid.
 */
int zkr__zk_multi_submit(void *zh, const struct zkr__op *op, struct zkr__asker *asker)
{
    zkr__log_hold();
    int rc = submit(zh, op, asker);
    zkr__log_let_go();
    return rc;
}

/* --- the caller's operations and results --- */

static const char *path_of(const zoo_op_t *op)
{
    switch (op->type) {
    case ZOO_CREATE_OP:
        return op->create_op.path;
    case ZOO_DELETE_OP:
        return op->delete_op.path;
    case ZOO_SETDATA_OP:
        return op->set_op.path;
    case ZOO_CHECK_OP:
        return op->check_op.path;
    default:
        return NULL;
    }
}

static const char *op_fault(const zoo_op_t *op)
{
    const char *path = path_of(op);
    if (!path) {
        return "it is of a kind that libzookeeper cannot put into a multi, or has no "
               "path";
    }
    int plain = ZOO_EPHEMERAL | ZOO_SEQUENCE;
    if (op->type == ZOO_CREATE_OP && (op->create_op.flags & ~plain) != 0) {
        return "libzookeeper cannot create containers and nodes with a time to live in "
               "a multi";
    }
    bool root = op->type != ZOO_CREATE_OP && strcmp(path, "/") == 0;
    return root ? NULL : zkr__path_fault(path);
}

int zkr__zk_ops_check(const struct zoo_op *ops, size_t count)
{
    enum { OPS_MAX = 100000 };
    if (count > OPS_MAX || (count > 0 && !ops)) {
        return zkr__fail(ZKR_EINVAL, NULL, "a transaction cannot have %zu operations",
                         count);
    }
    for (size_t i = 0; i < count; i++) {
        const char *fault = op_fault(&ops[i]);
        if (fault) {
            return zkr__fail(ZKR_EINVAL, path_of(&ops[i]), "operation %zu: %s", i,
                             fault);
        }
    }
    return ZKR_OK;
}

static int unsaid(const struct zkr__answer *answer)
{
    if (answer->zk_rc != ZOK) {
        return answer->zk_rc;
    }
    return answer->code == ZKR_ECONNLOSS  ? ZCONNECTIONLOSS
           : answer->code == ZKR_ESESSION ? ZSESSIONEXPIRED
                                          : ZSYSTEMERROR;
}

static void
copy_result(const zoo_op_result_t *from, const zoo_op_t *op, zoo_op_result_t *to)
{
    to->err = from->err;
    if (buffer_size(op) > 0) {
        to->value = op->create_op.buf;
        to->valuelen = op->create_op.buflen;
        (void)memset(to->value, 0, buffer_size(op));
        if (from->err == ZOK && from->value) {
            (void)memcpy(to->value, from->value,
                         strnlen(from->value, buffer_size(op) - 1));
        }
    } else if (op->type == ZOO_SETDATA_OP && op->set_op.stat && from->err == ZOK &&
               from->stat) {
        *op->set_op.stat = *from->stat;
        to->stat = op->set_op.stat;
    }
}

void zkr__zk_results(const struct zkr__answer *answer,
                     const struct zoo_op *ops,
                     size_t count,
                     struct zoo_op_result *results)
{
    for (size_t i = 0; i < count; i++) {
        results[i] = (zoo_op_result_t){.err = unsaid(answer)};
        if (answer->results) {
            copy_result(&answer->results[i], &ops[i], &results[i]);
        }
    }
}
