/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/contenders.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "engine/children.h"
#include "engine/inquiry.h"
#include "engine/names.h"
#include "engine/session_events.h"
#include "session/log.h"
#include "session/request.h"
#include "session/resolve.h"

/* --- the watch of the children --- */

/* Without room for a watch it looks again after so long. */
enum { LOOK_MS = 1000 };

struct zkr__children_watch {
    zkr_client *c;
    struct zkr__engine *engine;
    struct zkr__session_listener listener;
    struct zkr__path_watcher watcher;
    struct zkr__timer retry;
    void (*on_change)(void *ctx);
    void *ctx;
    const char *dir; /* text of the watcher's path */
    struct zkr__cv changed;
    uint64_t fingerprint; /* of the contenders last known */
    bool knows;           /* fingerprint means something */
    uint64_t changes;     /* times the fingerprint has changed */
    uint64_t seen;        /* as far as the owner knows */
    int64_t waiting;
    bool asking; /* a request is in flight */
    bool armed;  /* a watch is set, and silent so far */
    bool ended;  /* freed with the answer in flight */
    int code;    /* why we cannot look */
    int64_t failures;
};

static void free_watch(struct zkr__children_watch *w)
{
    zkr__cv_destroy(&w->changed);
    zkr__mem_free(w);
}

/* --- what is known --- */

uint64_t zkr__fingerprint(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *p = name; *p; p++) {
        hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
    }
    return hash;
}

static void take_fingerprint(struct zkr__children_watch *w, uint64_t fingerprint)
{
    bool differs = w->knows && fingerprint != w->fingerprint;
    w->fingerprint = fingerprint;
    w->knows = true;
    w->failures = 0;
    if (differs) {
        w->changes++;
        zkr__cv_broadcast(&w->changed);
        if (w->on_change) {
            w->on_change(w->ctx);
        }
    }
}

static void on_children(struct zkr__children_watch *w, const struct zkr__answer *answer)
{
    uint64_t fingerprint = 0;
    enum zkr__name_kind kind;
    int64_t sequence;
    for (size_t i = 0; i < answer->name_count; i++) {
        const char *name = answer->names[i];
        if (name && zkr__name_parse(name, &kind, &sequence)) {
            fingerprint += zkr__fingerprint(name);
        }
    }
    take_fingerprint(w, fingerprint);
}

void zkr__children_watch_know(struct zkr__children_watch *w, uint64_t fingerprint)
{
    w->fingerprint = fingerprint;
    w->knows = true;
    w->seen = w->changes;
}

/* --- looking --- */

static void fail(struct zkr__children_watch *w, int code) ZKR__LOCKED
{
    bool lost = code == ZKR_ECONNLOSS || code == ZKR_ESESSION;
    if (lost && !zkr__connected(w->c)) {
        return; /* looks again when connected */
    }
    if (lost || zkr_err_retriable(code)) {
        int64_t pause = zkr__retry_pause(&w->c->retry, w->failures++,
                                         zkr__retry_random(&w->c->random));
        zkr__engine_timer(w->engine, &w->retry, zkr__now(w->c) + pause);
        return;
    }
    w->code = code;
    zkr__cv_broadcast(&w->changed);
    zkr__log(w->c, ZKR_LOG_WARN,
             ZKR__EVENT("watch_failed", .path = w->dir, .reason = zkr_strerror(code)));
}

static void look_later(struct zkr__children_watch *w) ZKR__LOCKED
{
    bool blind = !w->armed && w->code == 0;
    zkr__engine_timer(w->engine, &w->retry,
                      blind ? zkr__now(w->c) + LOOK_MS * ZKR__MS
                            : zkr__engine_doubts_at(w->engine));
}

static void
on_answer(void *ctx, unsigned asked, const struct zkr__answer *answer) ZKR__LOCKED;

static void ask(struct zkr__children_watch *w, enum zkr__op_kind kind) ZKR__LOCKED
{
    struct zkr__op op = {.kind = kind, .path = w->dir, .watch = true};
    w->asking = true;
    zkr__submit(w->c, &op, on_answer, w, kind);
}

static void look(struct zkr__children_watch *w) ZKR__LOCKED
{
    if (!w->armed && !w->asking) {
        zkr__timer_stop(&w->engine->timers, &w->retry);
        w->code = 0;
        ask(w, ZKR__OP_CHILDREN);
    }
}

static void look_if_wanted(struct zkr__children_watch *w) ZKR__LOCKED
{
    if (w->on_change || w->waiting > 0) {
        look(w);
    }
}

