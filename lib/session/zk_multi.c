/* SPDX-License-Identifier: Apache-2.0 */
#include "session/zk_multi.h"

#include <limits.h>
#include <string.h>
#include <zookeeper/proto.h>
#include <zookeeper/zookeeper.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "session/zk_value.h"

/* Scratch memory of a request: this, a Stat for each of the caller's operations, and buffers. */
struct multi {
    int count;              /* of results */
    size_t first, op_count; /* the caller's among them */
    zoo_op_result_t results[];
};

static bool makes(const struct zkr__op *op)
{
    return op->kind == ZKR__OP_MULTI && op->makes;
}

/* Index of the caller's first operation. */
static size_t first(const struct zkr__op *op)
{
    return op->path_count + (makes(op) ? 1 : 0);
}

static size_t total(const struct zkr__op *op)
{
    return first(op) + op->op_count + op->deleted_count;
}

static size_t buffer_size(const zoo_op_t *op)
{
    bool wanted = op->type == ZOO_CREATE_OP && op->create_op.buf;
    return wanted && op->create_op.buflen > 0 ? (size_t)op->create_op.buflen : 0;
}

static size_t creates_scratch(const struct zkr__op *op);

size_t zkr__zk_multi_scratch(const struct zkr__op *op)
{
    if (op->kind == ZKR__OP_CREATES) {
        return creates_scratch(op);
    }
    size_t size = sizeof(struct multi) + total(op) * sizeof(zoo_op_result_t) +
                  op->op_count * sizeof(struct Stat);
    for (size_t i = 0; i < op->op_count; i++) {
        size += buffer_size(&op->ops[i]);
    }
    return size;
}

/* --- sending --- */

/* The caller's operations, with what they say to be filled replaced by our own. */
static void copy_ops(struct multi *m, const struct zkr__op *op, zoo_op_t *to)
{
    struct Stat *stats = (void *)&m->results[m->count];
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

/* Said of the whole by a server that does not look at it; newer headers name it. */
enum { THROTTLED = -127 };

/*
 * Has a server looked at the operations? Without that libzookeeper gives all of them the code of the
 * whole. What follows the one that failed has ZRUNTIMEINCONSISTENCY otherwise.
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

/* libzookeeper takes fewer results than operations, and leaves the others as they were. */
static void expect_results(struct multi *m)
{
    for (int i = 0; i < m->count; i++) {
        m->results[i].err = ZRUNTIMEINCONSISTENCY;
    }
}

/* Of the whole. It is done only when each of its operations is. */
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
    rc = a.zk_rc;
    if (looked_at(m, rc)) {
        a.failed_at = failed_at(m);
        a.bad_check = a.failed_at;
        a.results = m->op_count > 0 ? &m->results[m->first] : NULL;
    }
    asker->answer(asker, &a);
}

/* --- nodes made together --- */

/*
 * A create in a transaction answers no Stat, so none of the nodes tells its czxid. Therefore the last three
 * operations make a node, set it and delete it again: nobody ever sees it, and the set answers a Stat
 * whose mzxid is the transaction's zxid.
 */
enum { STAMP_OPS = 3 };

/*
 * Scratch memory of such a request: struct multi, this, the paths as the answer gives them, their text. The
 * operations stand in it too: that there is no memory for them is known before anything is sent.
 */
struct made {
    struct Stat stamp;
    size_t count;
    const char *paths[];
};

static size_t made_room(const struct zkr__creation *creation)
{
    enum { SEQUENCE_LEN = 11 };
    return strlen(creation->path) + SEQUENCE_LEN + 1;
}

static size_t creates_scratch(const struct zkr__op *op)
{
    size_t size = sizeof(struct multi) +
                  (op->creation_count + STAMP_OPS) * sizeof(zoo_op_result_t) +
                  (op->creation_count + STAMP_OPS) * sizeof(zoo_op_t) +
                  sizeof(struct made) + op->creation_count * sizeof(char *);
    for (size_t i = 0; i < op->creation_count; i++) {
        size += made_room(&op->creations[i]);
    }
    return size;
}

static struct made *made_of(struct multi *m)
{
    return (void *)((zoo_op_t *)(void *)&m->results[m->count] + m->count);
}

