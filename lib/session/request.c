/* SPDX-License-Identifier: Apache-2.0 */
#include "session/request.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "session/credible.h"
#include "session/log.h"
#include "session/unsent.h"
#include "session/wake.h"
#include "session/zk_value.h"

struct zkr__request {
    struct zkr__asker asker; /* the door knows the request by it */
    struct zkr__request *next, **link_at;
    struct zkr__link *link;
    zkr__answer_fn fn;
    void *ctx;
    unsigned tag, ups; /* ups: of the link, as it was sent */
    enum zkr__op_kind kind;
    bool answered; /* by zkr__link_fail(); ZooKeeper's answer will be dropped */
    bool plain;    /* without scratch, so any other such request has room in it */
    bool unwatched;
    uint32_t watch; /* room that was taken for its watch; 0 = none */
    int64_t sent;
    _Alignas(16) char scratch[];
};

static bool is_write(enum zkr__op_kind kind)
{
    switch (kind) {
    case ZKR__OP_CREATE:
    case ZKR__OP_PARENT:
    case ZKR__OP_DELETE:
    case ZKR__OP_SET:
    case ZKR__OP_CHECK:
    case ZKR__OP_MULTI:
    case ZKR__OP_CREATES:
        return true;
    case ZKR__OP_CHILDREN:
    case ZKR__OP_GET:
    case ZKR__OP_SYNC:
    case ZKR__OP_EXISTS:
        return false;
    }
    return false;
}

/* --- memory --- */

/* So many are kept for the next ones: what is usual needs no allocation. */
enum { IDLE_MAX = 64 };

static struct zkr__request *make_request(struct zkr__link *link,
                                         const struct zkr__op *op) ZKR__LOCKED
{
    zkr_client *c = link->c;
    size_t scratch = c->door->scratch ? c->door->scratch(op) : 0;
    struct zkr__request *r = scratch == 0 ? c->idle : NULL;
    if (r) {
        LL_DELETE(c->idle, r);
        c->idle_count--;
        *r = (struct zkr__request){0};
    } else {
        r = zkr__mem_alloc(sizeof(*r) + scratch);
    }
    if (r) {
        r->asker.scratch = r->scratch;
        r->plain = scratch == 0;
        r->link = link;
        r->kind = op->kind;
    }
    return r;
}

static void free_request(zkr_client *c, struct zkr__request *r) ZKR__LOCKED
{
    if (r->plain && c->idle_count < IDLE_MAX) {
        LL_PREPEND(c->idle, r);
        c->idle_count++;
    } else {
        zkr__mem_free(r);
    }
}

