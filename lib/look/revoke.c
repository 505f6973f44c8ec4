/* SPDX-License-Identifier: Apache-2.0 */
#include "look/revoke.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "look/contenders.h"
#include "queue/children.h"
#include "queue/claim.h"
#include "queue/engine_state.h"
#include "queue/makers.h"
#include "session/inquiry.h"

/* --- requests to us --- */

bool zkr__revocation_take(const struct zkr__queue *q, bool *more)
{
    const struct zkr__engine *engine = q->c->engine;
    struct zkr__claim *claim, *asked = NULL;
    *more = false;
    DL_FOREACH2(engine->held, claim, row_next)
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

/* The error text truncates names that are longer. */
enum { SPARED_ROOM = 256 };

struct asking {
    struct zkr__inquiry asked;
    struct zkr__queue *q;
    enum zkr__op_kind kind;     /* the operation on each node */
    struct zkr__children nodes; /* with copies of the nodes' names */
    bool missing;               /* a node or the directory does not exist */
    enum zkr__name_kind recipe; /* kind of the spared node */
    char spared[SPARED_ROOM];   /* name of the spared node; "" = none */
};

static void forget_asking(void *inquiry) ZKR__LOCKED
{
    struct asking *a = inquiry;
    zkr__children_free(&a->nodes);
    zkr__queue_unref(a->q);
}

/* Returns whether the name of the node allows the operation. Any ephemeral node may be deleted. */
static bool may_touch(const struct asking *a, const struct zkr__child *child)
{
    return a->kind == ZKR__OP_DELETE ||
           (child->kind != ZKR__NAME_LATCH &&
            zkr__name_is_protected(child->name, child->kind));
}

static void spare(struct asking *a, const struct zkr__child *child)
{
    a->recipe = child->kind;
    (void)snprintf(a->spared, sizeof(a->spared), "%s", child->name);
}

/* A node that was deleted meanwhile counts as written or deleted. */
static void
on_written(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct asking *a = ctx;
    (void)tag;
    a->missing = a->missing || answer->code == ZKR_ENONODE;
    bool done = answer->code == ZKR_OK || answer->code == ZKR_ENONODE;
    zkr__inquiry_answered(&a->asked, done ? ZKR_OK : answer->code);
}

static void ask(struct asking *a,
                size_t index,
                enum zkr__op_kind kind,
                zkr__answer_fn fn) ZKR__LOCKED
{
    char *path = zkr__path_join(a->q->dir, a->nodes.list[index].name);
    const struct zkr__op op = {.kind = kind,
                               .path = path,
                               .data = ZKR__REVOKE_DATA,
                               .data_len = sizeof(ZKR__REVOKE_DATA) - 1,
                               .version = -1};
    zkr__inquiry_ask(&a->asked, &op, fn, (unsigned)index);
    zkr__mem_free(path);
}

/* A node that is not ephemeral is spared. If the client may not read the node, the name decides. */
static void
on_looked(void *ctx, unsigned index, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct asking *a = ctx;
    const struct zkr__child *child = &a->nodes.list[index];
    bool hidden =
        answer->code == ZKR_EAUTH && zkr__name_is_protected(child->name, child->kind);
    bool owned = answer->code == ZKR_OK && answer->owner != 0;
    if ((owned || hidden) && zkr__inquiry_wanted(&a->asked)) {
        ask(a, index, a->kind, on_written);
    } else if (answer->code == ZKR_OK && !owned) {
        spare(a, child);
    }
    a->missing = a->missing || answer->code == ZKR_ENONODE;
    bool told = hidden || answer->code == ZKR_OK || answer->code == ZKR_ENONODE;
    zkr__inquiry_answered(&a->asked, told ? ZKR_OK : answer->code);
}

static bool none(void *ctx, const char *name)
{
    (void)ctx;
    (void)name;
    return false;
}

/* Check the first @count nodes of @from, and then apply the operation to them. */
static int
look_at(struct asking *a, const struct zkr__children *from, size_t count) ZKR__LOCKED
{
    const struct zkr__children first = {.list = from->list, .count = count};
    int code = zkr__children_copy(&a->nodes, &first, none, NULL);
    for (size_t i = 0; i < a->nodes.count; i++) {
        if (may_touch(a, &a->nodes.list[i])) {
            ask(a, i, ZKR__OP_EXISTS, on_looked);
        } else {
            spare(a, &a->nodes.list[i]);
        }
    }
    return code;
}

static int look_at_holders(struct asking *a,
                           const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__children children;
    int code =
        zkr__children_shown(&children, answer->names, answer->name_count, answer->made);
    if (code == ZKR_OK) {
        code = look_at(a, &children, zkr__rule_holders(&children));
    }
    zkr__children_free(&children);
    return code;
}

static void
on_names(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct asking *a = ctx;
    (void)tag;
    a->missing = answer->code == ZKR_ENONODE;
    bool told = answer->code == ZKR_OK || answer->code == ZKR_ENONODE;
    zkr__inquiry_answered(&a->asked, told ? look_at_holders(a, answer) : answer->code);
}

/* Begin with the child @node or, if @node is NULL, with every contender that holds. */
static void begin(struct asking *a, const char *node) ZKR__LOCKED
{
    if (node) {
        struct zkr__child one = {.name = node};
        (void)zkr__name_parse(node, &one.kind, &one.sequence);
        const struct zkr__children children = {.list = &one, .count = 1};
        int code = look_at(a, &children, 1);
        a->asked.code = a->asked.code == ZKR_OK ? code : a->asked.code;
    } else {
        const struct zkr__op op = {.kind = ZKR__OP_CHILDREN, .path = a->q->dir};
        zkr__inquiry_ask(&a->asked, &op, on_names, 0);
    }
}

/* Returns the error for the spared node. */
static int refuse(const struct asking *a, const char *dir)
{
    const struct zkr__maker *maker = zkr__maker_of(a->spared);
    bool asks = a->kind != ZKR__OP_DELETE;
    return asks && a->recipe == ZKR__NAME_LATCH
               ? zkr__fail(
                     ZKR_EINVAL, dir,
                     "%s is an election: its leader cannot be asked to release it; "
                     "stop it on its host",
                     dir)
           : !asks || zkr__name_is_protected(a->spared, a->recipe)
               ? zkr__fail(ZKR_EINVAL, dir,
                           "%s/%s is not ephemeral: it is not a contender's node", dir,
                           a->spared)
               : zkr__fail(ZKR_EINVAL, dir,
                           "%s/%s belongs to %s: its holder cannot be asked to release",
                           dir, a->spared, maker ? maker->name : "another recipe");
}

/*
 * Apply @kind to the child @node or, if @node is NULL, to every contender that holds. Sets *@refused if a node was
 * spared, and then returns the error for it.
 */
static int act(struct zkr__queue *q,
               const char *node,
               enum zkr__op_kind kind,
               int64_t deadline,
               bool *chroot,
               bool *refused) ZKR__LOCKED
{
    struct asking *a = zkr__mem_alloc(sizeof(*a));
    if (!a) {
        return ZKR_ENOMEM;
    }
    a->q = q;
    a->kind = kind;
    a->asked.deadline = deadline;
    q->refs++;
    int rc = zkr__inquiry_begin(&a->asked, q->c, forget_asking);
    if (rc != ZKR_OK) {
        return rc;
    }
    begin(a, node);
    rc = zkr__inquiry_await(&a->asked);
    if (rc == ZKR_OK && a->missing) {
        rc = zkr__inquiry_check_chroot(&a->asked);
        *chroot = rc != ZKR_ENONODE;
    }
    *refused = rc == ZKR_OK && a->spared[0] != '\0';
    if (*refused) {
        rc = refuse(a, q->dir);
    } else if (rc == ZKR_OK && a->nodes.count == 0) {
        rc = ZKR_ENONODE;
    }
    zkr__inquiry_end(&a->asked);
    return rc;
}

int zkr__queue_act(struct zkr__queue *q, enum zkr__act what, const char *node)
{
    static const char *const words[] = {[ZKR__ASK_HOLDERS] = "cannot ask the holder of",
                                        [ZKR__ASK_NODE] = "cannot ask a contender of",
                                        [ZKR__DELETE_NODE] = "cannot delete a node of"};
    const char *dir = q->dir;
    enum zkr__name_kind kind = ZKR__NAME_LOCK;
    int64_t sequence;
    if (what != ZKR__ASK_HOLDERS &&
        (!node || strchr(node, '/') || !zkr__name_parse(node, &kind, &sequence))) {
        return zkr__fail(ZKR_EINVAL, dir, "%.100s is not a contender's node",
                         node ? node : "NULL");
    }
    bool deletes = what == ZKR__DELETE_NODE, chroot = true, refused = false;
    struct zkr__tries t = {0};
    zkr__lock(q->c);
    while (zkr__inquiry_try(q->c, &t)) {
        t.rc = act(q, node, deletes ? ZKR__OP_DELETE : ZKR__OP_SET, t.deadline, &chroot,
                   &refused);
    }
    zkr__unlock(q->c);
    int rc = t.rc;
    if (refused) {
        return rc;
    }
    if (rc == ZKR_ENONODE && chroot) { /* a missing named node is no error */
        return zkr__fail(rc, dir, "nobody holds %s", dir);
    }
    return rc == ZKR_OK ? rc
           : chroot     ? zkr__fail_zk(rc, zkr_err_zk(rc), dir, words[what])
                    : zkr__fail(rc, dir, "%s %s: %s", words[what], dir, ZKR__NO_CHROOT);
}