static void on_answer(void *ctx, unsigned asked, const struct zkr__answer *answer)
{
    struct zkr__children_watch *w = ctx;
    bool missing = answer->code == ZKR_ENONODE;
    w->asking = false;
    if (w->ended) {
        free_watch(w);
    } else if (asked == ZKR__OP_CHILDREN && missing) {
        ask(w, ZKR__OP_EXISTS);
    } else if (asked == ZKR__OP_EXISTS && answer->code == ZKR_OK) {
        ask(w, ZKR__OP_CHILDREN); /* made a moment ago */
    } else if (answer->code == ZKR_OK || missing) {
        w->armed = !answer->unwatched;
        look_later(w);
        on_children(w, answer);
    } else {
        fail(w, answer->code);
        if (answer->code == ZKR_EAUTH && zkr__connected(w->c)) {
            look_later(w); /* it may be allowed again */
        }
    }
}

int zkr__children_watch_wait(struct zkr__children_watch *w, int64_t deadline)
{
    uint64_t seen = w->seen;
    bool in_time = true;
    w->waiting++;
    look(w);
    if (w->c->state == ZKR_STATE_AUTH_FAILED) {
        w->code = ZKR_EAUTH;
    }
    if (w->c->shut) {
        w->code = ZKR_ECLOSED;
    }
    while (w->changes == seen && w->code == 0 && in_time) {
        in_time = zkr__wait(w->c, &w->changed, deadline);
    }
    w->waiting--;
    if (w->changes != seen) {
        w->seen = w->changes;
        return ZKR_OK;
    }
    return w->code != 0 ? w->code : ZKR_ETIMEDOUT;
}

bool zkr__children_watch_busy(const struct zkr__children_watch *w)
{
    return w && w->waiting > 0;
}

/* --- what happened --- */

static void on_session(struct zkr__session_listener *listener,
                       enum zkr__session_change change) ZKR__LOCKED
{
    struct zkr__children_watch *w =
        ZKR__OWNER_OF(listener, struct zkr__children_watch, listener);
    switch (change) {
    case ZKR__CHANGE_CONNECTED:
        look_if_wanted(w);
        break;
    case ZKR__CHANGE_OVER:
        w->armed = false; /* the server has forgotten its watches */
        break;
    case ZKR__CHANGE_REFUSED:
        fail(w, ZKR_EAUTH);
        break;
    case ZKR__CHANGE_SHUTDOWN:
        fail(w, ZKR_ECLOSED);
        break;
    }
}

static void on_event(struct zkr__path_watcher *watcher,
                     enum zkr__node_event event) ZKR__LOCKED
{
    struct zkr__children_watch *w =
        ZKR__OWNER_OF(watcher, struct zkr__children_watch, watcher);
    (void)event;
    w->armed = false;
    look_if_wanted(w);
}

static void on_retry(struct zkr__timer *timer, int64_t now) ZKR__LOCKED
{
    struct zkr__children_watch *w =
        ZKR__OWNER_OF(timer, struct zkr__children_watch, retry);
    (void)now;
    w->armed = false;
    look_if_wanted(w);
}

/* --- life --- */

int zkr__children_watch_create(struct zkr__children_watch **out,
                               zkr_client *c,
                               const char *dir,
                               void (*on_change)(void *ctx),
                               void *ctx)
{
    struct zkr__engine *engine = zkr__engine_of(c);
    struct zkr__children_watch *w = engine ? zkr__mem_alloc(sizeof(*w)) : NULL;
    if (!w) {
        return ZKR_ENOMEM;
    }
    if (zkr__cv_init(&w->changed) != 0) {
        zkr__mem_free(w);
        return ZKR_ESYS;
    }
    w->c = c;
    w->engine = engine;
    w->on_change = on_change;
    w->ctx = ctx;
    w->listener.on_change = on_session;
    w->watcher.on_event = on_event;
    w->retry.fire = on_retry;
    if (!zkr__path_watch(&engine->watchers, &w->watcher, dir)) {
        free_watch(w);
        return ZKR_ENOMEM;
    }
    w->dir = zkr__path_watched(&w->watcher);
    zkr__engine_listen(engine, &w->listener);
    if (on_change) {
        look(w);
    }
    *out = w;
    return ZKR_OK;
}

void zkr__children_watch_end(struct zkr__children_watch *w)
{
    if (!w) {
        return;
    }
    zkr__engine_unlisten(w->engine, &w->listener);
    zkr__timer_stop(&w->engine->timers, &w->retry);
    zkr__path_unwatch(&w->engine->watchers, &w->watcher);
    w->ended = true;
    if (!w->asking) {
        free_watch(w);
    }
}

/* --- lists of contenders --- */

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
