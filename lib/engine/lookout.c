/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/lookout.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "engine/engine.h"
#include "session/log.h"
#include "session/wake.h"

struct zkr__lookout {
    zkr_client *c;
    struct zkr__lookout *prev, *next; /* engine: all lookouts */
    void (*on_news)(void *ctx);
    void *ctx;
    char *dir, *prefix;
    struct zkr__cv told;
    uint64_t print; /* of the contenders last known, see print_of() */
    bool knows;     /* print means something */
    uint64_t news;  /* times the print has changed */
    uint64_t seen;  /* as far as the owner knows */
    int64_t waiting;
    bool asking; /* a request is in flight */
    bool armed;  /* a watch is set, and silent so far */
    bool ended;  /* freed with the answer in flight */
    int code;    /* why we cannot look */
    int64_t retry_at, failures;
};

static void free_lookout(struct zkr__lookout *l)
{
    zkr__cv_destroy(&l->told);
    zkr__mem_free(l->dir);
    zkr__mem_free(l->prefix);
    zkr__mem_free(l);
}

/* --- what is known --- */

/* The sum over all names is the print of a set: the order of a list does not count. */
static uint64_t print_of(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *p = name; *p; p++) {
        hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
    }
    return hash;
}

static void take_print(struct zkr__lookout *l, uint64_t print)
{
    bool differs = l->knows && print != l->print;
    l->print = print;
    l->knows = true;
    l->failures = 0;
    if (differs) {
        l->news++;
        zkr__cv_broadcast(&l->told);
        if (l->on_news) {
            l->on_news(l->ctx);
        }
    }
}

static void take_names(struct zkr__lookout *l, const struct zkr__answer *answer)
{
    uint64_t print = 0;
    int64_t sequence;
    for (size_t i = 0; i < answer->name_count; i++) {
        const char *name = answer->names[i];
        if (name && zkr__path_sequence(name, l->prefix, &sequence)) {
            print += print_of(name);
        }
    }
    take_print(l, print);
}

void zkr__lookout_know(struct zkr__lookout *l, const zkr_contenders *list)
{
    l->print = 0;
    for (size_t i = 0; i < zkr_contenders_count(list); i++) {
        l->print += print_of(zkr_contenders_get(list, i)->node);
    }
    l->knows = true;
    l->seen = l->news;
}

/* --- looking --- */

static void fail(struct zkr__lookout *l, int code) ZKR__LOCKED
{
    if (code == ZKR_ECONNLOSS || code == ZKR_ESESSION) {
        return; /* looks again when connected */
    }
    if (zkr_err_retriable(code)) {
        l->retry_at =
            zkr__now(l->c) + zkr__retry_pause(&l->c->retry, l->failures++,
                                              zkr__retry_random(&l->c->random));
        zkr__wake_by(l->c, l->retry_at);
        return;
    }
    l->code = code;
    zkr__cv_broadcast(&l->told);
    zkr__log(l->c, ZKR_LOG_WARN, "%s: cannot watch who comes and goes: %s", l->dir,
             zkr_strerror(code));
}

static void
on_answer(void *ctx, unsigned asked, const struct zkr__answer *answer) ZKR__LOCKED;

static void ask(struct zkr__lookout *l, enum zkr__op_kind kind) ZKR__LOCKED
{
    struct zkr__op op = {.kind = kind, .path = l->dir, .watch = true};
    l->asking = true;
    zkr__submit(l->c, &op, on_answer, l, kind);
}

static void look(struct zkr__lookout *l) ZKR__LOCKED
{
    l->retry_at = 0;
    if (!l->armed && !l->asking) {
        l->code = 0;
        ask(l, ZKR__OP_CHILDREN);
    }
}

static void look_if_wanted(struct zkr__lookout *l) ZKR__LOCKED
{
    if (l->on_news || l->waiting > 0) {
        look(l);
    }
}

