/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/session_events.h"

#include "queue/children_cache.h"
#include "queue/claim.h"
#include "queue/claim_run.h"
#include "queue/engine_state.h"
#include "queue/ghosts.h"
#include "queue/news.h"
#include "queue/warning.h"
#include "session/must.h"

/* --- the session --- */

/*
 * Call @act for all claims. @act may free its claim and other claims, so the loop holds a reference to the current
 * claim.
 */
static void for_all(struct zkr__engine *engine,
                    void (*act)(struct zkr__claim *claim, struct zkr__claim_event e),
                    struct zkr__claim_event e) ZKR__LOCKED
{
    struct zkr__claim *claim = engine->claims;
    if (claim) {
        zkr__claim_ref(claim);
    }
    while (claim) {
        act(claim, e);
        struct zkr__claim *next = claim->next;
        if (next) {
            zkr__claim_ref(next);
        }
        zkr__claim_unref(claim);
        claim = next;
    }
}

static void run_all(struct zkr__engine *engine, struct zkr__claim_event e) ZKR__LOCKED
{
    for_all(engine, zkr__claim_run, e);
}

/* Get the nodes of all holds before any write, including the first lease probe. See on_connected() in claim_step.c. */
static void hold_on(struct zkr__engine *engine) ZKR__LOCKED
{
    struct zkr__claim *claim, *next;
    DL_FOREACH_SAFE2(engine->held, claim, next, row_next)
    {
        if (claim->k.downgrade == ZKR__SETTLED) {
            zkr__claim_tell(claim, ZKR__EV_CONNECTED);
        }
    }
}

static void on_connected(void *ctx) ZKR__LOCKED
{
    zkr__caches_connected(ctx);
    hold_on(ctx);
    zkr__ghosts_connected(ctx);
    run_all(ctx, (struct zkr__claim_event){.kind = ZKR__EV_CONNECTED});
}

static void on_session_over(void *ctx) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    struct zkr__ghost *ghosts = zkr__ghosts_of_session(ctx);
    zkr__caches_session_over(ctx);
    run_all(ctx, (struct zkr__claim_event){.kind = ZKR__EV_SESSION_OVER});
    zkr__claims_let_in(ctx);
    ZKR__MUST(engine->c, !engine->held && !engine->line);
    ZKR__MUST(engine->c, engine->joining == 0);
    ZKR__MUST(engine->c, engine->c->stats.held == 0 && engine->c->prepared == 0);
    zkr__ghosts_add(ctx, ghosts);
}

static void on_auth_refused(void *ctx) ZKR__LOCKED
{
    run_all(ctx, (struct zkr__claim_event){.kind = ZKR__EV_GIVE_UP, .code = ZKR_EAUTH});
}

static bool is_hold(const struct zkr__claim *claim) ZKR__LOCKED
{
    enum zkr__phase stage = zkr__claim_stage(&claim->k);
    return stage == ZKR__HELD || stage == ZKR__DOUBTED;
}

static void notify_hold(struct zkr__claim *claim,
                        struct zkr__claim_event unused) ZKR__LOCKED
{
    (void)unused;
    if (is_hold(claim) && claim->on_change) {
        claim->on_change(claim, claim->on_change_ctx);
    }
}

/* Holds stay, even holds in doubt. Their owners are notified, because a thread may wait for a hold in doubt. */
static void on_shutdown(void *ctx) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    zkr__claims_end_keeping(engine, NULL);
    run_all(ctx,
            (struct zkr__claim_event){.kind = ZKR__EV_GIVE_UP, .code = ZKR_ECLOSED});
    for_all(engine, notify_hold, (struct zkr__claim_event){.kind = ZKR__EV_KINDS});
}

static void on_flush(void *ctx) ZKR__LOCKED
{
    zkr__claims_end_keeping(ctx, NULL);
}

static void on_lease_expired(void *ctx) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    while (engine->held) { /* the event removes each claim from `held` */
        zkr__claim_tell(engine->held, ZKR__EV_LEASE_EXPIRED);
    }
}

static void warn(struct zkr__claim *claim, struct zkr__claim_event unused) ZKR__LOCKED
{
    (void)unused;
    if (zkr__warning_look(claim) && claim->on_change) {
        claim->on_change(claim, claim->on_change_ctx);
    }
}

static int64_t on_lease_runs(void *ctx) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    if (zkr__warning_looks(engine)) {
        for_all(engine, warn, (struct zkr__claim_event){.kind = ZKR__EV_KINDS});
    }
    return engine->warn_at != 0 ? engine->warn_at : ZKR__NEVER;
}

/* The claim that owns the node is notified first, so that its hold ends before the claim behind it is granted. */
static void
on_node_event(void *ctx, const char *path, enum zkr__node_event event) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    struct zkr__claim *own = zkr__claim_at(engine, path);
    if (own) {
        zkr__claim_tell(own, event == ZKR__NODE_DELETED ? ZKR__EV_OWN_GONE
                                                        : ZKR__EV_OWN_CHANGED);
    }
    zkr__path_event(&engine->watchers, path, event);
}

static void on_news(void *ctx, const struct zkr__news *news) ZKR__LOCKED
{
    struct zkr__claim *claim = zkr__news_believe(ctx, news);
    if (claim) {
        zkr__claim_tell(claim, ZKR__EV_AHEAD_TOLD);
    }
}

void zkr__session_events(struct zkr__upcalls *up)
{
    up->connected = on_connected;
    up->session_over = on_session_over;
    up->auth_refused = on_auth_refused;
    up->lease_expired = on_lease_expired;
    up->lease_runs = on_lease_runs;
    up->node_event = on_node_event;
    up->news_came = on_news;
    up->flush = on_flush;
    up->shutdown = on_shutdown;
}
