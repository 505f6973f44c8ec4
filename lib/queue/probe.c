/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease probe: one write that checks the nodes of holds. For holds that last, it also writes the holder metadata
 * (node_data.h).
 */
#include "queue/probe.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "queue/claim.h"
#include "queue/claim_run.h"
#include "queue/engine_state.h"
#include "session/bound.h"
#include "session/log.h"
#include "session/must.h"
#include "session/request.h"

/* --- the answer --- */

/* Returns true if the server refuses the check of a node, or the metadata for it. */
static bool refused(const struct zkr__answer *answer)
{
    return answer->code == ZKR_ENONODE ||
           (answer->code != ZKR_OK && answer->failed_at != SIZE_MAX);
}

/*
 * The server refuses to check the node of @claim although the node exists. Later probes leave this node out, so that
 * other claims do not suffer. For a while probes check no nodes at all, so that the next probe succeeds.
 */
static void leave_out(struct zkr__claim *claim,
                      const struct zkr__answer *answer) ZKR__LOCKED
{
    zkr_client *c = claim->q->c;
    enum { PART = 4 };
    claim->engine->checks_at = zkr__now(c) + c->session_ms * ZKR__MS / PART;
    if (claim->k.refusals == 0) {
        zkr__log_more(
            c, ZKR_LOG_WARN,
            ZKR__EVENT(
                "node_unreadable", .path = claim->q->dir,
                .node = zkr__path_name(claim->node),
                .reason =
                    "the node is still held, but its deletion may be noticed late"),
            "zookeeper_code=%d", answer->zk_rc);
    }
    zkr__claim_tell(claim, ZKR__EV_OWN_UNCHECKED);
}

static void tell(struct zkr__claim *claim,
                 bool with_metadata,
                 const struct zkr__answer *answer,
                 bool fault) ZKR__LOCKED
{
    if (fault && answer->code == ZKR_ENONODE) {
        zkr__claim_tell(claim, ZKR__EV_OWN_GONE);
    } else if (with_metadata) {
        zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_NOTED,
                                                        .code = answer->code,
                                                        .refused = fault});
    } else if (fault) {
        leave_out(claim, answer);
    }
}

/*
 * Send no metadata for a while. A server that refuses metadata may refuse them for each node, so that one probe after
 * another would prove nothing.
 */
static void pause_metadata(struct zkr__engine *engine) ZKR__LOCKED
{
    engine->metadata_from = zkr__now(engine->c) + engine->c->session_ms * ZKR__MS;
}

static void
on_probed(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    (void)tag;
    struct zkr__engine *engine = ctx;
    size_t count = engine->probed_count;
    ZKR__MUST(engine->c, count <= ZKR__PROBE_MAX);
    bool is_refused = refused(answer);
    engine->probed_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct zkr__claim *claim = engine->probed[i];
        bool fault = is_refused && i == answer->failed_at;
        if (fault && engine->with_metadata[i]) {
            pause_metadata(engine);
        }
        tell(claim, engine->with_metadata[i], answer, fault);
        zkr__claim_unref(claim);
    }
    if (answer->code == ZKR_OK || is_refused) {
        zkr__histogram_add(&engine->c->probe_trips,
                           zkr__now(engine->c) - engine->probe_sent);
    }
    zkr__probe_done(engine->c, answer->code == ZKR_OK || is_refused);
}

/* --- sending --- */

struct probe {
    size_t count, bytes;
    bool edited;
    const char *paths[ZKR__PROBE_MAX];
    struct zkr__edit edits[ZKR__PROBE_MAX];
    char *metadata[ZKR__PROBE_MAX];
};

/* Returns the metadata of @claim if this probe must write them, else NULL. */
static char *
take_metadata(const struct zkr__claim *claim, size_t room, size_t *len) ZKR__LOCKED
{
    const struct zkr__engine *engine = claim->engine;
    char *metadata = NULL;
    if (zkr__claim_wants_metadata(&claim->k) && claim->bearing == ZKR__BEARS &&
        zkr__now(engine->c) >= engine->metadata_from) {
        metadata = zkr__claim_metadata(claim, len);
    }
    if (metadata && *len > room) {
        zkr__mem_free(metadata); /* a later probe will have room */
        metadata = NULL;
    }
    return metadata;
}

static bool is_checked(const struct zkr__claim *claim) ZKR__LOCKED
{
    /* During a downgrade, only the answer to the downgrade shows the path of the node. */
    return !claim->k.unchecked && claim->k.downgrade == ZKR__SETTLED;
}

/* Add a check of the claim's node. Returns false if the probe is full. */
static bool
add(struct zkr__engine *engine, struct probe *p, struct zkr__claim *claim) ZKR__LOCKED
{
    size_t len = 0, room = ZKR__PROBE_BYTES - p->bytes, path_len = strlen(claim->node);
    if (p->count == ZKR__PROBE_MAX || (p->count > 0 && path_len > room)) {
        return false;
    }
    char *metadata =
        path_len < room ? take_metadata(claim, room - path_len, &len) : NULL;
    if (metadata) {
        p->edits[p->count] = (struct zkr__edit){
            .data = metadata, .data_len = len, .version = claim->k.version};
    }
    p->edited = p->edited || metadata;
    p->bytes += path_len + len < room ? path_len + len : room;
    p->metadata[p->count] = metadata;
    engine->probed[p->count] = claim;
    engine->with_metadata[p->count] = metadata != NULL;
    p->paths[p->count++] = claim->node;
    return true;
}

/* Fill the probe. Its claims move to the end of the list, so that the next probe checks other claims first. */
static void gather(struct zkr__engine *engine, struct probe *p) ZKR__LOCKED
{
    struct zkr__claim *claim;
    DL_FOREACH2(engine->held, claim, row_next)
    {
        if (is_checked(claim) && !add(engine, p, claim)) {
            break;
        }
    }
    engine->probed_count = p->count;
    for (size_t i = 0; i < p->count; i++) {
        claim = engine->probed[i];
        ZKR__MUST(engine->c, claim->k.phase == ZKR__HELD);
        zkr__claim_ref(claim);
        DL_DELETE2(engine->held, claim, row_prev, row_next);
        DL_APPEND2(engine->held, claim, row_prev, row_next);
    }
}

/* A probe without checks proves as much about the session as one with checks. */
void zkr__probe_send(void *ctx)
{
    struct zkr__engine *engine = ctx;
    struct probe p = {.count = 0};
    if (zkr__now(engine->c) >= engine->checks_at) {
        gather(engine, &p);
    }
    struct zkr__op op = {.kind = ZKR__OP_CHECK,
                         .paths = p.paths,
                         .path_count = p.count,
                         .edits = p.edited ? p.edits : NULL};
    engine->probe_sent = zkr__now(engine->c);
    zkr__submit(engine->c, &op, on_probed, engine, 0);
    for (size_t i = 0; i < p.count; i++) {
        zkr__mem_free(p.metadata[i]);
        if (engine->with_metadata[i]) {
            zkr__claim_tell(engine->probed[i], ZKR__EV_METADATA_SENT);
        }
    }
}
