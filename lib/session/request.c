/* SPDX-License-Identifier: Apache-2.0 */
#include "session/request.h"

#include <string.h>

#include "base/mem.h"
#include "session/wake.h"
#include "session/zk_value.h"

struct zkr__request {
    struct zkr__asker asker; /* the door knows the request by it */
    struct zkr__request *next, **link_at;
    struct zkr__link *link;
    zkr__answer_fn fn;
    void *ctx;
    unsigned tag;
    enum zkr__op_kind kind;
    bool answered; /* by zkr__link_fail(); ZooKeeper's answer will be dropped */
    int64_t sent;
    struct zkr__watch *watch;
    _Alignas(16) char scratch[];
};

/* One for each path and kind of watch, set or about to be: ZooKeeper keeps one of each as well. */
struct zkr__watch {
    struct zkr__watcher watcher; /* the door knows the watch by it */
    struct zkr__link *link;
    enum zkr__watch_kind kind;
    unsigned in_flight; /* requests that will arm it */
    bool armed;
    UT_hash_handle hh;
    char path[];
};

static bool is_write(enum zkr__op_kind kind)
{
    switch (kind) {
    case ZKR__OP_CREATE:
    case ZKR__OP_PARENT:
    case ZKR__OP_DELETE:
    case ZKR__OP_CHECK:
    case ZKR__OP_MULTI:
        return true;
    case ZKR__OP_CHILDREN:
    case ZKR__OP_GET:
    case ZKR__OP_SYNC:
    case ZKR__OP_EXISTS:
        return false;
    }
    return false;
}

static void unlink_request(struct zkr__request *r)
{
    *r->link_at = r->next;
    if (r->next) {
        r->next->link_at = r->link_at;
    } else {
        r->link->pending_tail = r->link_at;
    }
}

static void drop_idle_watch(struct zkr__watch *w)
{
    if (!w->armed && w->in_flight == 0) {
        HASH_DEL(w->link->watches[w->kind], w);
        zkr__mem_free(w);
    }
}

static void free_request(struct zkr__request *r)
{
    if (r->watch) {
        r->watch->in_flight--;
        drop_idle_watch(r->watch);
    }
    zkr__mem_free(r);
}

/* --- what comes back --- */

/* One slow answer is no new usage: a stall must not make us patient with the next. */
static void note_round_trip(zkr_client *c, int64_t took) ZKR__LOCKED
{
    enum { SMOOTHING = 8 };
    if (c->round_trip == 0) {
        c->round_trip = took;
    }
    int64_t most = 2 * c->round_trip + ZKR__MS;
    c->round_trip += ((took < most ? took : most) - c->round_trip) / SMOOTHING;
    c->nudge_pause = 0;
}

static void on_answer(struct zkr__asker *asker, const struct zkr__answer *answer)
{
    struct zkr__request *r = ZKR__OWNER_OF(asker, struct zkr__request, asker);
    struct zkr__link *link = r->link;
    zkr_client *c = link->c;
    zkr__lock(c);
    unlink_request(r);
    /* Also when nobody wants the answer any more: the door keeps the watch until it is closed. */
    if (r->watch && (answer->code == ZKR_OK ||
                     (r->kind == ZKR__OP_EXISTS && answer->code == ZKR_ENONODE))) {
        r->watch->armed = true;
    }
    if (!r->answered) {
        int64_t boot = c->door->boot();
        if (answer->code == ZKR_OK) {
            note_round_trip(c, boot - r->sent);
        }
        if (is_write(r->kind) && answer->code == ZKR_OK) {
            zkr__lease_answered(&c->lease, r->sent, boot);
        }
        r->fn(r->ctx, r->tag, answer);
    }
    free_request(r);
    if (c->closing && !link->pending) {
        zkr__cv_broadcast(&c->changed); /* zkr_client_close() waits for the last one */
    }
    zkr__unlock(c);
}

