/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/count_watch.h"

#include "base/mem.h"
#include "engine/names.h"
#include "engine/session_events.h"
#include "session/log.h"
#include "session/request.h"

struct zkr__count_watch {
    struct zkr__engine *engine;
    struct zkr__session_listener listener;
    struct zkr__path_watcher watcher;
    struct zkr__timer retry;
    void (*on_change)(void *ctx, int64_t count);
    void *ctx;
    const char *path; /* text of the watcher's */
    int64_t count;
    int64_t failures;
    bool asking; /* a request is in flight */
    bool stale;  /* and something happened since it was sent */
    bool ended;  /* freed with the answer in flight */
};

/* --- what is known --- */

static void take(struct zkr__count_watch *w, int64_t count) ZKR__LOCKED
{
    if (count != w->count) {
        w->count = count;
        w->on_change(w->ctx, count);
    }
}

static int64_t number_in(const struct zkr__answer *answer)
{
    const unsigned char *bytes = answer->data;
    if (answer->data_len != 4) {
        return ZKR__COUNT_BAD;
    }
    uint32_t number = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
                      (uint32_t)bytes[2] << 8 | bytes[3];
    return number <= INT32_MAX ? (int64_t)number : ZKR__COUNT_BAD;
}

static void take_data(struct zkr__count_watch *w,
                      const struct zkr__answer *answer) ZKR__LOCKED
{
    int64_t count = number_in(answer);
    if (count == ZKR__COUNT_BAD && w->count != ZKR__COUNT_BAD) {
        const char *reason =
            zkr__is_compressed(answer->data, answer->data_len)
                ? "it is compressed: Curator's enableCompression() is not supported"
                : "a count is 4 bytes, big-endian, and not below 0";
        zkr__log(w->engine->c, ZKR_LOG_WARN,
                 ZKR__EVENT("no_count", .path = w->path, .reason = reason));
    }
    take(w, count);
}

/* --- looking --- */

static void
on_answer(void *ctx, unsigned asked, const struct zkr__answer *answer) ZKR__LOCKED;

static void ask(struct zkr__count_watch *w, enum zkr__op_kind kind) ZKR__LOCKED
{
    struct zkr__op op = {.kind = kind, .path = w->path, .watch = true, .vital = true};
    w->asking = true;
    w->stale = false;
    zkr__submit(w->engine->c, &op, on_answer, w, kind);
}

static void look(struct zkr__count_watch *w) ZKR__LOCKED
{
    zkr__timer_stop(&w->engine->timers, &w->retry);
    if (w->asking) {
        w->stale = true;
    } else if (zkr__connected(w->engine->c)) {
        ask(w, ZKR__OP_GET);
    }
}

static void fail(struct zkr__count_watch *w, int code) ZKR__LOCKED
{
    zkr_client *c = w->engine->c;
    bool lost = code == ZKR_ECONNLOSS || code == ZKR_ESESSION;
    if (lost && !zkr__connected(c)) {
        return; /* looks again when connected */
    }
    if (!lost && !zkr_err_retriable(code) && w->count != ZKR__COUNT_BAD) {
        zkr__log(c, ZKR_LOG_WARN,
                 ZKR__EVENT("no_count", .path = w->path, .reason = zkr_strerror(code)));
        take(w, ZKR__COUNT_BAD);
    }
    int64_t pause =
        zkr__retry_pause(&c->retry, w->failures++, zkr__retry_random(&c->random));
    zkr__engine_timer(w->engine, &w->retry, zkr__now(c) + pause);
}

static void take_answer(struct zkr__count_watch *w,
                        enum zkr__op_kind asked,
                        const struct zkr__answer *answer) ZKR__LOCKED
{
    if (answer->code != ZKR_OK && answer->code != ZKR_ENONODE) {
        fail(w, answer->code);
        return;
    }
    zkr__engine_timer(w->engine, &w->retry, zkr__engine_doubts_at(w->engine));
    w->failures = 0;
    if (asked == ZKR__OP_GET && answer->code == ZKR_OK) {
        take_data(w, answer);
    } else if (asked == ZKR__OP_GET) {
        ask(w, ZKR__OP_EXISTS); /* a get leaves no watch on what is missing */
    } else if (answer->code == ZKR_OK) {
        ask(w, ZKR__OP_GET); /* made a moment ago */
    } else {
        take(w, ZKR__COUNT_MISSING);
    }
}

static void on_answer(void *ctx, unsigned asked, const struct zkr__answer *answer)
{
    struct zkr__count_watch *w = ctx;
    w->asking = false;
    if (w->ended) {
        zkr__mem_free(w);
        return;
    }
    bool stale = w->stale;
    take_answer(w, (enum zkr__op_kind)asked, answer);
    if (stale) {
        look(w);
    }
}

/* --- what happened --- */

static void on_session(struct zkr__session_listener *listener,
                       enum zkr__session_change change) ZKR__LOCKED
{
    struct zkr__count_watch *w =
        ZKR__OWNER_OF(listener, struct zkr__count_watch, listener);
    if (change == ZKR__CHANGE_CONNECTED) {
        look(w); /* also in the same session: the last answer may have been lost */
    } else if (change == ZKR__CHANGE_OVER) {
        take(w, ZKR__COUNT_UNKNOWN);
    }
}

static void on_event(struct zkr__path_watcher *watcher,
                     enum zkr__node_event event) ZKR__LOCKED
{
    struct zkr__count_watch *w =
        ZKR__OWNER_OF(watcher, struct zkr__count_watch, watcher);
    (void)event;
    take(w, ZKR__COUNT_UNKNOWN); /* and what is asked from here on sees the new one */
    look(w);
}

static void on_retry(struct zkr__timer *timer, int64_t now) ZKR__LOCKED
{
    (void)now;
    look(ZKR__OWNER_OF(timer, struct zkr__count_watch, retry));
}

/* --- life --- */

int zkr__count_watch_create(struct zkr__count_watch **out,
                            zkr_client *c,
                            const char *path,
                            void (*on_change)(void *ctx, int64_t count),
                            void *ctx)
{
    struct zkr__engine *engine = zkr__engine_of(c);
    struct zkr__count_watch *w = engine ? zkr__mem_alloc(sizeof(*w)) : NULL;
    if (!w) {
        return ZKR_ENOMEM;
    }
    w->engine = engine;
    w->on_change = on_change;
    w->ctx = ctx;
    w->count = ZKR__COUNT_UNKNOWN;
    w->listener.on_change = on_session;
    w->watcher.on_event = on_event;
    w->retry.fire = on_retry;
    if (!zkr__path_watch(&engine->watchers, &w->watcher, path)) {
        zkr__mem_free(w);
        return ZKR_ENOMEM;
    }
    w->path = zkr__path_watched(&w->watcher);
    zkr__engine_listen(engine, &w->listener);
    look(w);
    *out = w;
    return ZKR_OK;
}

void zkr__count_watch_end(struct zkr__count_watch *w)
{
    if (!w) {
        return;
    }
    zkr__engine_unlisten(w->engine, &w->listener);
    zkr__timer_stop(&w->engine->timers, &w->retry);
    zkr__path_unwatch(&w->engine->watchers, &w->watcher);
    w->ended = true;
    if (!w->asking) {
        zkr__mem_free(w);
    }
}
