/* SPDX-License-Identifier: Apache-2.0 */
#include "session/request.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "guardian/guardian.h"
#include "session/lease_invariant.h"
#include "session/log.h"
#include "session/must.h"
#include "session/support.h"
#include "session/zk_log.h"
#include "session/zk_value.h"

struct zkr__request {
    struct zkr__asker asker; /* identifies the request to the door */
    struct zkr__request *prev,
        *next; /* next in link.pending, client.unsent or client.idle */
    struct zkr__link *link;
    zkr__answer_fn fn;
    void *ctx;
    unsigned tag, ups;      /* ups: link.ups at the time of sending */
    enum zkr__op_kind kind; /* kind of the request that was sent */
    bool container;         /* for PARENT: the node is a container */
    bool alone;             /* the request is a CREATE, sent as CREATES */
    int code, zk_rc;        /* if the request was not sent: its answer */
    /* Answered by zkr__link_fail(), so ZooKeeper's answer is dropped. */
    bool answered;
    bool plain; /* has no scratch memory, so it can be reused */
    bool unwatched;
    uint32_t watch; /* key of the request's watch in link.watches; 0 = none */
    int64_t sent;
    _Alignas(16) char scratch[];
};

static bool is_write(enum zkr__op_kind kind)
{
    return kind != ZKR__OP_CHILDREN && kind != ZKR__OP_GET && kind != ZKR__OP_SYNC &&
           kind != ZKR__OP_EXISTS && kind != ZKR__OP_ACL;
}

static bool is_transaction(enum zkr__op_kind kind)
{
    return kind == ZKR__OP_CHECK || kind == ZKR__OP_MULTI || kind == ZKR__OP_CREATES;
}

/* --- memory --- */

/*
 * The client keeps the memory of this many requests, so that most requests need no allocation. ZKR__SPARES of them are
 * spares for answers.
 */
enum { IDLE_MAX = 2 * ZKR__SPARES };

static void check_idle(zkr_client *c) ZKR__LOCKED
{
    ZKR__MUST(c, c->idle_count <= IDLE_MAX && (c->idle_count == 0) == !c->idle);
}

static struct zkr__request *take_idle(zkr_client *c) ZKR__LOCKED
{
    check_idle(c);
    struct zkr__request *r = c->idle;
    if (r) {
        DL_DELETE(c->idle, r);
        c->idle_count--;
        *r = (struct zkr__request){.plain = true};
    }
    return r;
}

/* Does not use the spares. Returns NULL if memory runs out. */
static struct zkr__request *make_request(zkr_client *c, size_t scratch) ZKR__LOCKED
{
    if (scratch == 0 && c->idle_count > ZKR__SPARES) {
        return take_idle(c);
    }
    struct zkr__request *r = zkr__mem_alloc(sizeof(*r) + scratch);
    if (r) {
        r->plain = scratch == 0;
    }
    return r;
}

static void free_request(zkr_client *c, struct zkr__request *r) ZKR__LOCKED
{
    if (r->plain && c->idle_count < IDLE_MAX) {
        DL_PREPEND(c->idle, r);
        c->idle_count++;
    } else {
        zkr__mem_free(r);
    }
    check_idle(c);
}

static void free_list(struct zkr__request **list)
{
    while (*list) {
        struct zkr__request *r = *list;
        DL_DELETE(*list, r);
        zkr__mem_free(r);
    }
}

bool zkr__request_begin(zkr_client *c)
{
    for (; c->idle_count < ZKR__SPARES; c->idle_count++) {
        struct zkr__request *r = zkr__mem_alloc(sizeof(*r));
        if (!r) {
            free_list(&c->idle);
            return false;
        }
        r->plain = true;
        DL_PREPEND(c->idle, r);
    }
    return true;
}

/* --- answers to requests that were not sent --- */

/* Make the service end the session, because an answer or an event was lost. */
static void give_up_soon(zkr_client *c) ZKR__LOCKED
{
    c->overrun = true;
    zkr__wake_by(c, zkr__now(c));
}

static void
keep_unsent(zkr_client *c, struct zkr__request *r, int code, int zk_rc) ZKR__LOCKED
{
    r->code = code;
    r->zk_rc = zk_rc;
    DL_APPEND(c->unsent, r);
    zkr__wake_by(c, zkr__now(c));
}

