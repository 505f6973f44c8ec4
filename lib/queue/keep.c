/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/keep.h"

#include "base/table.h"
#include "queue/engine_state.h"
#include "session/must.h"

static bool is_contended(const struct zkr__keep *keep) ZKR__LOCKED
{
    return zkr__now(keep->directory->engine->c) < keep->contended_until;
}

/* --- the line of a directory --- */

bool zkr__keep_shares(const struct zkr__claim *claim)
{
    const struct zkr__keep *keep = claim->directory->keep;
    if (claim->q->keep_ms == 0 || claim->stands) {
        return false;
    }
    bool next = keep->standing == 0 && (!keep->line || keep->line == claim);
    return !next && !is_contended(keep);
}

bool zkr__keep_would_share(const struct zkr__queue *q)
{
    const struct zkr__keep *keep = q->directory ? q->directory->keep : NULL;
    return q->keep_ms > 0 && keep && (keep->standing > 0 || keep->line) &&
           !is_contended(keep);
}

void zkr__keep_line_up(struct zkr__claim *claim)
{
    ZKR__MUST(claim->engine->c, !claim->in_line && !claim->awaits_admission);
    ZKR__MUST(claim->engine->c, !claim->stands && !claim->admitted);
    DL_APPEND2(claim->directory->keep->line, claim, row_prev, row_next);
    claim->in_line = true;
}

void zkr__keep_leave_line(struct zkr__claim *claim)
{
    ZKR__MUST(claim->engine->c, claim->in_line && claim->directory->keep->line);
    DL_DELETE2(claim->directory->keep->line, claim, row_prev, row_next);
    claim->in_line = false;
}

struct zkr__claim *zkr__keep_first_in_line(const struct zkr__directory *d)
{
    struct zkr__claim *first = d->keep->line;
    while (first && first->canceled) {
        first = first->row_next;
    }
    return first;
}

/* A claim in line waits behind all claims that have nodes in the directory. */
int64_t zkr__keep_place(const struct zkr__claim *claim)
{
    const struct zkr__directory *d = claim->directory;
    int64_t place = d->keep->standing, most = 0;
    for (const struct zkr__claim *one = d->keep->line; one != claim;
         one = one->row_next) {
        place += !one->canceled;
    }
    for (const struct zkr__claim *one = d->ours; one; one = one->ours_next) {
        int64_t its = one->stands ? zkr__claim_place(one) : 0;
        most = its > most ? its : most;
    }
    return place + most;
}

/* --- news --- */

void zkr__keep_contended(struct zkr__directory *d)
{
    enum { LATELY_MS = 1000 };
    if (d->keep) {
        d->keep->contended_until = zkr__now(d->engine->c) + LATELY_MS * ZKR__MS;
    }
}

void zkr__keep_listed(struct zkr__directory *d, const struct zkr__children *children)
{
    bool keeps = d->keep && d->keep->standing > 0;
    for (size_t i = 0; keeps && i < children->count; i++) {
        if (!zkr__claim_in(d, children->list[i].name)) {
            zkr__keep_contended(d);
        }
    }
}

/* If the claim waits behind a node of another client, record that. */
static void note_contention(const struct zkr__claim *claim) ZKR__LOCKED
{
    if (claim->q->keep_ms > 0 && claim->k.phase == ZKR__PARKED &&
        zkr__path_watches(&claim->ahead_watcher)) {
        zkr__keep_contended(claim->directory);
    }
}

void zkr__keep_event(struct zkr__claim *claim, const struct zkr__claim_event *e)
{
    note_contention(claim);
    if (e->kind == ZKR__EV_WRITTEN && e->code != ZKR_OK && claim->stands) {
        /*
         * The write may still arrive. It would arrive before the node is deleted, but possibly during the next hold of
         * the kept node.
         */
        zkr__keep_end(claim);
    }
}

void zkr__keep_sent(struct zkr__claim *claim)
{
    note_contention(claim);
}

void zkr__keep_settle(struct zkr__claim *claim)
{
    const struct zkr__claim_state *k = &claim->k;
    enum zkr__phase stage = zkr__claim_stage(k);
    bool out = k->leaving || stage == ZKR__REMOVING || stage == ZKR__GONE ||
               (zkr__claim_has_none(k) && !claim->awaits_admission);
    struct zkr__keep *keep = claim->directory->keep;
    if (claim->q->keep_ms == 0) {
        return;
    }
    keep->standing += !out - claim->stands;
    claim->stands = !out;
    if (keep->standing == 0) {
        keep->until = 0;
        keep->over = false;
    }
}

/* --- the end --- */

int64_t zkr__keep_until(const struct zkr__claim *claim)
{
    const struct zkr__keep *keep = claim->directory->keep;
    bool may = claim->stands && claim->k.phase == ZKR__HELD && !keep->over;
    return may ? keep->until : 0;
}

/* While a node is kept, no other claim has a node in the directory. */
struct zkr__claim *zkr__keep_find(const struct zkr__directory *d)
{
    struct zkr__claim *claim = d->ours;
    while (claim && zkr__keep_until(claim) == 0) {
        claim = claim->ours_next;
    }
    return claim;
}

void zkr__keep_begin(struct zkr__claim *claim, int64_t until)
{
    ZKR__MUST(claim->engine->c, claim->stands && claim->k.phase == ZKR__HELD);
    claim->directory->keep->until = until;
}

void zkr__keep_end(struct zkr__claim *claim)
{
    ZKR__MUST(claim->engine->c, claim->directory->keep->standing > 0 || claim->k.kept);
    claim->directory->keep->over = true;
}

struct zkr__claim *zkr__keep_over(struct zkr__claim *claim)
{
    struct zkr__claim *kept = claim->in_line ? zkr__keep_find(claim->directory) : claim;
    bool over = kept && kept->k.kept &&
                (kept != claim || kept->k.phase != ZKR__HELD || kept->k.told != 0);
    return over ? kept : NULL;
}

struct zkr__claim *zkr__keep_next(struct zkr__directory *d)
{
    struct zkr__keep *keep = d->keep;
    if (!keep || keep->moving_up || !keep->line || zkr__keep_shares(keep->line)) {
        return NULL;
    }
    keep->moving_up = true;
    return keep->line;
}

/* Without a connection the claim pauses, so it must leave the line. */
void zkr__keep_went(struct zkr__claim *claim)
{
    ZKR__MUST(claim->engine->c, claim->directory->keep->moving_up);
    claim->directory->keep->moving_up = false;
    if (claim->in_line) {
        zkr__keep_leave_line(claim);
    }
}
