/* SPDX-License-Identifier: Apache-2.0 */
#include "look/node_watch.h"

#include "base/mem.h"
#include "queue/children.h"
#include "queue/engine.h"
#include "queue/node_data.h"
#include "session/inquiry.h"
#include "session/log.h"
#include "session/resolve.h"

/* The tag of a request is the kind of its operation, or ASKED_CHROOT. */
enum { ASKED_CHROOT = ZKR__OP_CREATES + 1 };

struct zkr__node_watch {
    zkr_client *c;
    struct zkr__engine *engine;
    enum zkr__node_watch_kind kind;
    struct zkr__listener listener;
    struct zkr__path_watcher watcher;
    struct zkr__timer retry;
    void (*on_change)(void *ctx, int64_t number);
    void *ctx;
    const char *path; /* points to the text in `watcher` */
    struct zkr__cv changed;
    int64_t number;   /* ZKR__COUNT_UNKNOWN before the first answer */
    uint64_t changes; /* how often the number has changed */
    uint64_t seen;    /* how many of these changes the caller knows */
    int64_t waiting;  /* how many threads wait */
    int64_t failures; /* failed reads since the last successful one */
    int code;         /* why the node cannot be read; 0 = it can be read */
    bool asking;      /* a request is in flight */
    bool armed;       /* a watch is set and has not fired */
    bool ended;       /* the answer to the request in flight will free this */
};

static void free_watch(struct zkr__node_watch *w)
{
    zkr__cv_destroy(&w->changed);
    zkr__mem_free(w);
}

/* --- from answers to numbers --- */

int64_t zkr__fingerprint(int64_t sum, const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *p = name; *p; p++) {
        hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
    }
    return (int64_t)(((uint64_t)sum + hash) & INT64_MAX);
}

int64_t zkr__fingerprint_begin(bool ephemeral)
{
    return ephemeral;
}

static int64_t contenders_in(const struct zkr__answer *answer)
{
    int64_t sum = zkr__fingerprint_begin(answer->owner != 0);
    for (size_t i = 0; i < answer->name_count; i++) {
        struct zkr__child child = {.name = answer->names[i]};
        if (child.name && zkr__name_parse(child.name, &child.kind, &child.sequence) &&
            zkr__child_is_shown(&child, answer->made)) {
            sum = zkr__fingerprint(sum, child.name);
        }
    }
    return sum;
}

static int64_t count_in(const struct zkr__answer *answer)
{
    const unsigned char *bytes = answer->data;
    if (answer->code == ZKR_ENONODE) {
        return ZKR__COUNT_MISSING;
    }
    if (answer->data_len != 4) {
        return ZKR__COUNT_BAD;
    }
    uint32_t count = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
                     (uint32_t)bytes[2] << 8 | bytes[3];
    return count <= INT32_MAX ? (int64_t)count : ZKR__COUNT_BAD;
}

/* --- the known number --- */

static void take(struct zkr__node_watch *w, int64_t number) ZKR__LOCKED
{
    bool first = w->kind == ZKR__FOLLOW_CONTENDERS && w->number == ZKR__COUNT_UNKNOWN;
    bool differs = number != w->number && !first;
    w->number = number;
    if (differs) {
        w->changes++;
        zkr__cv_broadcast(&w->changed);
        if (w->on_change) {
            w->on_change(w->ctx, number);
        }
    }
}

static void take_bad_count(struct zkr__node_watch *w, const char *reason) ZKR__LOCKED
{
    if (w->number != ZKR__COUNT_BAD) {
        zkr__log(w->c, ZKR_LOG_WARN,
                 ZKR__EVENT("no_count", .path = w->path, .reason = reason));
        take(w, ZKR__COUNT_BAD);
    }
}

static void take_answer(struct zkr__node_watch *w,
                        const struct zkr__answer *answer) ZKR__LOCKED
{
    int64_t number =
        w->kind == ZKR__FOLLOW_COUNT ? count_in(answer) : contenders_in(answer);
    if (number == ZKR__COUNT_BAD) {
        take_bad_count(
            w, zkr__is_compressed(answer->data, answer->data_len)
                   ? "it is compressed: Curator's enableCompression() is not supported"
                   : "a count is 4 bytes, big-endian, and not below 0");
    } else {
        take(w, number);
    }
}

