/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "engine/children.h"
#include "engine/claim.h"
#include "engine/contenders.h"
#include "engine/inquiry.h"

/* --- requests to us --- */

bool zkr__revocation_take(const struct zkr__queue *q, bool *more)
{
    const struct zkr__engine *engine = q->c->engine;
    struct zkr__claim *claim, *asked = NULL;
    *more = false;
    DL_FOREACH2(engine->held, claim, held_next)
    {
        if (claim->q == q && claim->taken && claim->revocations > 0) {
            *more = *more || asked || claim->revocations > 1;
            asked = asked ? asked : claim;
        }
    }
    if (asked) {
        asked->revocations--;
    }
    return asked != NULL;
}

/* --- requests to others --- */

struct asking {
    struct zkr__inquiry asked;
    struct zkr__queue *q;
    enum zkr__op_kind kind; /* what is done to each node */
    bool leads;             /* the first contender is a leader, which is not asked */
    bool found;             /* a node to write to, or to delete */
};

static struct asking *asking_of(struct zkr__inquiry *asked)
{
    return ZKR__OWNER_OF(asked, struct asking, asked);
}

static void free_asking(struct zkr__inquiry *asked) ZKR__LOCKED
{
    struct asking *a = asking_of(asked);
    zkr__queue_unref(a->q);
    zkr__mem_free(a);
}

/* A node that has gone meanwhile counts as written to, or deleted. */
static void
on_written(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    (void)tag;
    bool done = answer->code == ZKR_OK || answer->code == ZKR_ENONODE;
    zkr__inquiry_answered(ctx, done ? ZKR_OK : answer->code);
}

static void write_to(struct asking *a, const char *node) ZKR__LOCKED
{
    char *path = zkr__path_join(a->q->dir, node);
    const struct zkr__op op = {.kind = a->kind,
                               .path = path,
                               .data = ZKR__REVOKE_DATA,
                               .data_len = sizeof(ZKR__REVOKE_DATA) - 1,
                               .version = -1};
    a->found = true;
    zkr__inquiry_ask(&a->asked, &op, on_written, 0);
    zkr__mem_free(path);
}

static int write_to_holders(struct asking *a,
                            const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__children children;
    int code = zkr__children_order(&children, answer->names, answer->name_count,
                                   ZKR__ANY_NUMBER, NULL, NULL);
    if (code != ZKR_OK) {
        return code;
    }
    a->leads = children.count > 0 && children.list[0].kind == ZKR__NAME_LATCH;
    bool asks = !a->leads && zkr__inquiry_wanted(&a->asked);
    size_t count = asks ? zkr__rule_holders(&children) : 0;
    for (size_t i = 0; i < count; i++) {
        write_to(a, children.list[i].name);
    }
    zkr__children_free(&children);
    return ZKR_OK;
}

static void
on_names(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct asking *a = asking_of(ctx);
    (void)tag;
    bool told = answer->code == ZKR_OK || answer->code == ZKR_ENONODE;
    zkr__inquiry_answered(&a->asked, told ? write_to_holders(a, answer) : answer->code);
}

/* Do @kind to the child @node; NULL: to every contender that holds. */
static int
act(struct zkr__queue *q, const char *node, enum zkr__op_kind kind) ZKR__LOCKED
{
    struct asking *a = zkr__mem_alloc(sizeof(*a));
    if (!a) {
        return ZKR_ENOMEM;
    }
    a->q = q;
    a->kind = kind;
    q->refs++;
    int rc = zkr__inquiry_begin(&a->asked, q->c, free_asking);
    if (rc != ZKR_OK) {
        return rc;
    }
    if (node) {
        write_to(a, node);
    } else {
        const struct zkr__op op = {.kind = ZKR__OP_CHILDREN, .path = q->dir};
        zkr__inquiry_ask(&a->asked, &op, on_names, 0);
    }
    rc = zkr__inquiry_await(&a->asked);
    if (rc == ZKR_OK && !a->found) {
        rc = a->leads ? ZKR_EINVAL : ZKR_ENONODE;
    }
    zkr__inquiry_end(&a->asked);
    return rc;
}

static int fail(int rc, const struct zkr__queue *q, const char *what)
{
    return rc == ZKR_OK ? rc
                        : zkr__fail(rc, q->dir, "cannot %s of %s: %s", what, q->dir,
                                    zkr_strerror(rc));
}

static int refuse_leader(const struct zkr__queue *q)
{
    return zkr__fail(ZKR_EINVAL, q->dir,
                     "%s is an election: a leader cannot be asked; stop it on its host",
                     q->dir);
}

int zkr__queue_revoke(struct zkr__queue *q)
{
    zkr__lock(q->c);
    int rc = act(q, NULL, ZKR__OP_SET);
    zkr__unlock(q->c);
    return rc == ZKR_ENONODE  ? zkr__fail(rc, q->dir, "nobody holds %s", q->dir)
           : rc == ZKR_EINVAL ? refuse_leader(q)
                              : fail(rc, q, "ask the holder");
}

/* Do @kind to the child @node. A leader is not asked, as it does not look. */
static int
act_on(struct zkr__queue *q, const char *node, enum zkr__op_kind kind, const char *what)
{
    enum zkr__name_kind is;
    int64_t sequence;
    if (!node || strchr(node, '/') || !zkr__name_parse(node, &is, &sequence)) {
        return zkr__fail(ZKR_EINVAL, q->dir, "%.100s is not a contender's node",
                         node ? node : "NULL");
    }
    if (is == ZKR__NAME_LATCH && kind == ZKR__OP_SET) {
        return refuse_leader(q);
    }
    zkr__lock(q->c);
    int rc = act(q, node, kind);
    zkr__unlock(q->c);
    return fail(rc, q, what);
}

int zkr__queue_revoke_node(struct zkr__queue *q, const char *node)
{
    return act_on(q, node, ZKR__OP_SET, "ask a contender");
}

int zkr__queue_evict(struct zkr__queue *q, const char *node)
{
    return act_on(q, node, ZKR__OP_DELETE, "delete a node");
}