static void on_event(struct zkr__watcher *watcher, enum zkr__node_event event)
{
    struct zkr__watch *w = ZKR__OWNER_OF(watcher, struct zkr__watch, watcher);
    struct zkr__link *link = w->link;
    zkr_client *c = link->c;
    zkr__lock(c);
    w->armed = false;
    if (!link->over && c->up) {
        w->in_flight++; /* keep it, and its path, during the call */
        c->up->node_event(c->engine, w->path, event);
        w->in_flight--;
    }
    drop_idle_watch(w);
    zkr__unlock(c);
}

/* --- answers to what was not sent --- */

void zkr__request_begin(zkr_client *c)
{
    c->unsent_tail = &c->unsent;
    for (size_t i = 0; i < ZKR__SPARES; i++) {
        c->spares[i].spare = true;
        LL_PREPEND(c->spare, &c->spares[i]);
    }
}

static struct zkr__unsent *make_unsent(zkr_client *c) ZKR__LOCKED
{
    struct zkr__unsent *u = zkr__mem_alloc(sizeof(*u));
    if (!u && c->spare) {
        u = c->spare;
        LL_DELETE(c->spare, u);
    }
    return u;
}

static void free_unsent(zkr_client *c, struct zkr__unsent *u) ZKR__LOCKED
{
    if (u->spare) {
        LL_PREPEND(c->spare, u);
    } else {
        zkr__mem_free(u);
    }
}

static struct zkr__unsent *take_unsent(zkr_client *c) ZKR__LOCKED
{
    struct zkr__unsent *u = c->unsent;
    c->unsent = u->next;
    if (!c->unsent) {
        c->unsent_tail = &c->unsent;
    }
    return u;
}

static void keep_answer(zkr_client *c,
                        const struct zkr__answer *answer,
                        zkr__answer_fn fn,
                        void *ctx,
                        unsigned tag) ZKR__LOCKED
{
    struct zkr__unsent *u = make_unsent(c);
    if (u) {
        u->next = NULL;
        u->fn = fn;
        u->ctx = ctx;
        u->tag = tag;
        u->code = answer->code;
        u->zk_rc = answer->zk_rc;
        *c->unsent_tail = u;
        c->unsent_tail = &u->next;
    } else {
        c->overrun = true;
    }
    zkr__wake_by(c, zkr__now(c));
}

void zkr__answer_later(zkr_client *c,
                       int code,
                       zkr__answer_fn fn,
                       void *ctx,
                       unsigned tag)
{
    const struct zkr__answer answer = {.code = code};
    keep_answer(c, &answer, fn, ctx, tag);
}

void zkr__request_deliver(zkr_client *c)
{
    size_t count = 0;
    for (const struct zkr__unsent *u = c->unsent; u; u = u->next) {
        count++;
    }
    for (; count > 0 && c->unsent; count--) {
        struct zkr__unsent *u = take_unsent(c);
        const struct zkr__answer answer = {
            .code = u->code, .zk_rc = u->zk_rc, .failed_at = SIZE_MAX};
        u->fn(u->ctx, u->tag, &answer);
        free_unsent(c, u);
    }
}

void zkr__request_finish(zkr_client *c)
{
    zkr__request_deliver(c);
    while (c->unsent) {
        free_unsent(c, take_unsent(c));
    }
}

/* --- submitting --- */

static enum zkr__watch_kind watch_kind(enum zkr__op_kind kind)
{
    return kind == ZKR__OP_CHILDREN ? ZKR__WATCH_CHILDREN
           : kind == ZKR__OP_EXISTS ? ZKR__WATCH_MISSING
                                    : ZKR__WATCH_DATA;
}

static struct zkr__watch *watch_of(struct zkr__link *link, const struct zkr__op *op)
{
    const char *path = op->path;
    enum zkr__watch_kind kind = watch_kind(op->kind);
    struct zkr__watch *w;
    size_t len = strlen(path);
    HASH_FIND(hh, link->watches[kind], path, len, w);
    if (w) {
        return w;
    }
    w = zkr__mem_alloc(sizeof(*w) + len + 1);
    if (!w) {
        return NULL;
    }
    w->watcher.event = on_event;
    w->link = link;
    w->kind = kind;
    memcpy(w->path, path, len);
    HASH_ADD(hh, link->watches[kind], path, len, w);
    if (!w->hh.tbl) { /* no memory for the table */
        zkr__mem_free(w);
        return NULL;
    }
    return w;
}

