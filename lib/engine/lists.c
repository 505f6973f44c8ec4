/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/lists.h"

#include "base/mem.h"
#include "engine/asked.h"
#include "engine/reckon.h"

/* --- who waits for a list --- */

void zkr__lists_want(struct zkr__claim *claim, zkr__answer_fn fn)
{
    struct zkr__directory *d = claim->directory;
    zkr__claim_drop_list(claim);
    d->engine->on_list = fn;
    claim->list_tag = zkr__asked_tag(ZKR__ASKED_LIST, claim->k.round);
    claim->list = ZKR__NEXT_LIST;
    DL_APPEND2(d->later, claim, list_prev, list_next);
}

bool zkr__lists_wanted(const struct zkr__claim *claim)
{
    return claim->list != ZKR__NO_LIST &&
           claim->list_tag == zkr__asked_tag(ZKR__ASKED_LIST, claim->k.round);
}

/* --- one list at a time --- */

/* A node of ours that is being deleted: requests behind its delete will not see it. */
static bool is_dying(void *ctx, const char *name) ZKR__LOCKED
{
    const struct zkr__claim *claim = zkr__claim_in(ctx, name);
    return claim && zkr__claim_stage(&claim->k) == ZKR__REMOVING;
}

int zkr__lists_children(struct zkr__directory *d, const struct zkr__children **out)
{
    struct zkr__given *given = &d->engine->given;
    if (given->code == ZKR_OK && given->departures != d->departures) {
        zkr__children_filter(&given->children, is_dying, d);
        given->departures = d->departures;
    }
    *out = &given->children;
    return given->code;
}

/* The highest number of those who ask: who comes behind them is nothing to them. */
static int64_t most_wanted(const struct zkr__directory *d)
{
    int64_t most = INT64_MIN;
    const struct zkr__claim *claim;
    DL_FOREACH2(d->askers, claim, list_next)
    {
        bool known = claim->by_node.path != NULL;
        int64_t number = known ? claim->sequence : ZKR__ANY_NUMBER;
        most = number > most ? number : most;
    }
    return most;
}

/* A long list is not remembered, and most of it is not even looked at. */
static void order(struct zkr__directory *d,
                  const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__given *given = &d->engine->given;
    bool is_long = answer->name_count > d->engine->remembered_max;
    *given = (struct zkr__given){.code = answer->code, .departures = d->departures};
    if (answer->code == ZKR_OK) {
        int64_t most = is_long ? most_wanted(d) : ZKR__ANY_NUMBER;
        given->code = zkr__children_order(&given->children, answer->names,
                                          answer->name_count, most, is_dying, d);
    }
    bool all = !is_long || most_wanted(d) == ZKR__ANY_NUMBER;
    d->seen = answer->code == ZKR_ENONODE    ? 0
              : given->code == ZKR_OK && all ? (int64_t)given->children.count
                                             : -1;
    d->seen_strays = (int)given->children.strays;
    if (given->code == ZKR_OK && !is_long) {
        zkr__reckon_listed(d, &given->children, answer->made);
    }
}

/* Those who ask meanwhile wait for the next one: what they have heard by now may be news. */
static void give(struct zkr__directory *d, const struct zkr__answer *answer) ZKR__LOCKED
{
    const struct zkr__engine *engine = d->engine;
    while (d->askers) {
        struct zkr__claim *claim = d->askers;
        zkr__claim_drop_list(claim);
        zkr__claim_ref(claim);
        engine->on_list(claim, claim->list_tag, answer);
    }
}

static void
on_list(void *ctx, unsigned era, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__directory *d = ctx;
    if (era == d->era) {
        order(d, answer);
        give(d, answer);
        zkr__children_free(&d->engine->given.children);
        d->listing = false;
        zkr__lists_send(d);
    }
    zkr__directory_answered(d);
}

void zkr__lists_send(struct zkr__directory *d)
{
    if (d->listing || !d->later) {
        return;
    }
    struct zkr__op op = {.kind = ZKR__OP_CHILDREN, .path = d->path};
    struct zkr__claim *claim;
    DL_FOREACH2(d->later, claim, list_next)
    {
        claim->list = ZKR__THIS_LIST;
        op.watch = op.watch || claim->k.watch_children;
        d->engine->spared.shared += claim != d->later;
    }
    d->askers = d->later;
    d->later = NULL;
    d->listing = true;
    d->requests++;
    zkr__submit(d->engine->c, &op, on_list, d, d->era);
}

/* --- the session --- */

void zkr__lists_connected(struct zkr__engine *engine)
{
    struct zkr__directory *d;
    DL_FOREACH(engine->directories, d)
    {
        zkr__reckon_end(d);
    }
}

/* An answer that is still to come may have been dropped, for want of memory. */
void zkr__lists_session_over(struct zkr__engine *engine)
{
    struct zkr__directory *d;
    DL_FOREACH(engine->directories, d)
    {
        while (d->askers) {
            zkr__claim_drop_list(d->askers);
        }
        while (d->later) {
            zkr__claim_drop_list(d->later);
        }
        d->listing = false;
        d->era++;
        d->used = false;
        d->seen = -1;
        zkr__reckon_end(d);
    }
}
