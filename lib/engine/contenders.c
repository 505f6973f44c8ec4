/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/contenders.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "engine/children.h"
#include "engine/inquiry.h"
#include "engine/permits.h"
#include "engine/session_events.h"
#include "session/resolve.h"

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

/* Of those who hold permits; @gate: see zkr__permits_held(). */
static void mark_permits(zkr_contenders *list, const zkr_contender *gate)
{
    int64_t max;
    size_t held = zkr__permits_held(list->list, list->count, gate, &max);
    for (size_t i = 0; i < held; i++) {
        list->list[i].holds = true;
    }
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
    struct zkr__queue *gate; /* NULL: this is no semaphore */
    bool missing;            /* the directory */
    zkr_contenders *result;
    zkr_contenders *first; /* at the gate, at most one */
};

/* What is asked; the tags of requests. */
enum { OF_QUEUE, OF_GATE };

static struct reading *reading_of(struct zkr__inquiry *asked)
{
    return ZKR__OWNER_OF(asked, struct reading, asked);
}

static void free_reading(struct zkr__inquiry *asked) ZKR__LOCKED
{
    struct reading *r = reading_of(asked);
    zkr_contenders_free(r->result);
    zkr_contenders_free(r->first);
    zkr__queue_unref(r->q);
    if (r->gate) {
        zkr__queue_unref(r->gate);
    }
    zkr__mem_free(r);
}

/* At most so @many of the first ones. */
static int
take_names(zkr_contenders **out, const struct zkr__answer *answer, size_t many)
{
    struct zkr__children children;
    int code = zkr__children_order(&children, answer->names, answer->name_count,
                                   ZKR__ANY_NUMBER, NULL, NULL);
    if (code != ZKR_OK) {
        return code;
    }
    size_t count = children.count < many ? children.count : many;
    zkr_contenders *result =
        zkr__mem_alloc(sizeof(*result) + count * sizeof(*result->list));
    *out = result;
    code = result ? ZKR_OK : ZKR_ENOMEM;
    for (size_t i = 0; code == ZKR_OK && i < count; i++) {
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
    bool missing = answer->code == ZKR_ENONODE;
    int code = answer->code;
    if (tag == OF_QUEUE) {
        r->missing = missing;
    }
    if (code == ZKR_OK || missing) {
        code = tag == OF_QUEUE ? take_names(&r->result, answer, SIZE_MAX)
                               : take_names(&r->first, answer, 1);
    }
    zkr__inquiry_answered(&r->asked, code);
}

static void
on_root(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    (void)tag;
    zkr__inquiry_answered(ctx, answer->code);
}

/* Below a chroot that is not there everything is missing: that is no empty queue. */
static int look_at_root(struct reading *r, int64_t deadline) ZKR__LOCKED
{
    const struct zkr__op op = {.kind = ZKR__OP_EXISTS, .path = "/"};
    if (!r->missing || *zkr__servers_chroot(r->q->c->servers) == '\0') {
        return ZKR_OK;
    }
    zkr__inquiry_ask(&r->asked, &op, on_root, 0);
    return zkr__inquiry_await(&r->asked, deadline);
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

static void
on_first(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct reading *r = reading_of(ctx);
    int code = answer->code == ZKR_ENONODE ? ZKR_OK : answer->code;
    if (answer->code == ZKR_OK) {
        code = zkr__contender_take(&r->first->list[tag], answer);
    }
    zkr__inquiry_answered(&r->asked, code);
}

static void
ask_names(struct reading *r, const struct zkr__queue *q, unsigned of) ZKR__LOCKED
{
    const struct zkr__op op = {.kind = ZKR__OP_CHILDREN, .path = q->dir};
    zkr__inquiry_ask(&r->asked, &op, on_names, of);
}

static void ask_data(struct reading *r,
                     const struct zkr__queue *q,
                     const zkr_contenders *list,
                     zkr__answer_fn fn) ZKR__LOCKED
{
    for (size_t i = 0; r->asked.code == ZKR_OK && i < list->count; i++) {
        char *path = zkr__path_join(q->dir, list->list[i].node);
        const struct zkr__op op = {.kind = ZKR__OP_GET, .path = path};
        zkr__inquiry_ask(&r->asked, &op, fn, (unsigned)i);
        zkr__mem_free(path);
    }
}

static int read_all(struct reading *r, int64_t deadline) ZKR__LOCKED
{
    int rc = zkr__inquiry_await_session(&r->asked, deadline);
    if (rc != ZKR_OK) {
        return rc;
    }
    ask_names(r, r->q, OF_QUEUE);
    if (r->gate) {
        ask_names(r, r->gate, OF_GATE);
    }
    rc = zkr__inquiry_await(&r->asked, deadline);
    if (rc == ZKR_OK) {
        rc = look_at_root(r, deadline);
    }
    if (rc != ZKR_OK) {
        return rc;
    }
    ask_data(r, r->q, r->result, on_data);
    if (r->gate) {
        ask_data(r, r->gate, r->first, on_first);
    }
    return zkr__inquiry_await(&r->asked, deadline);
}

/* ZKR_OK, ZKR_ENONODE (no chroot), ZKR_ETIMEDOUT, ZKR_ENOMEM, ZKR_ESYS, or what ZooKeeper said. */
static int read_queue(zkr_contenders **out,
                      struct zkr__queue *q,
                      struct zkr__queue *gate) ZKR__LOCKED
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
    if (gate) {
        r->gate = gate;
        gate->refs++;
    }
    int rc = read_all(r, deadline);
    if (rc == ZKR_OK) {
        leave_out_vanished(r->result);
        if (gate) {
            leave_out_vanished(r->first);
            mark_permits(r->result, zkr_contenders_get(r->first, 0));
        } else {
            mark_holders(r->result);
        }
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

static int refuse(const struct zkr__queue *q)
{
    return zkr__fail(ZKR_EINVAL, q->dir, "there is no room for the result");
}

static int report(int rc, const struct zkr__queue *q)
{
    return rc == ZKR_OK
               ? rc
               : zkr__fail(rc, q->dir, "cannot read the contenders of %s: %s", q->dir,
                           rc == ZKR_ENONODE
                               ? "the chroot of the server list is missing"
                               : zkr_strerror(rc));
}

int zkr__contenders_list(zkr_contenders **out,
                         struct zkr__queue *q,
                         struct zkr__children_watch **watch)
{
    if (!out) {
        return refuse(q);
    }
    zkr__lock(q->c);
    int rc = read_queue(out, q, NULL);
    if (rc == ZKR_OK && watch && need_watch(q, watch) == ZKR_OK) {
        watch_from(*watch, *out);
    }
    zkr__unlock(q->c);
    return report(rc, q);
}

int zkr__contenders_permits(zkr_contenders **out,
                            struct zkr__queue *leases,
                            struct zkr__queue *gate)
{
    if (!out) {
        return refuse(leases);
    }
    zkr__lock(leases->c);
    int rc = read_queue(out, leases, gate);
    zkr__unlock(leases->c);
    return report(rc, leases);
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
