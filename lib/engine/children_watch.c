/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/children_watch.h"

#include "base/mem.h"
#include "engine/names.h"
#include "engine/session_events.h"
#include "session/log.h"
#include "session/request.h"

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

static void take_names(struct zkr__children_watch *w, const struct zkr__answer *answer)
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
        take_names(w, answer);
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
