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
    bool missing;           /* a node or the directory is not there */
};

static void forget_asking(void *inquiry) ZKR__LOCKED
{
    zkr__queue_unref(((struct asking *)inquiry)->q);
}

/* A node that has gone meanwhile counts as written to, or deleted. */
static void
on_written(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct asking *a = ctx;
    (void)tag;
    a->missing = a->missing || answer->code == ZKR_ENONODE;
    bool done = answer->code == ZKR_OK || answer->code == ZKR_ENONODE;
    zkr__inquiry_answered(&a->asked, done ? ZKR_OK : answer->code);
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
    struct asking *a = ctx;
    (void)tag;
    a->missing = answer->code == ZKR_ENONODE;
    bool told = answer->code == ZKR_OK || answer->code == ZKR_ENONODE;
    zkr__inquiry_answered(&a->asked, told ? write_to_holders(a, answer) : answer->code);
}

/* Do @kind to the child @node; NULL: to every contender that holds. @chroot: false = it is missing, hence ZKR_ENONODE. */
static int act(struct zkr__queue *q,
               const char *node,
               enum zkr__op_kind kind,
               bool *chroot) ZKR__LOCKED
{
    struct asking *a = zkr__mem_alloc(sizeof(*a));
    if (!a) {
        return ZKR_ENOMEM;
    }
    a->q = q;
    a->kind = kind;
    q->refs++;
    int rc = zkr__inquiry_begin(&a->asked, q->c, forget_asking);
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
    if (rc == ZKR_OK && a->missing) {
        rc = zkr__inquiry_check_chroot(&a->asked);
        *chroot = rc != ZKR_ENONODE;
    }
    if (rc == ZKR_OK && !a->found) {
        rc = a->leads ? ZKR_EINVAL : ZKR_ENONODE;
    }
    zkr__inquiry_end(&a->asked);
    return rc;
}

int zkr__queue_act(struct zkr__queue *q, enum zkr__act what, const char *node)
{
    static const char *const words[] = {[ZKR__ASK_HOLDERS] = "ask the holder",
                                        [ZKR__ASK_NODE] = "ask a contender",
                                        [ZKR__DELETE_NODE] = "delete a node"};
    const char *dir = q->dir;
    enum zkr__name_kind kind = ZKR__NAME_LOCK;
    int64_t sequence;
    if (what != ZKR__ASK_HOLDERS &&
        (!node || strchr(node, '/') || !zkr__name_parse(node, &kind, &sequence))) {
        return zkr__fail(ZKR_EINVAL, dir, "%.100s is not a contender's node",
                         node ? node : "NULL");
    }
    bool leads =
        what == ZKR__ASK_NODE && kind == ZKR__NAME_LATCH; /* it does not look */
    int rc = ZKR_EINVAL;
    bool chroot = true;
    if (!leads) {
        bool deletes = what == ZKR__DELETE_NODE;
        zkr__lock(q->c);
        rc = act(q, node, deletes ? ZKR__OP_DELETE : ZKR__OP_SET, &chroot);
        zkr__unlock(q->c);
    }
    if (rc == ZKR_EINVAL && (leads || what == ZKR__ASK_HOLDERS)) {
        return zkr__fail(
            rc, dir, "%s is an election: a leader cannot be asked; stop it on its host",
            dir);
    }
    if (rc == ZKR_ENONODE && chroot) { /* a single node that is gone counts as asked */
        return zkr__fail(rc, dir, "nobody holds %s", dir);
    }
    return rc == ZKR_OK ? rc
                        : zkr__fail(rc, dir, "cannot %s of %s: %s", words[what], dir,
                                    chroot ? zkr_strerror(rc) : ZKR__NO_CHROOT);
}