static void free_idle(zkr_client *c) ZKR__LOCKED
{
    while (c->idle) {
        struct zkr__request *r = c->idle;
        LL_DELETE(c->idle, r);
        zkr__mem_free(r);
    }
    c->idle_count = 0;
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

/* What was done is not known then, as when the answer is lost. One line for each session will do. */
static void disbelieve(struct zkr__link *link) ZKR__LOCKED
{
    if (!link->doubted) {
        link->doubted = true;
        zkr__log(link->c, ZKR_LOG_ERROR,
                 ZKR__EVENT("answer_impossible",
                            .reason = "no server answers so; it counts as lost"));
    }
}

static void settle_watch(const struct zkr__request *r, int code)
{
    bool set = code == ZKR_OK || (r->kind == ZKR__OP_EXISTS && code == ZKR_ENONODE);
    if (r->watch != 0) {
        zkr__watches_answered(&r->link->watches, r->watch, set);
    }
}

static void on_answer(struct zkr__asker *asker, const struct zkr__answer *answer)
{
    static const struct zkr__answer lost = {.code = ZKR_ECONNLOSS,
                                            .failed_at = SIZE_MAX};
    struct zkr__request *r = ZKR__OWNER_OF(asker, struct zkr__request, asker);
    struct zkr__link *link = r->link;
    zkr_client *c = link->c;
    zkr__lock(c);
    unlink_request(r);
    settle_watch(r, answer->code);
    link->timed = r->ups == link->ups ? r->ups : link->timed;
    if (!r->answered && !zkr__credible(r->kind, answer, c->session_id)) {
        disbelieve(link);
        answer = &lost;
    }
    struct zkr__answer told = *answer;
    told.unwatched = r->unwatched;
    if (answer->code != ZKR_ECONNLOSS && answer->code != ZKR_ESESSION &&
        link == c->link) {
        c->unheard = 0;
        c->heard_at = zkr__now(c);
    }
    if (!r->answered) {
        int64_t boot = c->door->boot();
        if (answer->code == ZKR_OK) {
            note_round_trip(c, boot - r->sent);
        }
        if (is_write(r->kind) && answer->code == ZKR_OK) {
            zkr__lease_answered(&c->lease, r->sent, boot);
        }
        r->fn(r->ctx, r->tag, &told);
    }
    free_request(c, r);
    if (c->closing && !link->pending) {
        zkr__cv_broadcast(&c->changed); /* zkr_client_close() waits for the last one */
    }
    zkr__unlock(c);
}

void zkr__link_node(struct zkr__handle_owner *owner,
                    const char *path,
                    enum zkr__node_event event)
{
    struct zkr__link *link = ZKR__OWNER_OF(owner, struct zkr__link, owner);
    zkr_client *c = link->c;
    zkr__lock(c);
    if (path) {
        zkr__watches_event(&link->watches, path, event);
    }
    if (!link->over && !path) {
        zkr__give_up_soon(c);
    } else if (!link->over && c->up) {
        c->up->node_event(c->engine, path, event);
    }
    zkr__unlock(c);
}

void zkr__request_finish(zkr_client *c)
{
    zkr__request_deliver(c);
    zkr__unsent_drop(c);
    free_idle(c);
}

/* --- submitting --- */

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

static bool has_valid_paths(const struct zkr__op *op)
{
    bool valid = !op->path || strcmp(op->path, "/") == 0 || !zkr__path_fault(op->path);
    for (size_t i = 0; valid && i < op->path_count; i++) {
        valid = !zkr__path_fault(op->paths[i]);
    }
    for (size_t i = 0; valid && i < op->creation_count; i++) {
        valid = !zkr__path_fault(op->creations[i].path);
    }
    return valid;
}

/* What libzookeeper found no room for, with the chroot before it, it calls a bad argument as well. */
static int refused_code(const struct zkr__op *op, int zk_rc)
{
    int code = zkr__zk_code(zk_rc);
    bool no_room =
        code == ZKR_EINVAL && op->kind != ZKR__OP_MULTI && has_valid_paths(op);
    return no_room ? ZKR_ENOMEM : code;
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
    r->sent = c->sent_at = c->door->boot();
    r->ups = link->ups;
    struct zkr__op sent = *op;
    r->watch = op->watch ? zkr__watches_take(&link->watches, op) : 0;
    sent.watch = r->watch != 0;
    r->unwatched = op->watch && !sent.watch;
    *zk_rc = c->door->submit(link->zh, &sent, &r->asker, &link->owner);
    if (*zk_rc != 0) {
        settle_watch(r, ZKR_ECONNLOSS);
        unlink_request(r);
        free_request(c, r);
        return refused_code(op, *zk_rc);
    }
    c->stats.requests++;
    /* A server may forget a lone write until something else arrives (ZOOKEEPER-4537). */
    zkr__wake_by(c, zkr__now(c) + zkr__patience(c));
    return ZKR_OK;
}

void zkr__submit_early(zkr_client *c,
                       const struct zkr__op *op,
                       zkr__answer_fn fn,
                       void *ctx,
                       unsigned tag)
{
    struct zkr__answer failed = {.code = ZKR_ENOMEM};
    struct zkr__request *r = make_request(c->link, op);
    if (r) {
        r->asker.answer = on_answer;
        r->fn = fn;
        r->ctx = ctx;
        r->tag = tag;
        failed.code = send(c, op, r, &failed.zk_rc);
    }
    if (failed.code != ZKR_OK) {
        zkr__unsent_keep(c, &failed, fn, ctx, tag);
    }
}

void zkr__submit(zkr_client *c,
                 const struct zkr__op *op,
                 zkr__answer_fn fn,
                 void *ctx,
                 unsigned tag)
{
    static const struct zkr__answer cut_off = {.code = ZKR_ECONNLOSS};
    if (c->link && zkr__connected(c)) {
        zkr__submit_early(c, op, fn, ctx, tag);
    } else {
        zkr__unsent_keep(c, &cut_off, fn, ctx, tag);
    }
}

bool zkr__watch_fits(const zkr_client *c, const struct zkr__op *op)
{
    return !c->link || zkr__watches_fit(&c->link->watches, op);
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

void zkr__link_close(struct zkr__link *link)
{
    const struct zkr__door *door = link->c->door;
    if (link->abandoned) {
        (void)door->set_servers(link->zh, ZKR__NOWHERE, false);
    }
    door->close(link->zh);
    zkr__link_free(link);
}

void zkr__link_free(struct zkr__link *link)
{
    while (link->pending) {
        struct zkr__request *r = link->pending;
        unlink_request(r);
        zkr__mem_free(r);
    }
    zkr__watches_free(&link->watches);
    zkr__mem_free(link->servers);
    zkr__mem_free(link);
}

int64_t zkr__link_oldest(const struct zkr__link *link)
{
    return link->pending ? link->pending->sent : ZKR__NEVER;
}
