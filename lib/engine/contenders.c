/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/contenders.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "engine/children.h"
#include "engine/inquiry.h"
#include "engine/session_events.h"

/* --- lists --- */

struct zkr_contenders {
    size_t count;
    zkr_contender list[];
};

size_t zkr_contenders_count(const zkr_contenders *list)
{
    return list ? list->count : 0;
}

const zkr_contender *zkr_contenders_get(const zkr_contenders *list, size_t i)
{
    return list && i < list->count ? &list->list[i] : NULL;
}

void zkr_contenders_free(zkr_contenders *list)
{
    for (size_t i = 0; list && i < list->count; i++) {
        zkr__contender_drop(&list->list[i]);
    }
    zkr__mem_free(list);
}

static void leave_out_vanished(zkr_contenders *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->list[i].owner) {
            list->list[kept++] = list->list[i];
        } else {
            zkr__contender_drop(&list->list[i]);
        }
    }
    list->count = kept;
}

/* The first, and those who hold beside it. */
static void mark_holders(zkr_contenders *list)
{
    int kind = list->count > 0 ? list->list[0].kind : 0;
    bool shared = kind == ZKR_KIND_READ || kind == ZKR_KIND_LEASE;
    for (size_t i = 0; i < list->count; i++) {
        bool holds = i == 0 || (shared && list->list[i].kind == kind);
        if (!holds) {
            return;
        }
        list->list[i].holds = true;
    }
}

/* --- reading --- */

/* A list of names, and what each node says. */
struct reading {
    struct zkr__inquiry asked;
    struct zkr__queue *q;
    zkr_contenders *result;
};

static struct reading *reading_of(struct zkr__inquiry *asked)
{
    return ZKR__OWNER_OF(asked, struct reading, asked);
}

static void free_reading(struct zkr__inquiry *asked) ZKR__LOCKED
{
    struct reading *r = reading_of(asked);
    zkr_contenders_free(r->result);
    zkr__queue_unref(r->q);
    zkr__mem_free(r);
}

static int take_names(struct reading *r, const struct zkr__answer *answer)
{
    struct zkr__children children;
    int code = zkr__children_order(&children, answer->names, answer->name_count,
                                   ZKR__ANY_NUMBER, NULL, NULL);
    if (code != ZKR_OK) {
        return code;
    }
    zkr_contenders *result =
        zkr__mem_alloc(sizeof(*result) + children.count * sizeof(*result->list));
    r->result = result;
    code = result ? ZKR_OK : ZKR_ENOMEM;
    for (size_t i = 0; code == ZKR_OK && i < children.count; i++) {
        result->list[i].node = zkr__mem_string(children.list[i].name);
        result->list[i].sequence = children.list[i].sequence;
        result->list[i].kind = zkr__contender_kind(children.list[i].kind);
        result->count++;
        code = result->list[i].node ? ZKR_OK : ZKR_ENOMEM;
    }
    zkr__children_free(&children);
    return code;
}

static void
on_names(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct reading *r = reading_of(ctx);
    (void)tag;
    bool missing = answer->code == ZKR_ENONODE;
    zkr__inquiry_answered(&r->asked, answer->code == ZKR_OK || missing
                                         ? take_names(r, answer)
                                         : answer->code);
}

static void
on_data(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct reading *r = reading_of(ctx);
    int code = answer->code == ZKR_ENONODE ? ZKR_OK : answer->code;
    if (answer->code == ZKR_OK) {
        code = zkr__contender_take(&r->result->list[tag], answer);
    }
    zkr__inquiry_answered(&r->asked, code);
}

static int read_all(struct reading *r, int64_t deadline) ZKR__LOCKED
{
    int rc = zkr__inquiry_await_session(&r->asked, deadline);
    if (rc != ZKR_OK) {
        return rc;
    }
    struct zkr__op op = {.kind = ZKR__OP_CHILDREN, .path = r->q->dir};
    zkr__inquiry_ask(&r->asked, &op, on_names, 0);
    rc = zkr__inquiry_await(&r->asked, deadline);
    if (rc != ZKR_OK) {
        return rc;
    }
    for (size_t i = 0; r->asked.code == ZKR_OK && i < r->result->count; i++) {
        char *path = zkr__path_join(r->q->dir, r->result->list[i].node);
        op = (struct zkr__op){.kind = ZKR__OP_GET, .path = path};
        zkr__inquiry_ask(&r->asked, &op, on_data, (unsigned)i);
        zkr__mem_free(path);
    }
    return zkr__inquiry_await(&r->asked, deadline);
}

