/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/ghosts.h"

#include <string.h>

#include "base/mem.h"
#include "queue/claim.h"
#include "queue/engine_state.h"
#include "session/log.h"
#include "session/must.h"

struct zkr__ghost {
    struct zkr__ghost *next;
    unsigned epoch; /* epoch of the node's session */
    int64_t at;     /* when to delete the node; both times are by zkr__now() */
    /* When to forget the node, because the timeout of its session is over. */
    int64_t gone_at;
    bool certain; /* the node certainly existed at the end of the session */
    bool let_go;  /* no owner relies on the node, which counts as a pending delete */
    char path[];
};

/* --- the nodes of a session --- */

static bool has_node(const struct zkr__claim_state *k)
{
    enum zkr__phase stage = zkr__claim_stage(k);
    return stage == ZKR__HELD || stage == ZKR__REMOVING ||
           zkr__claim_waits_with_node(k);
}

/*
 * Returns the ghost of the claim's node. If memory runs out, returns NULL, and the node stays until the servers end the
 * session.
 */
static struct zkr__ghost *make(const struct zkr__claim *claim) ZKR__LOCKED
{
    const struct zkr__claim_state *k = &claim->k;
    const zkr_client *c = claim->engine->c;
    const enum zkr__phase stage = zkr__claim_stage(k);
    const size_t size = strlen(claim->node) + 1;
    struct zkr__ghost *ghost = zkr__mem_alloc(sizeof(*ghost) + size);
    if (!ghost) {
        return NULL;
    }
    ghost->epoch = c->epoch;
    ghost->gone_at = c->ended.gone_at;
    ghost->let_go = k->kept || (stage != ZKR__HELD && stage != ZKR__DOUBTED);
    ghost->at = ghost->let_go ? 0 : c->ended.promised_until;
    ghost->certain = stage != ZKR__REMOVING && k->departure == ZKR__STAYS &&
                     k->downgrade == ZKR__SETTLED;
    memcpy(ghost->path, claim->node, size);
    return ghost;
}

struct zkr__ghost *zkr__ghosts_of_session(const struct zkr__engine *engine)
{
    struct zkr__ghost *ghosts = NULL;
    const struct zkr__claim *claim;
    if (!engine->c->ended.by_servers) {
        return NULL;
    }
    DL_FOREACH(engine->claims, claim)
    {
        struct zkr__ghost *ghost = has_node(&claim->k) ? make(claim) : NULL;
        if (ghost) {
            LL_PREPEND(ghosts, ghost);
        }
    }
    return ghosts;
}

/* --- the end of ghosts --- */

static void drop(struct zkr__engine *engine, struct zkr__ghost *ghost) ZKR__LOCKED
{
    zkr_client *c = engine->c;
    ZKR__MUST(c, engine->ghosts && c->stats.pending_deletes >= ghost->let_go);
    LL_DELETE(engine->ghosts, ghost);
    c->stats.pending_deletes -= ghost->let_go;
    if (ghost->let_go && c->stats.pending_deletes == 0) {
        zkr__deletes_done(c);
    }
    zkr__mem_free(ghost);
}

/* Forget the nodes of this session and of all earlier sessions, because the servers have ended it. */
static void drop_session(struct zkr__engine *engine, unsigned epoch) ZKR__LOCKED
{
    struct zkr__ghost *ghost, *next;
    LL_FOREACH_SAFE(engine->ghosts, ghost, next)
    {
        if (ghost->epoch <= epoch) {
            drop(engine, ghost);
        }
    }
}

/* Record that the session is alive, so that a missing node of that session no longer proves its end. */
static void doubt(struct zkr__engine *engine, unsigned epoch) ZKR__LOCKED
{
    struct zkr__ghost *ghost;
    LL_FOREACH(engine->ghosts, ghost)
    {
        ghost->certain = ghost->certain && ghost->epoch != epoch;
    }
}

static void say_alive(struct zkr__engine *engine,
                      const struct zkr__ghost *ghost) ZKR__LOCKED
{
    if (!engine->ghosts_seen) {
        engine->ghosts_seen = true;
        zkr__log(engine->c, ZKR_LOG_WARN,
                 ZKR__EVENT("session_replaced", .node = ghost->path,
                            .reason = "the servers give each connection a new session, "
                                      "so each reconnection loses the holds"));
    }
}