static void on_made(int rc, const void *data)
{
    struct zkr__asker *asker = (void *)(uintptr_t)data;
    struct multi *m = asker->scratch;
    const struct made *made = made_of(m);
    struct zkr__answer a = answer_of(m, rc);
    if (a.code == ZKR_OK) {
        a.names = made->paths;
        a.name_count = made->count;
        a.czxid = made->stamp.mzxid;
    } else if (looked_at(m, a.zk_rc)) {
        a.failed_at = failed_at(m);
    }
    asker->answer(asker, &a);
}

static int submit_creates(void *zh, const struct zkr__op *op, struct zkr__asker *asker)
{
    struct multi *m = asker->scratch;
    size_t count = op->creation_count;
    m->count = (int)(count + STAMP_OPS);
    zoo_op_t *ops = (void *)&m->results[m->count];
    struct made *made = made_of(m);
    made->count = count;
    char *text = (char *)&made->paths[count];
    const struct ACL_vector *acl = op->acl ? op->acl : &ZOO_OPEN_ACL_UNSAFE;
    for (size_t i = 0; i < count; i++) {
        const struct zkr__creation *creation = &op->creations[i];
        size_t room = made_room(creation);
        zoo_create_op_init(&ops[i], creation->path, creation->data,
                           (int)creation->data_len, acl, ZOO_EPHEMERAL_SEQUENTIAL, text,
                           (int)room);
        made->paths[i] = text;
        text += room;
    }
    const char *stamp = op->creations[0].path; /* without a number it is nobody's */
    zoo_create_op_init(&ops[count], stamp, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    zoo_set_op_init(&ops[count + 1], stamp, NULL, -1, -1, &made->stamp);
    zoo_delete_op_init(&ops[count + 2], stamp, -1);
    expect_results(m);
    return zoo_amulti(zh, m->count, ops, m->results, on_made, asker);
}

int zkr__zk_multi_submit(void *zh, const struct zkr__op *op, struct zkr__asker *asker)
{
    /*
     * With a handle that has ended an operation is refused, and for each behind it libzookeeper frees a
     * pointer that it has not set. So it must not get there. Credentials that are refused end a handle that is
     * connected: session.c has nothing sent before they are taken. A session ends by a word of a server to one
     * who connects, so a handle that is connected is some round trips away from that: longer than it
     * takes to pack the operations, unless this thread is held up in between. That, and a handle that has connected
     * anew before anybody was told of it, with credentials that were good until then, is what is left of it.
     */
    if (zoo_state(zh) != ZOO_CONNECTED_STATE) {
        return is_unrecoverable(zh) ? ZINVALIDSTATE : ZCONNECTIONLOSS;
    }
    if (op->kind == ZKR__OP_CREATES) {
        return submit_creates(zh, op, asker);
    }
    struct multi *m = asker->scratch;
    size_t count = total(op);
    zoo_op_t *ops = zkr__mem_alloc((count + 1) * sizeof(*ops)); /* it may be empty */
    if (!ops) {
        return ZMARSHALLINGERROR;
    }
    m->count = (int)count;
    m->first = first(op);
    m->op_count = op->op_count;
    for (size_t i = 0; i < op->path_count; i++) {
        const struct zkr__edit *edit = op->edits ? &op->edits[i] : NULL;
        if (edit && edit->data) {
            zoo_set_op_init(&ops[i], op->paths[i], edit->data, (int)edit->data_len,
                            edit->version, NULL);
        } else {
            zoo_check_op_init(&ops[i], op->paths[i], -1);
        }
    }
    if (makes(op)) {
        const struct zkr__creation *made = op->makes;
        zoo_create_op_init(&ops[op->path_count], made->path, made->data,
                           (int)made->data_len, zkr__zk_acl_or_open(op->acl),
                           ZOO_EPHEMERAL, NULL, 0);
    }
    copy_ops(m, op, ops + m->first);
    for (size_t i = 0; i < op->deleted_count; i++) {
        zoo_delete_op_init(&ops[count - op->deleted_count + i], op->deleted[i], -1);
    }
    expect_results(m);
    int rc = zoo_amulti(zh, m->count, ops, m->results, on_done, asker);
    zkr__mem_free(ops);
    return rc;
}

/* --- what the caller gave and gets --- */

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
