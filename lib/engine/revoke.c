/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/revoke.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "engine/children.h"
#include "engine/claim.h"
#include "engine/inquiry.h"
#include "engine/session_events.h"

/* --- to be asked --- */

bool zkr__wish_take(const struct zkr__queue *q, bool *more)
{
    const struct zkr__engine *engine = q->c->engine;
    struct zkr__claim *claim, *asked = NULL;
    *more = false;
    DL_FOREACH2(engine->held, claim, held_next)
    {
        if (claim->q == q && claim->taken && claim->wishes > 0) {
            *more = *more || asked || claim->wishes > 1;
            asked = asked ? asked : claim;
        }
    }
    if (asked) {
        asked->wishes--;
    }
    return asked != NULL;
}

/* --- to ask --- */

struct asking {
    struct zkr__inquiry asked;
    struct zkr__queue *q;
    char **paths; /* of those who hold */
    size_t count;
    bool leads; /* the first is a leader, who is not asked */
};

static struct asking *asking_of(struct zkr__inquiry *asked)
{
    return ZKR__OWNER_OF(asked, struct asking, asked);
}

static void free_asking(struct zkr__inquiry *asked) ZKR__LOCKED
{
    struct asking *a = asking_of(asked);
    for (size_t i = 0; i < a->count; i++) {
        zkr__mem_free(a->paths[i]);
    }
    zkr__mem_free(a->paths);
    zkr__queue_unref(a->q);
    zkr__mem_free(a);
}

static size_t count_holders(const struct zkr__children *children)
{
    size_t count = 0;
    while (count < children->count && !zkr__holds_alone(&children->list[count])) {
        count++;
    }
    return count > 0 ? count : children->count > 0;
}

static int take_holders(struct asking *a, const struct zkr__answer *answer)
{
    struct zkr__children children;
    int code = zkr__children_order(&children, answer->names, answer->name_count,
                                   ZKR__ANY_NUMBER, NULL, NULL);
    if (code != ZKR_OK) {
        return code;
    }
    a->leads = children.count > 0 && children.list[0].kind == ZKR__NAME_LATCH;
    size_t count = a->leads ? 0 : count_holders(&children);
    a->paths = zkr__mem_alloc((count + 1) * sizeof(*a->paths));
    while (a->paths && a->count < count) {
        a->paths[a->count] = zkr__path_join(a->q->dir, children.list[a->count].name);
        if (!a->paths[a->count]) {
            break;
        }
        a->count++;
    }
    zkr__children_free(&children);
    return a->paths && a->count == count ? ZKR_OK : ZKR_ENOMEM;
}

static int take_node(struct asking *a, const char *node)
{
    a->paths = zkr__mem_alloc(sizeof(*a->paths));
    char *path = a->paths ? zkr__path_join(a->q->dir, node) : NULL;
    if (path) {
        a->paths[a->count++] = path;
    }
    return path ? ZKR_OK : ZKR_ENOMEM;
}

static void
on_names(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct asking *a = asking_of(ctx);
    (void)tag;
    bool told = answer->code == ZKR_OK || answer->code == ZKR_ENONODE;
    zkr__inquiry_answered(&a->asked, told ? take_holders(a, answer) : answer->code);
}

/* One that has gone meanwhile is as good as asked, or deleted. */
static void
on_written(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    (void)tag;
    bool done = answer->code == ZKR_OK || answer->code == ZKR_ENONODE;
    zkr__inquiry_answered(ctx, done ? ZKR_OK : answer->code);
}

static int find_holders(struct asking *a, int64_t deadline) ZKR__LOCKED
{
    struct zkr__op op = {.kind = ZKR__OP_CHILDREN, .path = a->q->dir};
    zkr__inquiry_ask(&a->asked, &op, on_names, 0);
    return zkr__inquiry_await(&a->asked, deadline);
}

static int
write_to_all(struct asking *a, enum zkr__op_kind kind, int64_t deadline) ZKR__LOCKED
{
    for (size_t i = 0; i < a->count; i++) {
        const struct zkr__op op = {.kind = kind,
                                   .path = a->paths[i],
                                   .data = ZKR__WISH,
                                   .data_len = sizeof(ZKR__WISH) - 1,
                                   .version = -1};
        zkr__inquiry_ask(&a->asked, &op, on_written, 0);
    }
    return zkr__inquiry_await(&a->asked, deadline);
}

/* NULL: no memory. */
static struct asking *begin(struct zkr__queue *q) ZKR__LOCKED
{
    struct zkr__engine *engine = zkr__engine_of(q->c);
    struct asking *a = engine ? zkr__mem_alloc(sizeof(*a)) : NULL;
    if (!a) {
        return NULL;
    }
    a->asked.c = q->c;
    a->asked.free = free_asking;
    if (zkr__inquiry_begin(&a->asked, engine) != ZKR_OK) {
        zkr__mem_free(a);
        return NULL;
    }
    a->q = q;
    q->refs++;
    return a;
}

/* @kind is done to @node; NULL: to all who hold. */
static int
act(struct zkr__queue *q, const char *node, enum zkr__op_kind kind) ZKR__LOCKED
{
    zkr_client *c = q->c;
    int64_t deadline = zkr__clock_deadline(zkr__now(c), c->options.connect_timeout_ms);
    struct asking *a = begin(q);
    if (!a) {
        return ZKR_ENOMEM;
    }
    int rc = zkr__inquiry_await_session(&a->asked, deadline);
    if (rc == ZKR_OK) {
        rc = node ? take_node(a, node) : find_holders(a, deadline);
    }
    if (rc == ZKR_OK) {
        rc = a->leads        ? ZKR_EINVAL
             : a->count == 0 ? ZKR_ENONODE
                             : write_to_all(a, kind, deadline);
    }
    zkr__inquiry_end(&a->asked, q->c->engine);
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

static bool is_contender(const char *node, enum zkr__name_kind *kind)
{
    int64_t sequence;
    return node && !strchr(node, '/') && zkr__name_parse(node, kind, &sequence);
}

static int refuse_node(const struct zkr__queue *q, const char *node)
{
    return zkr__fail(ZKR_EINVAL, q->dir, "%.100s is not a contender's node",
                     node ? node : "NULL");
}

int zkr__queue_revoke_node(struct zkr__queue *q, const char *node)
{
    enum zkr__name_kind kind;
    if (!is_contender(node, &kind)) {
        return refuse_node(q, node);
    }
    if (kind == ZKR__NAME_LATCH) {
        return refuse_leader(q);
    }
    zkr__lock(q->c);
    int rc = act(q, node, ZKR__OP_SET);
    zkr__unlock(q->c);
    return fail(rc, q, "ask a contender");
}

int zkr__queue_evict(struct zkr__queue *q, const char *node)
{
    enum zkr__name_kind kind;
    if (!is_contender(node, &kind)) {
        return refuse_node(q, node);
    }
    zkr__lock(q->c);
    int rc = act(q, node, ZKR__OP_DELETE);
    zkr__unlock(q->c);
    return fail(rc, q, "delete a node");
}
