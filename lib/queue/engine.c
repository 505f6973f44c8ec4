/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/engine.h"

#include <unistd.h>

#include "base/mem.h"
#include "queue/claim.h"
#include "queue/claim_run.h"
#include "queue/directory.h"
#include "queue/ghosts.h"
#include "queue/probe.h"
#include "queue/session_events.h"

static int64_t run_timers(void *ctx, int64_t now) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    zkr__timers_fire(&engine->timers, now);
    return zkr__timers_next(&engine->timers);
}

/* Called when all sessions have ended, and all requests are answered or dropped. */
static void free_engine(void *ctx) ZKR__LOCKED
{
    struct zkr__engine *engine = ctx;
    while (engine->claims) {
        engine->claims->refs = 1;
        zkr__claim_unref(engine->claims);
    }
    zkr__ghosts_free(engine);
    zkr__directories_free(engine);
    zkr__mem_free(engine);
}

/* Returns whether work remains: directories to delete once they are empty, or nodes of earlier sessions. */
static bool has_sequel(const void *engine)
{
    const struct zkr__engine *e = engine;
    return e->recounts || e->ghosts;
}

static struct zkr__engine *make_engine(zkr_client *c) ZKR__LOCKED
{
    struct zkr__engine *engine = zkr__mem_alloc(sizeof(*engine));
    if (!engine) {
        return NULL;
    }
    engine->c = c;
    engine->on_answer = zkr__claim_on_answer;
    engine->on_before = zkr__claim_on_before;
    engine->remembered_max = ZKR__REMEMBERED_MAX;
    engine->joining_max = ZKR__JOINING_MAX;
    engine->node_bytes_max = ZKR__NODES_BYTES;
    if (gethostname(engine->host, sizeof(engine->host) - 1) != 0) {
        engine->host[0] = '\0';
    }
    c->engine = engine;
    zkr__session_events(&engine->up);
    engine->up.send_probe = zkr__probe_send;
    engine->up.run_timers = run_timers;
    engine->up.has_sequel = has_sequel;
    engine->up.free = free_engine;
    c->up = &engine->up;
    return engine;
}

struct zkr__engine *zkr__engine_of(zkr_client *c)
{
    return c->engine ? c->engine : make_engine(c);
}
