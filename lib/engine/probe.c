/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/probe.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "engine/claim_data.h"
#include "engine/claim_run.h"
#include "session/bound.h"
#include "session/log.h"
#include "session/request.h"

/* --- the answer --- */

/* A server has found fault with one of the nodes, or with what was to be written there. */
static bool refused(const struct zkr__answer *answer)
{
    return answer->code == ZKR_ENONODE ||
           (answer->code != ZKR_OK && answer->failed_at != SIZE_MAX);
}

/* For the sake of this node, which is there. Others must not suffer for it, and the next probe goes out at once. */
static void leave_out(struct zkr__claim *claim,
                      const struct zkr__answer *answer) ZKR__LOCKED
{
    zkr_client *c = claim->q->c;
    enum { PART = 4 };
    claim->engine->checks_at = zkr__now(c) + c->session_ms * ZKR__MS / PART;
    if (claim->k.refusals == 0) {
        zkr__log_more(c, ZKR_LOG_WARN,
                      ZKR__EVENT("node_unreadable", .path = claim->q->dir,
                                 .node = zkr__path_name(claim->node),
                                 .reason =
                                     "it is held all the same; that it is deleted "
                                     "by hand may be noticed late"),
                      "zookeeper_code=%d", answer->zk_rc);
    }
    zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_OWN_UNCHECKED});
}

static void tell(struct zkr__claim *claim,
                 bool noted,
                 const struct zkr__answer *answer,
                 bool fault) ZKR__LOCKED
{
    if (fault && answer->code == ZKR_ENONODE) {
        zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_OWN_GONE});
    } else if (noted) {
        zkr__claim_run(claim, (struct zkr__claim_event){.kind = ZKR__EV_NOTED,
                                                        .code = answer->code,
                                                        .refused = fault});
    } else if (fault) {
        leave_out(claim, answer);
    }
}

/* What refuses one note may refuse all: so many probes in a row would prove nothing. */
static void pause_notes(struct zkr__engine *engine) ZKR__LOCKED
{
    engine->notes_at = zkr__now(engine->c) + engine->c->session_ms * ZKR__MS;
}

static void
on_probed(void *ctx, unsigned tag, const struct zkr__answer *answer) ZKR__LOCKED
{
    (void)tag;
    struct zkr__engine *engine = ctx;
    size_t count = engine->probed_count;
    bool is_refused = refused(answer);
    engine->probed_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct zkr__claim *claim = engine->probed[i];
        bool fault = is_refused && i == answer->bad_check;
        if (fault && engine->noted[i]) {
            pause_notes(engine);
        }
        tell(claim, engine->noted[i], answer, fault);
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
    char *notes[ZKR__PROBE_MAX];
};

/* Its note, if it is to go with this one. */
static char *
take_note(const struct zkr__claim *claim, size_t room, size_t *len) ZKR__LOCKED
{
    const struct zkr__engine *engine = claim->engine;
    char *note = NULL;
    if (zkr__claim_wants_note(&claim->k) && zkr__now(engine->c) >= engine->notes_at) {
        note = zkr__claim_noted_data(claim, len);
    }
    if (note && *len > room) {
        zkr__mem_free(note); /* with another one */
        note = NULL;
    }
    return note;
}

static bool is_checked(const struct zkr__claim *claim) ZKR__LOCKED
{
    /* In a downgrade, at which path the node is shows in the answer to that. */
    return !claim->k.unchecked && claim->k.downgrade == ZKR__SETTLED;
}

/* False: it does not fit in. */
static bool
add(struct zkr__engine *engine, struct probe *p, struct zkr__claim *claim) ZKR__LOCKED
{
    size_t len = 0, room = ZKR__PROBE_BYTES - p->bytes, path_len = strlen(claim->node);
    if (p->count == ZKR__PROBE_MAX || (p->count > 0 && path_len > room)) {
        return false;
    }
    char *note = path_len < room ? take_note(claim, room - path_len, &len) : NULL;
    if (note) {
        p->edits[p->count] = (struct zkr__edit){
            .data = note, .data_len = len, .version = claim->k.version};
    }
    p->edited = p->edited || note;
    p->bytes += path_len + len < room ? path_len + len : room;
    p->notes[p->count] = note;
    engine->probed[p->count] = claim;
    engine->noted[p->count] = note != NULL;
    p->paths[p->count++] = claim->node;
    return true;
}

/* What is probed now comes last the next time. */
static void gather(struct zkr__engine *engine, struct probe *p) ZKR__LOCKED
{
    struct zkr__claim *claim;
    DL_FOREACH2(engine->held, claim, held_next)
    {
        if (is_checked(claim) && !add(engine, p, claim)) {
            break;
        }
    }
    engine->probed_count = p->count;
    for (size_t i = 0; i < p->count; i++) {
        claim = engine->probed[i];
        zkr__claim_ref(claim);
        DL_DELETE2(engine->held, claim, held_prev, held_next);
        DL_APPEND2(engine->held, claim, held_prev, held_next);
    }
}

/* Without anything to check it proves as much of the session, and only of that. */
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
        zkr__mem_free(p.notes[i]);
        if (engine->noted[i]) {
            zkr__claim_run(engine->probed[i],
                           (struct zkr__claim_event){.kind = ZKR__EV_NOTING});
        }
    }
}