bool zkr__answer_later(zkr_client *c,
                       int code,
                       zkr__answer_fn fn,
                       void *ctx,
                       unsigned tag)
{
    struct zkr__request *r = make_request(c, 0);
    r = r ? r : take_idle(c);
    if (!r) {
        give_up_soon(c);
        return false;
    }
    r->fn = fn;
    r->ctx = ctx;
    r->tag = tag;
    keep_unsent(c, r, code, 0);
    return true;
}

void zkr__request_deliver(zkr_client *c)
{
    struct zkr__request *r;
    int count;
    DL_COUNT(c->unsent, r, count);
    for (; count > 0 && c->unsent; count--) {
        r = c->unsent;
        DL_DELETE(c->unsent, r);
        const struct zkr__answer answer = {
            .code = r->code, .zk_rc = r->zk_rc, .failed_at = SIZE_MAX};
        r->fn(r->ctx, r->tag, &answer);
        free_request(c, r);
    }
}

void zkr__request_finish(zkr_client *c)
{
    zkr__request_deliver(c);
    free_list(&c->unsent);
    free_list(&c->idle);
    c->idle_count = 0;
    ZKR__MUST(c, !c->unsent && !c->idle);
}

/* --- answers and events --- */

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

/* A single slow answer has little weight, because a stall must not delay later nudges. */
static void note_round_trip(zkr_client *c, int64_t took) ZKR__LOCKED
{
    enum { SMOOTHING = 8 };
    if (c->round_trip == 0) {
        c->round_trip = took;
    }
    int64_t counted = zkr__sooner(took, 2 * c->round_trip + ZKR__MS);
    c->round_trip += (counted - c->round_trip) / SMOOTHING;
    c->nudge_pause = 0;
}

/* Only reads count, because a write also waits for the servers' disks. */
static void note_read(zkr_client *c, int64_t took) ZKR__LOCKED
{
    enum { SLOWLY = 128 };
    bool shorter = c->shortest_trip == 0 || took < c->shortest_trip;
    c->shortest_trip =
        shorter ? took : c->shortest_trip + (took - c->shortest_trip) / SLOWLY;
}

/* Report an impossible answer, once per handle. The effect of the request is unknown, as after a lost answer. */
static void disbelieve(struct zkr__link *link) ZKR__LOCKED
{
    if (!link->doubted) {
        link->doubted = true;
        zkr__log(link->c, ZKR_LOG_ERROR,
                 ZKR__EVENT("answer_impossible",
                            .reason = "impossible answer; treated as lost"));
    }
}

static void settle_watch(const struct zkr__request *r, int code)
{
    bool set = code == ZKR_OK || (r->kind == ZKR__OP_EXISTS && code == ZKR_ENONODE);
    if (r->watch != 0) {
        zkr__watches_answered(&r->link->watches, r->watch, set);
    }
}

/*
 * A follower also reports an expired session if a transaction creates an ephemeral node while the session is local and
 * not upgraded. If the session has really expired, the server closes the connection and answers no later write. So a
 * second report on the same connection, after an answered write, means that the session is local.
 */
static bool is_local(struct zkr__link *link,
                     enum zkr__op_kind kind,
                     const struct zkr__answer *answer)
{
    bool expired = kind == ZKR__OP_CREATES && answer->code == ZKR_ESESSION;
    bool lives = answer->code == ZKR_OK
                     ? is_write(kind)
                     : is_transaction(kind) && answer->failed_at != SIZE_MAX;
    bool local = expired && link->expired == ZKR__EXPIRED_AND_LIVES;
    if (expired && !local) {
        link->expired = ZKR__EXPIRED;
    } else if (link->expired == ZKR__EXPIRED && lives) {
        link->expired = ZKR__EXPIRED_AND_LIVES;
    }
    return local;
}

/* Turn the answer to a CREATES request into an answer to the CREATE that was sent as that request. */
static void as_create(const zkr_client *c, struct zkr__answer *answer)
{
    if (answer->code == ZKR_OK && answer->name_count == 1) {
        answer->path = answer->names[0];
        answer->owner = c->session_id;
    } else if (answer->code == ZKR_OK) {
        answer->code = ZKR_ECONNLOSS;
    }
    answer->names = NULL;
    answer->name_count = 0;
}