/* Record that the watch has fired, or has ended with its session. */
static void disarm(struct zkr__node_watch *w) ZKR__LOCKED
{
    w->armed = false;
    if (w->kind == ZKR__FOLLOW_COUNT) {
        take(w, ZKR__COUNT_UNKNOWN);
    }
}

/* --- reading --- */

static void give_up(struct zkr__node_watch *w, int code) ZKR__LOCKED
{
    w->code = code;
    zkr__cv_broadcast(&w->changed);
}

static void fail(struct zkr__node_watch *w, int code) ZKR__LOCKED
{
    bool lost = code == ZKR_ECONNLOSS || code == ZKR_ESESSION;
    if (lost && !zkr__connected(w->c)) {
        return; /* after the re-connection, look() reads again */
    }
    bool refused = !lost && !zkr_err_retriable(code);
    int64_t pause =
        zkr__retry_pause(&w->c->retry, w->failures++, zkr__retry_random(&w->c->random));
    int64_t at = zkr__now(w->c) + pause;
    if (refused && w->kind == ZKR__FOLLOW_COUNT) {
        take_bad_count(w, zkr_strerror(code));
    } else if (refused) {
        give_up(w, code);
        at = zkr__engine_doubts_at(w->engine); /* the read may be allowed by then */
        zkr__log(w->c, ZKR_LOG_WARN,
                 ZKR__EVENT("watch_failed", .path = w->path,
                            .reason = code == ZKR_ENONODE ? ZKR__NO_CHROOT
                                                          : zkr_strerror(code)));
    }
    zkr__engine_timer(w->engine, &w->retry, at);
}

static void
on_answer(void *ctx, unsigned asked, const struct zkr__answer *answer) ZKR__LOCKED;

static void ask(struct zkr__node_watch *w, enum zkr__op_kind kind) ZKR__LOCKED
{
    const struct zkr__op op = {
        .kind = kind,
        .path = w->path,
        .watch = w->kind == ZKR__FOLLOW_COUNT ? ZKR__WATCH_VITAL : ZKR__WATCH_NEEDED};
    /*
     * If zkr__submit() returns false, no answer will arrive. The session has ended, and the next session reads again.
     */
    w->asking = zkr__submit(w->c, &op, on_answer, w, kind);
}

/*
 * The read found no node and set no watch, so exists() sets one. Below a missing chroot every node is missing, so the
 * client checks the root first. For a count this check is not needed: a missing count means the same with or without a
 * chroot.
 */
static void find_missing(struct zkr__node_watch *w) ZKR__LOCKED
{
    const struct zkr__op op = {.kind = ZKR__OP_EXISTS, .path = "/"};
    if (w->kind == ZKR__FOLLOW_COUNT || *zkr__servers_chroot(w->c->servers) == '\0') {
        ask(w, ZKR__OP_EXISTS);
    } else {
        w->asking = zkr__submit(w->c, &op, on_answer, w, ASKED_CHROOT);
    }
}

static void read_node(struct zkr__node_watch *w) ZKR__LOCKED
{
    ask(w, w->kind == ZKR__FOLLOW_COUNT ? ZKR__OP_GET : ZKR__OP_CHILDREN);
}

static void look(struct zkr__node_watch *w) ZKR__LOCKED
{
    bool wanted = w->on_change || w->waiting > 0;
    if (!wanted || w->armed || w->asking) {
        return;
    }
    zkr__timer_stop(&w->engine->timers, &w->retry);
    w->code = 0;
    if (zkr__connected(w->c)) {
        read_node(w);
    }
}

/* If the numbers differ, either one may be older, so the client reads the node again. */
void zkr__node_watch_know(struct zkr__node_watch *w, int64_t number)
{
    w->armed = w->armed && number == w->number;
    take(w, number);
    w->seen = w->changes;
    look(w);
}

