/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests in flight. A request and a watch object live until their answer or event came, or
 * their handle's close has returned: libzookeeper may lose completions at close, call late after
 * an expiry, and never again afterwards. Its contexts point to them, so nothing dangles.
 */
#include <string.h>

#include "base/mem.h"
#include "session/session.h"

struct zkr__request {
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
    size_t scratch =
        op->kind == ZKR__OP_CHECK ? ZKR__CHECK_SCRATCH * (op->path_count + 1) : 0;
    struct zkr__request *r = zkr__mem_alloc(sizeof(*r) + scratch);
    if (!r) {
        return NULL;
    }
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

static void free_request(struct zkr__request *r)
{
    if (r->watch) {
        r->watch->in_flight--;
        drop_idle_watch(r->watch);
    }
    zkr__mem_free(r);
}

int zkr__submit(zkr_client *c,
                const struct zkr__op *op,
                zkr__answer_fn fn,
                void *ctx,
                unsigned tag)
{
    struct zkr__link *link = c->link;
    if (!link || !zkr__connected(c)) {
        return ZKR_ECONNLOSS;
    }
    struct zkr__request *r = make_request(link, op);
    if (!r) {
        return ZKR_ENOMEM;
    }
    r->fn = fn;
    r->ctx = ctx;
    r->tag = tag;
    r->link_at = link->pending_tail;
    *link->pending_tail = r;
    link->pending_tail = &r->next;
    r->sent = c->door->boot();
    int rc = c->door->submit(link->zh, op, r, r->watch);
    if (rc != 0) {
        unlink_request(r);
        free_request(r);
        return zkr__zk_code(rc);
    }
    c->stats.requests++;
    /* A server may forget a lone write until something else arrives (ZOOKEEPER-4537). */
    zkr__service_by(c, zkr__now(c) + zkr__patience(c));
    return ZKR_OK;
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

void *zkr__request_scratch(void *tag)
{
    return ((struct zkr__request *)tag)->scratch;
}

void zkr__request_answer(void *tag, const struct zkr__answer *answer)
{
    struct zkr__request *r = tag;
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

void zkr__request_event(void *watch_tag, enum zkr__node_event event)
{
    struct zkr__watch *w = watch_tag;
    struct zkr__link *link = w->link;
    zkr_client *c = link->c;
    zkr__lock(c);
    w->armed = false;
    if (!link->over && c->up) {
        w->in_flight++; /* keep it, and its path, during the call */
        c->up->node(c->engine, w->path, event);
        w->in_flight--;
    }
    drop_idle_watch(w);
    zkr__unlock(c);
}

void zkr__link_fail(struct zkr__link *link)
{
    static const struct zkr__answer over = {.code = ZKR_ESESSION};
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
