/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/session_events.h"

#include <unistd.h>

#include "base/mem.h"
#include "engine/claim_run.h"
#include "engine/directory.h"
#include "engine/lists.h"
#include "engine/probe.h"

/* --- the session --- */

/* Running a claim may free it, and others: a walk has a reference to the claim it stands on. */
static void run_all(struct zkr__engine *engine, struct zkr__claim_event e) ZKR__LOCKED
{
    struct zkr__claim *claim = engine->claims;
    if (claim) {
        zkr__claim_ref(claim);
    }
    while (claim) {
        zkr__claim_run(claim, e);
        struct zkr__claim *next = claim->next;
        if (next) {
            zkr__claim_ref(next);
        }
        zkr__claim_unref(claim);
        claim = next;
    }
}

static void tell_listeners(struct zkr__engine *engine,
                           enum zkr__session_change change) ZKR__LOCKED
{
    struct zkr__session_listener *listener;
    DL_FOREACH(engine->listeners, listener)
    {
        listener->on_change(listener, change);
    }
}

/*
 * What is held asks for its node ahead of all that others write now, the first probe among that: see on_connected() in
 * claim_step.c.
 */
static void hold_on(struct zkr__engine *engine) ZKR__LOCKED
{
    struct zkr__claim *claim, *next;
    DL_FOREACH_SAFE2(engine->held, claim, next, held_next)
    {
        if (claim->k.downgrade == ZKR__SETTLED) {
            zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_CONNECTED});
        }
    }
}

static void on_connected(void *ctx) ZKR__LOCKED
{
    zkr__lists_connected(ctx);
    hold_on(ctx);
    run_all(ctx, (struct zkr__claim_event){.kind = ZKR__EV_CONNECTED});
    tell_listeners(ctx, ZKR__CHANGE_CONNECTED);
}

static void on_session_over(void *ctx) ZKR__LOCKED
{
    zkr__lists_session_over(ctx);
    run_all(ctx, (struct zkr__claim_event){.kind = ZKR__EV_SESSION_OVER});
    zkr__claims_let_in(ctx);
    tell_listeners(ctx, ZKR__CHANGE_OVER);
}

static void on_auth_refused(void *ctx) ZKR__LOCKED
{
    run_all(ctx, (struct zkr__claim_event){.kind = ZKR__EV_GIVE_UP, .code = ZKR_EAUTH});
    tell_listeners(ctx, ZKR__CHANGE_REFUSED);
}

static bool is_hold(const struct zkr__claim *claim) ZKR__LOCKED
{
    enum zkr__phase stage = zkr__claim_stage(&claim->k);
    return stage == ZKR__HELD || stage == ZKR__DOUBTED;
}

/* Holds stay, those in doubt too. Their owners are notified all the same: somebody may wait for one. */
static void on_shutdown(void *ctx) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    run_all(ctx,
            (struct zkr__claim_event){.kind = ZKR__EV_GIVE_UP, .code = ZKR_ECLOSED});
    struct zkr__claim *claim;
    DL_FOREACH(engine->claims, claim)
    {
        if (is_hold(claim) && claim->on_change) {
            claim->on_change(claim, claim->on_change_ctx);
        }
    }
    tell_listeners(ctx, ZKR__CHANGE_SHUTDOWN);
}

static void on_lease_expired(void *ctx) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    while (engine->held) { /* none is held after it */
        zkr__claim_run(engine->held,
                       (struct zkr__claim_event){.kind = ZKR__EV_LEASE_EXPIRED});
    }
}

/* Our own node first: who waits behind it may be granted only if it is there. */
static void
on_node_event(void *ctx, const char *path, enum zkr__node_event event) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    struct zkr__claim *own = zkr__claim_at(engine, path);
    if (own) {
        bool gone = event == ZKR__NODE_DELETED;
        zkr__claim_run(own, (struct zkr__claim_event){
                                .kind = gone ? ZKR__EV_OWN_GONE : ZKR__EV_OWN_CHANGED});
    }
    zkr__path_event(&engine->watchers, path, event);
}

static int64_t run_timers(void *ctx, int64_t now) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    zkr__timers_fire(&engine->timers, now);
    return zkr__timers_next(&engine->timers);
}

/* --- life --- */

/* Every session is over, every request answered or dropped. */
static void free_engine(void *ctx) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    while (engine->claims) {
        engine->claims->refs = 1;
        zkr__claim_unref(engine->claims);
    }
    zkr__directories_free(engine);
    zkr__mem_free(engine);
}

struct zkr__engine *zkr__engine_of(zkr_client *c)
{
    static const struct zkr__upcalls upcalls = {
        .connected = on_connected,
        .session_over = on_session_over,
        .auth_refused = on_auth_refused,
        .lease_expired = on_lease_expired,
        .node_event = on_node_event,
        .send_probe = zkr__probe_send,
        .run_timers = run_timers,
        .shutdown = on_shutdown,
        .free = free_engine,
    };
    if (!c->engine) {
        struct zkr__engine *engine = zkr__mem_alloc(sizeof(*engine));
        if (!engine) {
            return NULL;
        }
        engine->c = c;
        engine->remembered_max = ZKR__REMEMBERED_MAX;
        engine->joining_max = ZKR__JOINING_MAX;
        if (gethostname(engine->host, sizeof(engine->host) - 1) != 0) {
            engine->host[0] = '\0';
        }
        c->engine = engine;
        c->up = &upcalls;
    }
    return c->engine;
}