static void on_answer(void *ctx, unsigned asked, const struct zkr__answer *answer)
{
    struct zkr__node_watch *w = ctx;
    bool found = answer->code == ZKR_OK, missing = answer->code == ZKR_ENONODE;
    w->asking = false;
    if (w->ended) {
        free_watch(w);
    } else if (asked == ASKED_CHROOT && found) {
        ask(w, ZKR__OP_EXISTS);
    } else if (asked != ASKED_CHROOT && asked != ZKR__OP_EXISTS && missing) {
        find_missing(w);
    } else if (asked == ZKR__OP_EXISTS && found) {
        read_node(w); /* the node was created a moment ago */
    } else if (asked != ASKED_CHROOT && (found || missing) && !answer->unwatched) {
        w->armed = true;
        w->failures = 0;
        zkr__engine_timer(w->engine, &w->retry, zkr__engine_doubts_at(w->engine));
        take_answer(w, answer);
    } else {
        fail(w, found || (missing && answer->unwatched) ? ZKR_ELIMIT : answer->code);
    }
}

int zkr__node_watch_wait(struct zkr__node_watch *w, int64_t deadline)
{
    uint64_t seen = w->seen;
    int before = w->code; /* result of the last read before this call */
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
    return w->code != 0 ? w->code : w->asking && before != 0 ? before : ZKR_ETIMEDOUT;
}

int64_t zkr__node_watch_number(const struct zkr__node_watch *w)
{
    return w->number;
}

bool zkr__node_watch_busy(const struct zkr__node_watch *w)
{
    return w && w->waiting > 0;
}

/* --- events --- */

static void on_state(struct zkr__listener *listener, int state) ZKR__LOCKED
{
    struct zkr__node_watch *w =
        ZKR__OWNER_OF(listener, struct zkr__node_watch, listener);
    if (state == ZKR_STATE_CONNECTED) {
        look(w); /* a no-op if the watch is still set */
    } else if (state != ZKR_STATE_SUSPENDED) {
        disarm(w); /* the session has ended */
    }
    if (w->c->shut || state == ZKR_STATE_AUTH_FAILED) {
        give_up(w, w->c->shut ? ZKR_ECLOSED : ZKR_EAUTH);
    }
}

static void on_event(struct zkr__path_watcher *watcher,
                     enum zkr__node_event event) ZKR__LOCKED
{
    struct zkr__node_watch *w = ZKR__OWNER_OF(watcher, struct zkr__node_watch, watcher);
    (void)event;
    disarm(w);
    look(w);
}

static void on_retry(struct zkr__timer *timer, int64_t now) ZKR__LOCKED
{
    struct zkr__node_watch *w = ZKR__OWNER_OF(timer, struct zkr__node_watch, retry);
    (void)now;
    w->armed = false;
    look(w);
}

/* --- creation and end --- */

int zkr__node_watch_create(struct zkr__node_watch **out,
                           zkr_client *c,
                           const char *path,
                           enum zkr__node_watch_kind kind,
                           void (*on_change)(void *ctx, int64_t number),
                           void *ctx)
{
    struct zkr__engine *engine = zkr__engine_of(c);
    struct zkr__node_watch *w = engine ? zkr__mem_alloc(sizeof(*w)) : NULL;
    if (!w) {
        return ZKR_ENOMEM;
    }
    zkr__cv_init(&w->changed);
    w->c = c;
    w->engine = engine;
    w->kind = kind;
    w->on_change = on_change;
    w->ctx = ctx;
    w->number = ZKR__COUNT_UNKNOWN;
    w->listener.on_state = on_state;
    w->watcher.on_event = on_event;
    w->retry.fire = on_retry;
    if (!zkr__path_watch(&engine->watchers, &w->watcher, path)) {
        free_watch(w);
        return ZKR_ENOMEM;
    }
    w->path = zkr__path_watched(&w->watcher);
    zkr__listen(c, &w->listener);
    look(w);
    *out = w;
    return ZKR_OK;
}

void zkr__node_watch_end(struct zkr__node_watch *w)
{
    if (!w) {
        return;
    }
    zkr__unlisten(w->c, &w->listener);
    zkr__timer_stop(&w->engine->timers, &w->retry);
    zkr__path_unwatch(&w->engine->watchers, &w->watcher);
    w->ended = true;
    if (!w->asking) {
        free_watch(w);
    }
}
