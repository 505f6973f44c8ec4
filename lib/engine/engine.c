/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "session/bound.h"
#include "session/wake.h"

/*
 * Running a claim may free it, and others. So a walk holds the claim it stands on, and goes on
 * from there afterwards.
 */
static struct zkr__claim *hold(struct zkr__claim *claim)
{
    if (claim) {
        claim->busy++;
    }
    return claim;
}

static struct zkr__claim *step_on(struct zkr__claim *claim) ZKR__LOCKED
{
    struct zkr__claim *next = hold(claim->next);
    claim->busy--;
    zkr__claim_settle(claim);
    return next;
}

static void run_all(struct zkr__engine *engine, struct zkr__claim_event e) ZKR__LOCKED
{
    for (struct zkr__claim *claim = hold(engine->claims); claim;
         claim = step_on(claim)) {
        zkr__claim_run(claim, e);
    }
}

static void on_up(void *ctx) ZKR__LOCKED
{
    run_all(ctx, (struct zkr__claim_event){.kind = ZKR__EV_UP});
    zkr__lookouts_up(ctx);
}

static void on_over(void *ctx) ZKR__LOCKED
{
    run_all(ctx, (struct zkr__claim_event){.kind = ZKR__EV_OVER});
    zkr__lookouts_over(ctx);
}

static void on_refused(void *ctx) ZKR__LOCKED
{
    run_all(ctx, (struct zkr__claim_event){.kind = ZKR__EV_REFUSED, .code = ZKR_EAUTH});
    zkr__lookouts_refused(ctx);
}

static void on_lease_over(void *ctx) ZKR__LOCKED
{
    run_all(ctx, (struct zkr__claim_event){.kind = ZKR__EV_LEASE_OVER});
}

/* One of those parked behind @path that has not been told of this event. */
static struct zkr__claim *next_behind(struct zkr__engine *engine, const char *path)
{
    struct zkr__claim *claim;
    DL_FOREACH2(engine->foreign, claim, foreign_next)
    {
        if (claim->seen != engine->events && strcmp(claim->ahead_path, path) == 0) {
            break;
        }
    }
    return claim;
}

static void run_behind(struct zkr__engine *engine,
                       const char *path,
                       struct zkr__claim_event e) ZKR__LOCKED
{
    struct zkr__claim *claim;
    engine->events++;
    while ((claim = next_behind(engine, path)) != NULL) {
        claim->seen = engine->events;
        zkr__claim_run(claim, e);
    }
}

static void on_node(void *ctx, const char *path, enum zkr__node_event event) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    bool gone = event == ZKR__NODE_DELETED;
    struct zkr__claim *own;
    HASH_FIND(hh, engine->by_node, path, strlen(path), own);
    if (own) {
        zkr__claim_run(own, (struct zkr__claim_event){
                                .kind = gone ? ZKR__EV_OWN_GONE : ZKR__EV_OWN_CHANGED});
    }
    run_behind(engine, path,
               (struct zkr__claim_event){.kind = gone ? ZKR__EV_AHEAD_GONE
                                                      : ZKR__EV_AHEAD_CHANGED});
    zkr__lookouts_node(engine, path);
}

/* --- lease probe: one write that also checks what is held --- */

static void
on_probed(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    (void)tag;
    struct zkr__engine *engine = ctx;
    size_t count = engine->probed_count;
    engine->probed_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct zkr__claim *claim = engine->probed[i];
        if (answer->code == ZKR_ENONODE && i == answer->bad_check) {
            zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_OWN_GONE});
        }
        claim->in_flight--;
        zkr__claim_settle(claim);
    }
    zkr__probe_done(engine->c, answer->code == ZKR_OK || answer->code == ZKR_ENONODE);
}

static void on_probe(void *ctx) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    const char *paths[ZKR__PROBE_MAX];
    size_t count = 0;
    struct zkr__claim *claim, *next;
    DL_FOREACH_SAFE(engine->claims, claim, next)
    {
        if (count < ZKR__PROBE_MAX && claim->k.phase == ZKR__HELD) {
            paths[count] = claim->node;
            engine->probed[count++] = claim;
        }
    }
    if (count == 0) {
        zkr__probe_done(engine->c, false);
        return;
    }
    struct zkr__op op = {.kind = ZKR__OP_CHECK, .paths = paths, .path_count = count};
    zkr__submit(engine->c, &op, on_probed, engine, 0);
    engine->probed_count = count;
    for (size_t i = 0; i < count; i++) {
        struct zkr__claim *probed = engine->probed[i];
        probed->in_flight++;
        DL_DELETE(engine->claims, probed); /* to the end: others are next */
        DL_APPEND(engine->claims, probed);
    }
}

