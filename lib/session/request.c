/* SPDX-License-Identifier: Apache-2.0 */
#include "session/request.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "session/guardian.h"
#include "session/log.h"
#include "session/zk_log.h"
#include "session/zk_value.h"

struct zkr__request {
    struct zkr__asker asker;          /* the door knows the request by it */
    struct zkr__request *prev, *next; /* of the link's pending requests */
    struct zkr__link *link;
    zkr__answer_fn fn;
    void *ctx;
    unsigned tag, ups; /* ups: of the link, as it was sent */
    enum zkr__op_kind kind;
    bool answered; /* by zkr__link_fail(); ZooKeeper's answer will be dropped */
    bool plain;    /* without scratch, so the memory will do for another such request */
    bool unwatched;
    uint32_t watch; /* key of the room taken for its watch; 0 = none */
    int64_t sent;
    _Alignas(16) char scratch[];
};

static bool is_write(enum zkr__op_kind kind)
{
    return kind != ZKR__OP_CHILDREN && kind != ZKR__OP_GET && kind != ZKR__OP_SYNC &&
           kind != ZKR__OP_EXISTS;
}

static bool is_transaction(enum zkr__op_kind kind)
{
    return kind == ZKR__OP_CHECK || kind == ZKR__OP_MULTI || kind == ZKR__OP_CREATES;
}

/* --- memory --- */

/* The memory of so many requests is kept, so that usual requests need no allocation. */
enum { IDLE_MAX = 64 };

static struct zkr__request *make_request(struct zkr__link *link,
                                         const struct zkr__op *op) ZKR__LOCKED
{
    zkr_client *c = link->c;
    bool needs = is_transaction(op->kind) && c->door->scratch;
    size_t scratch = needs ? c->door->scratch(op) : 0;
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

/* --- answers to what was not sent --- */

/* An answer or an event is lost: the service is to end the session. */
static void give_up_soon(zkr_client *c) ZKR__LOCKED
{
    c->overrun = true;
    zkr__wake_by(c, zkr__now(c));
}

void zkr__request_begin(zkr_client *c)
{
    c->unsent_tail = &c->unsent;
    for (size_t i = 0; i < ZKR__SPARES; i++) {
        c->spares[i].spare = true;
        LL_PREPEND(c->spare, &c->spares[i]);
    }
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

/* False: the answer is dropped. */
static bool keep_unsent(zkr_client *c,
                        int code,
                        int zk_rc,
                        zkr__answer_fn fn,
                        void *ctx,
                        unsigned tag) ZKR__LOCKED
{
    struct zkr__unsent *u = zkr__mem_alloc(sizeof(*u));
    if (!u && c->spare) {
        u = c->spare;
        LL_DELETE(c->spare, u);
    }
    if (!u) {
        give_up_soon(c);
        return false;
    }
    *u = (struct zkr__unsent){.fn = fn,
                              .ctx = ctx,
                              .tag = tag,
                              .code = code,
                              .zk_rc = zk_rc,
                              .spare = u->spare};
    *c->unsent_tail = u;
    c->unsent_tail = &u->next;
    zkr__wake_by(c, zkr__now(c));
    return true;
}

bool zkr__answer_later(zkr_client *c,
                       int code,
                       zkr__answer_fn fn,
                       void *ctx,
                       unsigned tag)
{
    return keep_unsent(c, code, 0, fn, ctx, tag);
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
    free_idle(c);
}

/* --- what comes back --- */

static bool are_children(const struct zkr__answer *answer)
{
    for (size_t i = 0; i < answer->name_count; i++) {
        if (!zkr__path_is_name(answer->names[i])) {
            return false;
        }
    }
    return true;
}

bool zkr__credible(enum zkr__op_kind kind,
                   const struct zkr__answer *answer,
                   int64_t session_id)
{
    if (answer->code != ZKR_OK) {
        return true;
    }
    if (kind == ZKR__OP_CREATE) {
        return answer->czxid > 0 && answer->owner == session_id;
    }
    if (kind == ZKR__OP_CREATES) {
        return answer->czxid > 0;
    }
    return kind != ZKR__OP_CHILDREN || are_children(answer);
}

/* One slow answer counts little: a stall must not make us patient with the next. */
static void note_round_trip(zkr_client *c, int64_t took) ZKR__LOCKED
{
    enum { SMOOTHING = 8 };
    if (c->round_trip == 0) {
        c->round_trip = took;
    }
    int64_t counted = zkr__sooner(took, 2 * c->round_trip + ZKR__MS);
    c->round_trip += (counted - c->round_trip) / SMOOTHING;
    c->shortest_trip =
        c->shortest_trip == 0 ? took : zkr__sooner(took, c->shortest_trip);
    c->nudge_pause = 0;
}

/* What was done is unknown, as when an answer is lost. One log line for each handle will do. */
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
    DL_DELETE(link->pending, r);
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
        zkr__cv_broadcast(&c->changed); /* for zkr_client_close() */
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
        give_up_soon(c);
    } else if (!link->over && c->up) {
        c->up->node_event(c->engine, path, event);
    }
    zkr__unlock(c);
}