static void
on_deleted(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED;

/*
 * Returns the next ghost to delete. A ghost whose node certainly existed is first, because only the absence of such a
 * node proves the end of the session.
 */
static struct zkr__ghost *due(const struct zkr__engine *engine, int64_t now) ZKR__LOCKED
{
    struct zkr__ghost *ghost, *found = NULL;
    LL_FOREACH(engine->ghosts, ghost)
    {
        if (ghost->at <= now && (!found || ghost->certain)) {
            found = ghost;
        }
    }
    return found;
}

static void arm(struct zkr__engine *engine, int64_t now) ZKR__LOCKED
{
    int64_t next = ZKR__NEVER;
    const struct zkr__ghost *ghost;
    LL_FOREACH(engine->ghosts, ghost)
    {
        next = zkr__sooner(next, ghost->at > now ? ghost->at : ghost->gone_at);
    }
    if (next == ZKR__NEVER) {
        zkr__timer_stop(&engine->timers, &engine->ghost_timer);
    } else {
        zkr__engine_timer(engine, &engine->ghost_timer, next);
    }
}

/* Send the next delete, unless one is in flight. */
static void run(struct zkr__engine *engine) ZKR__LOCKED
{
    zkr_client *c = engine->c;
    const int64_t now = zkr__now(c);
    struct zkr__ghost *ghost, *next;
    if (engine->ghost_asked) {
        return;
    }
    LL_FOREACH_SAFE(engine->ghosts, ghost, next)
    {
        if (ghost->gone_at <= now) {
            drop(engine, ghost);
        }
    }
    ghost = zkr__connected(c) ? due(engine, now) : NULL;
    if (ghost) {
        const struct zkr__op op = {.kind = ZKR__OP_DELETE, .path = ghost->path};
        engine->ghost_asked = ghost;
        zkr__submit(c, &op, on_deleted, engine, 0);
    } else {
        arm(engine, now);
    }
}

static void on_deleted(void *ctx, unsigned tag, const struct zkr__answer *answer)
{
    struct zkr__engine *engine = ctx;
    zkr_client *c = engine->c;
    struct zkr__ghost *ghost = engine->ghost_asked;
    (void)tag;
    engine->ghost_asked = NULL;
    if (answer->code == ZKR_OK) {
        say_alive(engine, ghost);
        doubt(engine, ghost->epoch);
        drop(engine, ghost);
    } else if (answer->code == ZKR_ENONODE && ghost->certain) {
        drop_session(engine, ghost->epoch);
    } else if (!zkr__worth_retrying(answer->code)) {
        drop(engine, ghost);
    } else {
        int64_t pause = zkr__retry_pause(&c->retry, 0, zkr__retry_random(&c->random));
        ghost->certain = false; /* the servers may have carried out the delete */
        ghost->at = zkr__now(c) + (zkr__connected(c) ? pause : 0);
    }
    run(engine);
}

static void on_timer(struct zkr__timer *timer, int64_t now) ZKR__LOCKED
{
    (void)now;
    run(ZKR__OWNER_OF(timer, struct zkr__engine, ghost_timer));
}

/* --- functions for other files --- */

void zkr__ghosts_add(struct zkr__engine *engine, struct zkr__ghost *ghosts)
{
    struct zkr__ghost *ghost;
    LL_FOREACH(ghosts, ghost)
    {
        engine->c->stats.pending_deletes += ghost->let_go;
    }
    LL_CONCAT(engine->ghosts, ghosts);
    engine->ghost_timer.fire = on_timer;
    run(engine);
}

void zkr__ghosts_connected(struct zkr__engine *engine)
{
    run(engine);
}

void zkr__ghost_let_go(struct zkr__engine *engine, const char *path)
{
    struct zkr__ghost *ghost = engine->ghosts;
    while (ghost && strcmp(ghost->path, path) != 0) {
        ghost = ghost->next;
    }
    if (ghost && !ghost->let_go) {
        ghost->let_go = true;
        ghost->at = 0;
        engine->c->stats.pending_deletes++;
        run(engine);
    }
}

void zkr__ghosts_free(struct zkr__engine *engine)
{
    while (engine->ghosts) {
        drop(engine, engine->ghosts);
    }
}
