/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/contenders.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "engine/children.h"
#include "engine/session_events.h"
#include "session/request.h"

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

static void free_entry(zkr_contender *entry)
{
    zkr__mem_free((void *)(uintptr_t)entry->node);
    zkr__mem_free((void *)(uintptr_t)entry->owner);
}

void zkr_contenders_free(zkr_contenders *list)
{
    for (size_t i = 0; list && i < list->count; i++) {
        free_entry(&list->list[i]);
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
            free_entry(&list->list[i]);
        }
    }
    list->count = kept;
}

char *zkr__contenders_text(const void *data, size_t len)
{
    char *text = zkr__mem_copy(data ? data : "", len);
    for (size_t i = 0; text && i < len; i++) {
        unsigned char ch = (unsigned char)text[i];
        if (ch < 0x20 || ch == 0x7f) {
            text[i] = '?';
        }
    }
    return text;
}

/* --- reading --- */

/*
 * A reading in progress. Belongs to its caller and to each request in flight: answers may come
 * when the caller has long given up, and destroyed the object it asked.
 */
struct reading {
    struct zkr__queue *q;
    struct zkr__session_listener listener; /* as long as the caller reads */
    struct zkr__cv done;
    size_t refs, in_flight;
    int code;
    zkr_contenders *result;
};

static void drop(struct reading *r) ZKR__LOCKED
{
    if (--r->refs == 0) {
        zkr_contenders_free(r->result);
        zkr__queue_unref(r->q);
        zkr__cv_destroy(&r->done);
        zkr__mem_free(r);
    }
}

static void answered(struct reading *r, int code) ZKR__LOCKED
{
    if (r->code == ZKR_OK) {
        r->code = code;
    }
    r->in_flight--;
    zkr__cv_signal(&r->done);
    drop(r);
}

static int take_names(struct reading *r, const struct zkr__answer *answer)
{
    struct zkr__children children;
    int code =
        zkr__children_order(&children, answer->names, answer->name_count, NULL, NULL);
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
        result->count++;
        code = result->list[i].node ? ZKR_OK : ZKR_ENOMEM;
    }
    zkr__mem_free(children.list);
    return code;
}

static void
on_names(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct reading *r = ctx;
    (void)tag;
    bool missing = answer->code == ZKR_ENONODE;
    answered(r,
             answer->code == ZKR_OK || missing ? take_names(r, answer) : answer->code);
}

static void
on_data(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct reading *r = ctx;
    zkr_contender *entry = &r->result->list[tag];
    int code = answer->code == ZKR_ENONODE ? ZKR_OK : answer->code;
    if (answer->code == ZKR_OK) {
        entry->owner = zkr__contenders_text(answer->data, answer->data_len);
        entry->session_id = answer->owner;
        entry->created_ms = answer->created_ms;
        entry->fencing_token = answer->czxid;
        code = entry->owner ? ZKR_OK : ZKR_ENOMEM;
    }
    answered(r, code);
}

static void ask(struct reading *r,
                enum zkr__op_kind kind,
                const char *path,
                zkr__answer_fn fn,
                unsigned tag) ZKR__LOCKED
{
    struct zkr__op op = {.kind = kind, .path = path};
    r->refs++;
    r->in_flight++;
    if (path) {
        zkr__submit(r->q->c, &op, fn, r, tag);
    } else {
        answered(r, ZKR_ENOMEM);
    }
}

/* Sleep until the servers talk to us. */
static int await_session(zkr_client *c, int64_t deadline) ZKR__LOCKED
{
    bool in_time = true;
    while (!zkr__admitted(c) && c->state != ZKR_STATE_AUTH_FAILED && !c->shut &&
           in_time) {
        in_time = zkr__wait(c, &c->changed, deadline);
    }
    return c->shut ? ZKR_ECLOSED : zkr__admitted(c) ? ZKR_OK : ZKR_ETIMEDOUT;
}

/* Sleep until all is answered that was asked. */
static int await_answers(struct reading *r, int64_t deadline) ZKR__LOCKED
{
    bool in_time = true;
    while (r->in_flight > 0 && !r->q->c->shut && in_time) {
        in_time = zkr__wait(r->q->c, &r->done, deadline);
    }
    return r->q->c->shut ? ZKR_ECLOSED : r->in_flight == 0 ? r->code : ZKR_ETIMEDOUT;
}

static void on_session(struct zkr__session_listener *listener,
                       enum zkr__session_change change)
{
    (void)change;
    zkr__cv_signal(&ZKR__OWNER_OF(listener, struct reading, listener)->done);
}

static int read_all(struct reading *r, int64_t deadline) ZKR__LOCKED
{
    ask(r, ZKR__OP_CHILDREN, r->q->dir, on_names, 0);
    int rc = await_answers(r, deadline);
    if (rc != ZKR_OK) {
        return rc;
    }
    for (size_t i = 0; r->code == ZKR_OK && i < r->result->count; i++) {
        char *path = zkr__path_join(r->q->dir, r->result->list[i].node);
        ask(r, ZKR__OP_GET, path, on_data, (unsigned)i);
        zkr__mem_free(path);
    }
    return await_answers(r, deadline);
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
    if (zkr__cv_init(&r->done) != 0) {
        zkr__mem_free(r);
        return ZKR_ESYS;
    }
    r->q = q;
    r->refs = 1;
    q->refs++;
    r->listener.on_change = on_session;
    zkr__engine_listen(engine, &r->listener);
    int rc = await_session(c, deadline);
    if (rc == ZKR_OK) {
        rc = read_all(r, deadline);
    }
    if (c->state == ZKR_STATE_AUTH_FAILED) {
        rc = ZKR_EAUTH; /* before or while it read */
    }
    zkr__engine_unlisten(engine, &r->listener);
    if (rc == ZKR_OK) {
        leave_out_vanished(r->result);
        *out = r->result;
        r->result = NULL;
    }
    drop(r);
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