/* --- submitting --- */

int64_t zkr__patience(const zkr_client *c)
{
    enum { USUAL_TIMES = 8, LEAST_MS = 20 };
    int64_t usual = zkr__later(USUAL_TIMES * c->round_trip, LEAST_MS * ZKR__MS);
    int64_t most = c->session_ms * ZKR__MS / 10; /* rule 3 of the lease leans on it */
    return c->round_trip > 0 ? zkr__sooner(usual, most) : most;
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

/* libzookeeper reports a bad argument, too, when it has no memory for the path with the chroot before it. */
static int refused_code(const struct zkr__op *op, int zk_rc)
{
    int code = zkr__zk_code(zk_rc);
    bool no_room =
        code == ZKR_EINVAL && op->kind != ZKR__OP_MULTI && has_valid_paths(op);
    return no_room ? ZKR_ENOMEM : code;
}

/* ZKR_OK; or why it was not sent, with ZooKeeper's code in @zk_rc. */
static int send(zkr_client *c,
                const struct zkr__op *op,
                struct zkr__request *r,
                int *zk_rc) ZKR__LOCKED
{
    struct zkr__link *link = r->link;
    DL_APPEND(link->pending, r);
    r->sent = c->sent_at = c->door->boot();
    r->ups = link->ups;
    struct zkr__op sent = *op;
    r->watch = op->watch ? zkr__watches_take(&link->watches, op) : 0;
    sent.watch = r->watch != 0;
    r->unwatched = op->watch && !sent.watch;
    *zk_rc = c->door->submit(link->zh, &sent, &r->asker, &link->owner);
    if (*zk_rc != 0) {
        settle_watch(r, ZKR_ECONNLOSS);
        DL_DELETE(link->pending, r);
        free_request(c, r);
        return refused_code(op, *zk_rc);
    }
    c->stats.requests++;
    /* For the nudge, if the answer is late. */
    zkr__wake_by(c, zkr__now(c) + zkr__patience(c));
    return ZKR_OK;
}

bool zkr__submit_early(zkr_client *c,
                       const struct zkr__op *op,
                       zkr__answer_fn fn,
                       void *ctx,
                       unsigned tag)
{
    int code = ZKR_ENOMEM, zk_rc = 0;
    struct zkr__request *r = make_request(c->link, op);
    if (r) {
        r->asker.answer = on_answer;
        r->fn = fn;
        r->ctx = ctx;
        r->tag = tag;
        code = send(c, op, r, &zk_rc);
    }
    return code == ZKR_OK || keep_unsent(c, code, zk_rc, fn, ctx, tag);
}

bool zkr__submit(zkr_client *c,
                 const struct zkr__op *op,
                 zkr__answer_fn fn,
                 void *ctx,
                 unsigned tag)
{
    return c->link && zkr__connected(c)
               ? zkr__submit_early(c, op, fn, ctx, tag)
               : zkr__answer_later(c, ZKR_ECONNLOSS, fn, ctx, tag);
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
    door->close(link->zh);
    if (link->close_at > 0) {
        zkr__log_slow(-1);
    }
    zkr__guardian_over(link->c, link->guarded, link->settled && link->close_at == 0);
    zkr__link_free(link);
}

void zkr__link_free(struct zkr__link *link)
{
    while (link->pending) {
        struct zkr__request *r = link->pending;
        DL_DELETE(link->pending, r);
        zkr__mem_free(r);
    }
    zkr__watches_free(&link->watches);
    zkr__mem_free(link->servers);
    zkr__mem_free(link);
}

bool zkr__link_awaited(const struct zkr__link *link)
{
    const struct zkr__request *r = link->pending;
    while (r && !r->ctx) {
        r = r->next;
    }
    return r != NULL;
}

int64_t zkr__link_oldest(const struct zkr__link *link)
{
    return link->pending ? link->pending->sent : ZKR__NEVER;
}