static void on_answer(void *ctx, unsigned asked, const struct zkr__answer *answer)
{
    struct zkr__lookout *l = ctx;
    bool missing = answer->code == ZKR_ENONODE;
    l->asking = false;
    if (l->ended) {
        free_lookout(l);
    } else if (asked == ZKR__OP_CHILDREN && missing) {
        ask(l, ZKR__OP_EXISTS);
    } else if (asked == ZKR__OP_EXISTS && answer->code == ZKR_OK) {
        ask(l, ZKR__OP_CHILDREN); /* made a moment ago */
    } else if (answer->code == ZKR_OK || missing) {
        l->armed = true;
        take_names(l, answer);
    } else {
        fail(l, answer->code);
    }
}

int zkr__lookout_wait(struct zkr__lookout *l, int64_t deadline)
{
    uint64_t seen = l->seen;
    bool in_time = true;
    l->waiting++;
    look(l);
    if (l->c->state == ZKR_STATE_AUTH_FAILED) {
        l->code = ZKR_EAUTH;
    }
    while (l->news == seen && l->code == 0 && in_time) {
        in_time = zkr__wait(l->c, &l->told, deadline);
    }
    l->waiting--;
    if (l->news != seen) {
        l->seen = l->news;
        return ZKR_OK;
    }
    return l->code != 0 ? l->code : ZKR_ETIMEDOUT;
}

bool zkr__lookout_busy(const struct zkr__lookout *l)
{
    return l && l->waiting > 0;
}

/* --- what happened --- */

void zkr__lookouts_up(struct zkr__engine *engine)
{
    struct zkr__lookout *l;
    DL_FOREACH(engine->lookouts, l)
    {
        look_if_wanted(l);
    }
}

void zkr__lookouts_over(struct zkr__engine *engine)
{
    struct zkr__lookout *l;
    DL_FOREACH(engine->lookouts, l)
    {
        l->armed = false; /* the server has forgotten its watches */
    }
}

void zkr__lookouts_refused(struct zkr__engine *engine)
{
    struct zkr__lookout *l;
    DL_FOREACH(engine->lookouts, l)
    {
        fail(l, ZKR_EAUTH);
    }
}

void zkr__lookouts_node(struct zkr__engine *engine, const char *path)
{
    struct zkr__lookout *l;
    DL_FOREACH(engine->lookouts, l)
    {
        if (strcmp(l->dir, path) == 0) {
            l->armed = false;
            look_if_wanted(l);
        }
    }
}

int64_t zkr__lookouts_tick(struct zkr__engine *engine, int64_t now)
{
    int64_t next = ZKR__NEVER;
    struct zkr__lookout *l;
    DL_FOREACH(engine->lookouts, l)
    {
        if (l->retry_at != 0 && l->retry_at <= now) {
            l->retry_at = 0;
            look_if_wanted(l);
        }
        if (l->retry_at != 0 && l->retry_at < next) {
            next = l->retry_at;
        }
    }
    return next;
}

/* --- life --- */

int zkr__lookout_create(struct zkr__lookout **out,
                        zkr_client *c,
                        const char *dir,
                        const char *prefix,
                        void (*on_news)(void *ctx),
                        void *ctx)
{
    struct zkr__engine *engine = zkr__engine_of(c);
    struct zkr__lookout *l = engine ? zkr__mem_alloc(sizeof(*l)) : NULL;
    if (!l) {
        return ZKR_ENOMEM;
    }
    if (zkr__cv_init(&l->told) != 0) {
        zkr__mem_free(l);
        return ZKR_ESYS;
    }
    l->c = c;
    l->on_news = on_news;
    l->ctx = ctx;
    l->dir = zkr__mem_string(dir);
    l->prefix = zkr__mem_string(prefix);
    if (!l->dir || !l->prefix) {
        free_lookout(l);
        return ZKR_ENOMEM;
    }
    DL_APPEND(engine->lookouts, l);
    if (on_news) {
        look(l);
    }
    *out = l;
    return ZKR_OK;
}

void zkr__lookout_end(struct zkr__lookout *l)
{
    if (!l) {
        return;
    }
    DL_DELETE(((struct zkr__engine *)l->c->engine)->lookouts, l);
    l->ended = true;
    if (!l->asking) {
        free_lookout(l);
    }
}
