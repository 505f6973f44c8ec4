/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/probe.h"

#include <stdint.h>

#include "base/mem.h"
#include "engine/claim_data.h"
#include "engine/claim_run.h"
#include "session/bound.h"
#include "session/request.h"

/* --- the answer --- */

/* A server has found fault with one of the nodes, or with what was to be written there. */
static bool refused(const struct zkr__answer *answer)
{
    return answer->code == ZKR_ENONODE ||
           (answer->code != ZKR_OK && answer->failed_at != SIZE_MAX);
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
    }
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
        tell(claim, engine->noted[i], answer, is_refused && i == answer->bad_check);
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
    size_t count, note_bytes;
    const char *paths[ZKR__PROBE_MAX];
    struct zkr__edit edits[ZKR__PROBE_MAX];
    char *notes[ZKR__PROBE_MAX];
};

/* True: with its note. */
static bool take_note(struct probe *p, const struct zkr__claim *claim) ZKR__LOCKED
{
    size_t len = 0;
    char *note =
        zkr__claim_wants_note(&claim->k) ? zkr__claim_noted_data(claim, &len) : NULL;
    if (note && p->note_bytes > 0 && p->note_bytes + len > ZKR__NOTES_MAX) {
        zkr__mem_free(note); /* with the next one */
        note = NULL;
    }
    if (note) {
        p->note_bytes += len;
        p->edits[p->count] = (struct zkr__edit){
            .data = note, .data_len = len, .version = claim->k.version};
    }
    p->notes[p->count] = note;
    return note != NULL;
}

static void gather(struct zkr__engine *engine, struct probe *p) ZKR__LOCKED
{
    struct zkr__claim *claim;
    DL_FOREACH2(engine->held, claim, held_next)
    {
        if (p->count == ZKR__PROBE_MAX) {
            return;
        }
        /* In a downgrade, at which path the node is shows in the answer to that. */
        bool settled = claim->k.downgrade == ZKR__SETTLED;
        engine->probed[p->count] = claim;
        engine->noted[p->count] = take_note(p, claim);
        p->paths[p->count++] = settled ? claim->node : claim->q->dir;
    }
}

/* What is probed now comes last the next time. */
static void keep(struct zkr__engine *engine, size_t count) ZKR__LOCKED
{
    engine->probed_count = count;
    for (size_t i = 0; i < count; i++) {
        struct zkr__claim *claim = engine->probed[i];
        zkr__claim_ref(claim);
        DL_DELETE2(engine->held, claim, held_prev, held_next);
        DL_APPEND2(engine->held, claim, held_prev, held_next);
    }
}

void zkr__probe_send(void *ctx)
{
    struct zkr__engine *engine = ctx;
    struct probe p = {.count = 0};
    gather(engine, &p);
    if (p.count == 0) {
        zkr__probe_done(engine->c, false);
        return;
    }
    keep(engine, p.count);
    struct zkr__op op = {.kind = ZKR__OP_CHECK,
                         .paths = p.paths,
                         .path_count = p.count,
                         .edits = p.note_bytes > 0 ? p.edits : NULL};
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