/* ZKR_OK, ZKR_ETIMEDOUT, ZKR_ENOMEM, ZKR_ESYS, or what ZooKeeper said. */
static int read_queue(zkr_contenders **out, struct zkr__queue *q) ZKR__LOCKED
{
    zkr_client *c = q->c;
    int64_t deadline = zkr__clock_deadline(zkr__now(c), c->options.connect_timeout_ms);
    struct zkr__engine *engine = zkr__engine_of(c);
    struct reading *r = engine ? zkr__mem_alloc(sizeof(*r)) : NULL;
    if (!r) {
        return ZKR_ENOMEM;
    }
    r->asked.c = c;
    r->asked.free = free_reading;
    if (zkr__inquiry_begin(&r->asked, engine) != ZKR_OK) {
        zkr__mem_free(r);
        return ZKR_ESYS;
    }
    r->q = q;
    q->refs++;
    int rc = read_all(r, deadline);
    if (rc == ZKR_OK) {
        leave_out_vanished(r->result);
        mark_holders(r->result);
        *out = r->result;
        r->result = NULL;
    }
    zkr__inquiry_end(&r->asked, engine);
    return rc;
}

/* --- what objects are asked --- */

static int need_watch(const struct zkr__queue *q,
                      struct zkr__children_watch **watch) ZKR__LOCKED
{
    return *watch ? ZKR_OK
                  : zkr__children_watch_create(watch, q->c, q->dir, NULL, NULL);
}

/* From here on only what differs from @list is a change. */
static void watch_from(struct zkr__children_watch *watch,
                       const zkr_contenders *list) ZKR__LOCKED
{
    uint64_t print = 0;
    for (size_t i = 0; i < list->count; i++) {
        print += zkr__fingerprint(list->list[i].node);
    }
    zkr__children_watch_know(watch, print);
}

static int
copy_text(char *buf, size_t size, const char *text, const char *what, const char *path)
{
    size_t need = strlen(text) + 1;
    if (!buf || need > size) {
        return zkr__fail(ZKR_EINVAL, path, "the %s needs a buffer of %zu bytes", what,
                         need);
    }
    memcpy(buf, text, need);
    return ZKR_OK;
}

int zkr__contenders_list(zkr_contenders **out,
                         struct zkr__queue *q,
                         struct zkr__children_watch **watch)
{
    if (!out) {
        return zkr__fail(ZKR_EINVAL, q->dir, "there is no room for the result");
    }
    zkr__lock(q->c);
    int rc = read_queue(out, q);
    if (rc == ZKR_OK && watch && need_watch(q, watch) == ZKR_OK) {
        watch_from(*watch, *out);
    }
    zkr__unlock(q->c);
    return rc == ZKR_OK ? rc
                        : zkr__fail(rc, q->dir, "cannot read the contenders of %s: %s",
                                    q->dir, zkr_strerror(rc));
}

int zkr__contenders_first(char *buf,
                          size_t size,
                          struct zkr__queue *q,
                          struct zkr__children_watch **watch)
{
    zkr_contenders *list = NULL;
    int rc = zkr__contenders_list(&list, q, watch);
    if (rc != ZKR_OK) {
        return rc;
    }
    const zkr_contender *first = zkr_contenders_get(list, 0);
    rc = first ? copy_text(buf, size, first->owner, "leader's id", q->dir)
               : zkr__fail(ZKR_ENONODE, q->dir, "nobody takes part in %s", q->dir);
    zkr_contenders_free(list);
    return rc;
}

int zkr__contenders_await_change(struct zkr__queue *q,
                                 struct zkr__children_watch **watch,
                                 int64_t timeout_ms)
{
    zkr_client *c = q->c;
    int rc = zkr__timeout_check(timeout_ms, q->dir);
    if (rc != ZKR_OK) {
        return rc;
    }
    int64_t deadline = zkr__clock_deadline(zkr__now(c), timeout_ms);
    zkr__lock(c);
    rc = need_watch(q, watch);
    if (rc == ZKR_OK) {
        rc = zkr__children_watch_wait(*watch, deadline);
    }
    zkr__unlock(c);
    if (rc == ZKR_ETIMEDOUT) {
        return zkr__fail(rc, q->dir, "nobody came to or left %s within %lld ms", q->dir,
                         (long long)timeout_ms);
    }
    return rc == ZKR_OK
               ? rc
               : zkr__fail(rc, q->dir, "cannot watch %s: %s", q->dir, zkr_strerror(rc));
}

int zkr__contenders_node(char *buf, size_t size, const struct zkr__claim *claim)
{
    return copy_text(buf, size, claim->node, "node", claim->q->dir);
}