/* --- timers --- */

void zkr__engine_retry(struct zkr__claim *claim)
{
    zkr_client *c = claim->q->c;
    int64_t n = claim->k.failures > 0 ? claim->k.failures - 1 : 0;
    claim->retry_at =
        zkr__now(c) + zkr__retry_pause(&c->retry, n, zkr__retry_random(&c->random));
    zkr__wake_by(c, claim->retry_at);
}

void zkr__engine_pace(struct zkr__claim *claim)
{
    claim->retry_at = zkr__probe_due(claim->q->c);
    zkr__wake_by(claim->q->c, claim->retry_at);
}

static void forget_quiet(struct zkr__claim *claim)
{
    if (claim->quiet_at != 0) {
        DL_DELETE2(claim->engine->quiet, claim, quiet_prev, quiet_next);
        claim->quiet_at = 0;
    }
}

void zkr__engine_quiet(struct zkr__claim *claim, bool at_once)
{
    zkr_client *c = claim->q->c;
    forget_quiet(claim);
    if (at_once) {
        DL_PREPEND2(claim->engine->quiet, claim, quiet_prev, quiet_next);
    } else {
        DL_APPEND2(claim->engine->quiet, claim, quiet_prev, quiet_next);
    }
    claim->quiet_at = zkr__now(c) + (at_once ? 0 : ZKR__QUIET_MS * ZKR__MS);
    zkr__wake_by(c, claim->quiet_at);
}

void zkr__engine_forget_timers(struct zkr__claim *claim)
{
    forget_quiet(claim);
    claim->retry_at = 0;
}

static int64_t tick_quiet(struct zkr__engine *engine, int64_t now) ZKR__LOCKED
{
    while (engine->quiet && engine->quiet->quiet_at <= now) {
        struct zkr__claim *claim = engine->quiet;
        forget_quiet(claim);
        zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_QUIET});
    }
    return engine->quiet ? engine->quiet->quiet_at : ZKR__NEVER;
}

static int64_t tick_claims(struct zkr__engine *engine, int64_t now) ZKR__LOCKED
{
    int64_t next = ZKR__NEVER;
    for (struct zkr__claim *claim = hold(engine->claims); claim;
         claim = step_on(claim)) {
        if (claim->retry_at != 0 && claim->retry_at <= now) {
            claim->retry_at = 0;
            zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_UP});
        }
        if (claim->retry_at != 0 && claim->retry_at < next) {
            next = claim->retry_at;
        }
    }
    return next;
}

static int64_t on_tick(void *ctx, int64_t now) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    int64_t quiet = tick_quiet(engine, now);
    int64_t retry = tick_claims(engine, now);
    int64_t look = zkr__lookouts_tick(engine, now);
    int64_t next = quiet < retry ? quiet : retry;
    return next < look ? next : look;
}

/* --- life --- */

/* Every session is over, every request answered or dropped. */
static void on_free(void *ctx) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    while (engine->claims) {
        struct zkr__claim *claim = engine->claims;
        claim->in_flight = 0;
        claim->detached = true;
        claim->k.phase = ZKR__GONE;
        zkr__claim_settle(claim);
    }
    zkr__mem_free(engine);
}

struct zkr__engine *zkr__engine_of(zkr_client *c)
{
    static const struct zkr__upcalls upcalls = {
        .connected = on_up,
        .session_over = on_over,
        .auth_refused = on_refused,
        .lease_expired = on_lease_over,
        .node_event = on_node,
        .send_probe = on_probe,
        .run_timers = on_tick,
        .free = on_free,
    };
    if (!c->engine) {
        struct zkr__engine *engine = zkr__mem_alloc(sizeof(*engine));
        if (!engine) {
            return NULL;
        }
        engine->c = c;
        if (gethostname(engine->host, sizeof(engine->host) - 1) != 0) {
            engine->host[0] = '\0';
        }
        c->engine = engine;
        c->up = &upcalls;
    }
    return c->engine;
}