static struct zkr__request *make_request(struct zkr__link *link,
                                         const struct zkr__op *op)
{
    const struct zkr__door *door = link->c->door;
    size_t scratch = door->scratch ? door->scratch(op) : 0;
    struct zkr__request *r = zkr__mem_alloc(sizeof(*r) + scratch);
    if (!r) {
        return NULL;
    }
    r->asker.answer = on_answer;
    r->asker.scratch = r->scratch;
    r->link = link;
    r->kind = op->kind;
    if (op->watch) {
        r->watch = watch_of(link, op);
        if (!r->watch) {
            zkr__mem_free(r);
            return NULL;
        }
        r->watch->in_flight++;
    }
    return r;
}

int64_t zkr__patience(const zkr_client *c)
{
    enum { USUAL_TIMES = 8, LEAST_MS = 20 };
    int64_t patience = USUAL_TIMES * c->round_trip;
    int64_t most = c->session_ms * ZKR__MS / 10; /* rule 3 of the lease leans on it */
    if (c->round_trip == 0) {
        return most;
    }
    if (patience < LEAST_MS * ZKR__MS) {
        patience = LEAST_MS * ZKR__MS;
    }
    return patience < most ? patience : most;
}

/* 0, or why it was not sent: a ZooKeeper code in @zk_rc, and ours returned. */
static int send(zkr_client *c,
                const struct zkr__op *op,
                struct zkr__request *r,
                int *zk_rc) ZKR__LOCKED
{
    struct zkr__link *link = r->link;
    r->link_at = link->pending_tail;
    *link->pending_tail = r;
    link->pending_tail = &r->next;
    r->sent = c->door->boot();
    *zk_rc =
        c->door->submit(link->zh, op, &r->asker, r->watch ? &r->watch->watcher : NULL);
    if (*zk_rc != 0) {
        unlink_request(r);
        free_request(r);
        return zkr__zk_code(*zk_rc);
    }
    c->stats.requests++;
    /* A server may forget a lone write until something else arrives (ZOOKEEPER-4537). */
    zkr__wake_by(c, zkr__now(c) + zkr__patience(c));
    return ZKR_OK;
}

void zkr__submit(zkr_client *c,
                 const struct zkr__op *op,
                 zkr__answer_fn fn,
                 void *ctx,
                 unsigned tag)
{
    struct zkr__answer failed = {.code = ZKR_ECONNLOSS};
    if (c->link && zkr__connected(c)) {
        struct zkr__request *r = make_request(c->link, op);
        failed.code = ZKR_ENOMEM;
        if (r) {
            r->fn = fn;
            r->ctx = ctx;
            r->tag = tag;
            failed.code = send(c, op, r, &failed.zk_rc);
        }
    }
    if (failed.code != ZKR_OK) {
        keep_answer(c, &failed, fn, ctx, tag);
    }
}

/* --- links --- */

void zkr__link_fail(struct zkr__link *link)
{
    static const struct zkr__answer over = {.code = ZKR_ESESSION,
                                            .failed_at = SIZE_MAX};
    for (struct zkr__request *r = link->pending; r; r = r->next) {
        if (!r->answered) {
            r->answered = true;
            r->fn(r->ctx, r->tag, &over);
        }
    }
}

void zkr__link_free(struct zkr__link *link)
{
    while (link->pending) {
        struct zkr__request *r = link->pending;
        unlink_request(r);
        free_request(r);
    }
    for (size_t kind = 0; kind < ZKR__WATCH_KINDS; kind++) {
        struct zkr__watch *w, *next;
        HASH_ITER (hh, link->watches[kind], w, next) {
            w->armed = false;
            drop_idle_watch(w);
        }
    }
    zkr__mem_free(link->servers);
    zkr__mem_free(link);
}

int64_t zkr__link_oldest(const struct zkr__link *link)
{
    return link->pending ? link->pending->sent : ZKR__NEVER;
}