/* The code for requests that libzookeeper drops when it closes a handle. */
enum { CLOSING = -116 };

static bool is_lost(const struct zkr__answer *answer)
{
    return answer->code == ZKR_ECONNLOSS || answer->code == ZKR_ESESSION;
}

/* Record how long the answer took and what it proves for the lease. */
static void note_times(zkr_client *c,
                       const struct zkr__request *r,
                       const struct zkr__answer *answer) ZKR__LOCKED
{
    int64_t boot = c->door->boot();
    if (answer->code == ZKR_OK || answer->code == ZKR_ENONODE) {
        note_round_trip(c, boot - r->sent);
        if (!is_write(r->kind)) {
            note_read(c, boot - r->sent);
        }
    }
    if (is_write(r->kind) && answer->code == ZKR_OK) {
        zkr__lease_answered(&c->lease, r->sent, boot);
        ZKR__MUST_NOT(c, zkr__lease_invariant(&c->lease));
    }
}

static void on_answer(struct zkr__asker *asker, const struct zkr__answer *answer)
{
    static const struct zkr__answer lost = {.code = ZKR_ECONNLOSS,
                                            .failed_at = SIZE_MAX},
                                    local = {.code = ZKR_EZK(ZKR__LOCAL_SESSION),
                                             .zk_rc = ZKR__LOCAL_SESSION,
                                             .failed_at = SIZE_MAX};
    struct zkr__request *r = ZKR__OWNER_OF(asker, struct zkr__request, asker);
    struct zkr__link *link = r->link;
    zkr_client *c = link->c;
    zkr__lock(c);
    DL_DELETE(link->pending, r);
    settle_watch(r, answer->code);
    link->heard += answer->zk_rc != CLOSING;
    link->broke = link->broke || (answer->zk_rc != CLOSING && is_lost(answer));
    link->timed = link->timed || (r->ups == 1 && link->ups == 1);
    if (!r->answered && !zkr__credible(r->kind, answer, c->session_id)) {
        disbelieve(link);
        answer = &lost;
    }
    if (is_local(link, r->kind, answer)) {
        answer = &local;
    }
    if (zkr__zk_demands_credentials(answer->zk_rc)) {
        link->demanded = true;
        zkr__wake_by(c, zkr__now(c));
    }
    struct zkr__answer told = *answer;
    told.unwatched = r->unwatched;
    if (link == c->link) {
        const struct zkr__support_sent sent = {.kind = r->kind,
                                               .container = r->container,
                                               .connection = link->begun + r->ups};
        zkr__support_learn(c, &sent, &told);
    }
    if (r->alone) {
        as_create(c, &told);
    }
    if (!is_lost(answer) && link == c->link) {
        c->unheard = 0;
        c->heard_at = zkr__now(c);
        if (is_write(r->kind)) {
            c->unanswered = false;
            c->fruitless = 0;
        }
    }
    if (!r->answered) {
        note_times(c, r, answer);
        r->fn(r->ctx, r->tag, &told);
    }
    free_request(c, r);
    if (c->closing && !link->pending) {
        zkr__cv_broadcast(&c->changed); /* for zkr_client_close() */
    }
    if (c->finishing && !link->pending) {
        zkr__wake_by(c, zkr__now(c));
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
    if (link == c->link && !path) {
        give_up_soon(c);
    } else if (link == c->link && c->up) {
        c->up->node_event(c->engine, path, event);
    }
    zkr__unlock(c);
}

/* --- submitting --- */

int64_t zkr__patience(const zkr_client *c)
{
    enum { USUAL_TIMES = 8, LEAST_MS = 20 };
    int64_t usual = zkr__later(USUAL_TIMES * c->round_trip, LEAST_MS * ZKR__MS);
    int64_t most = c->session_ms * ZKR__MS / 10; /* the limit of rule 3 in lease.h */
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

/* libzookeeper also reports a bad argument if it has no memory to join the chroot and the path. */
static int refused_code(const struct zkr__op *op, int zk_rc)
{
    int code = zkr__zk_code(zk_rc);
    bool no_room =
        code == ZKR_EINVAL && op->kind != ZKR__OP_MULTI && has_valid_paths(op);
    return no_room ? ZKR_ENOMEM : code;
}

/* Returns false if there is no memory to count a needed watch. */
static bool
take_watch(struct zkr__watches *w, const struct zkr__op *op, struct zkr__request *r)
{
    r->watch = op->watch ? zkr__watches_take(w, op) : 0;
    r->unwatched = op->watch && r->watch == 0;
    return !r->unwatched || op->watch == ZKR__WATCH_SPARE || !zkr__watches_fit(w, op);
}

static void
send(zkr_client *c, const struct zkr__op *op, struct zkr__request *r) ZKR__LOCKED
{
    struct zkr__link *link = c->link;
    struct zkr__op sent = *op;
    if (!take_watch(&link->watches, op, r)) {
        keep_unsent(c, r, ZKR_ENOMEM, 0);
        return;
    }
    ZKR__MUST(c, link->zh && link->c == c && c->session_id != 0);
    DL_APPEND(link->pending, r);
    r->asker = (struct zkr__asker){.answer = on_answer, .scratch = r->scratch};
    r->link = link;
    r->kind = op->kind;
    r->container = op->container;
    r->sent = c->sent_at = c->door->boot();
    r->ups = link->ups;
    sent.watch = r->unwatched ? ZKR__WATCH_NONE : op->watch;
    int zk_rc = c->door->submit(link->zh, &sent, &r->asker, &link->owner);
    if (zk_rc != 0) {
        settle_watch(r, ZKR_ECONNLOSS);
        DL_DELETE(link->pending, r);
        keep_unsent(c, r, refused_code(op, zk_rc), zk_rc);
        return;
    }
    c->stats.requests++;
    c->unanswered = c->unanswered || is_write(op->kind);
    /* If the answer is late, the service sends a nudge. */
    zkr__wake_by(c, zkr__now(c) + zkr__patience(c));
}

bool zkr__submit_early(zkr_client *c,
                       const struct zkr__op *op,
                       zkr__answer_fn fn,
                       void *ctx,
                       unsigned tag)
{
    struct zkr__op adapted = *op;
    struct zkr__creation one;
    zkr__support_adapt(c, &adapted, &one);
    bool needs = is_transaction(adapted.kind) && c->door->scratch;
    struct zkr__request *r = make_request(c, needs ? c->door->scratch(&adapted) : 0);
    if (!r) {
        return zkr__answer_later(c, ZKR_ENOMEM, fn, ctx, tag);
    }
    r->fn = fn;
    r->ctx = ctx;
    r->tag = tag;
    r->alone = adapted.kind != op->kind;
    send(c, &adapted, r);
    return true;
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

bool zkr__watch_may_reserve(const zkr_client *c, int64_t bytes)
{
    int64_t needed = c->link ? c->link->watches.bytes.needed : c->watch_reserved;
    return needed + bytes <= c->watch_most.needed;
}

void zkr__watch_reserve(zkr_client *c, int64_t bytes)
{
    c->watch_reserved += bytes;
    if (c->link) {
        c->link->watches.bytes.needed += bytes;
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

static size_t begin_close(struct zkr__link *link)
{
    const struct zkr__request *r;
    size_t pending;
    zkr__lock(link->c);
    DL_COUNT(link->pending, r, pending);
    link->heard = 0;
    zkr__unlock(link->c);
    return pending;
}

bool zkr__link_close(struct zkr__link *link)
{
    const struct zkr__door *door = link->c->door;
    size_t pending = begin_close(link);
    door->close(link->zh);
    if (link->tap > 0) {
        bool ended = door->tap_end(link->tap, pending - link->heard + 1);
        /* If a request was lost, the connection broke, so the close request was never sent. */
        link->settled = ended && !link->broke;
    }
    if (link->close_at > 0) {
        zkr__log_slow(-1);
    }
    bool over = link->settled;
    zkr__guardian_over(link->c, link->guarded, over && link->close_at == 0);
    zkr__link_free(link);
    return over;
}

void zkr__link_free(struct zkr__link *link)
{
    free_list(&link->pending);
    zkr__watches_free(&link->watches);
    zkr__mem_free(link->servers);
    zkr__mem_free(link->home);
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
