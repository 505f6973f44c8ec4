/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/lists.h"

#include "base/mem.h"
#include "base/path.h"

/* --- what needs no list --- */

/* --- the guard --- */

static bool is_guarded(const struct zkr__directory *d)
{
    return d->guard && d->guard->state == ZKR__GUARDED;
}

void zkr__reckon_forget(struct zkr__directory *d)
{
    if (d->guard) {
        zkr__known_forget(&d->guard->known);
    }
}

void zkr__reckon_end(struct zkr__directory *d)
{
    struct zkr__guard *g = d->guard;
    if (g) {
        g->state = ZKR__UNGUARDED;
        g->asked++; /* an answer that is still to come counts no more */
        zkr__known_forget(&g->known);
    }
}

/* It was deleted, or what made the watch fire has used it up. */
static void on_event(struct zkr__path_watcher *watcher,
                     enum zkr__node_event event) ZKR__LOCKED
{
    (void)event;
    zkr__reckon_end(ZKR__OWNER_OF(watcher, struct zkr__guard, watcher)->directory);
}

static void
on_guard(void *ctx, unsigned asked, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__directory *d = ctx;
    if (asked == d->guard->asked) {
        bool set = answer->code == ZKR_OK && !answer->unwatched;
        d->guard->state = set ? ZKR__GUARDED : ZKR__UNGUARDED;
        d->guard->doubts_at = zkr__engine_doubts_at(d->engine);
    }
    zkr__directory_answered(d);
}

static bool make_guard(struct zkr__directory *d) ZKR__LOCKED
{
    if (d->guard) {
        return true;
    }
    struct zkr__guard *g = zkr__mem_alloc(sizeof(*g));
    if (!g) {
        return false;
    }
    g->directory = d;
    g->watcher.on_event = on_event;
    zkr__known_begin(&g->known);
    if (!zkr__path_watch(&d->engine->watchers, &g->watcher, d->path)) {
        zkr__mem_free(g);
        return false;
    }
    d->guard = g;
    return true;
}

void zkr__reckon_begin(struct zkr__directory *d)
{
    const struct zkr__op op = {
        .kind = ZKR__OP_GET, .path = d->path, .watch = true, .spare = true};
    if (is_guarded(d) && zkr__now(d->engine->c) >= d->guard->doubts_at) {
        zkr__reckon_end(d);
    }
    if (!d->used || !make_guard(d) || d->guard->state != ZKR__UNGUARDED ||
        !zkr__watch_fits(d->engine->c, &op)) {
        return;
    }
    d->guard->state = ZKR__GUARD_ASKED;
    d->guard->asked++;
    d->requests++;
    zkr__submit(d->engine->c, &op, on_guard, d, d->guard->asked);
}

/* --- what the numbers tell --- */

/* The newest of ours that others may stand behind, or NULL. */
static const struct zkr__claim *last_of(const struct zkr__directory *d)
{
    const struct zkr__claim *claim = d->ours ? d->ours->ours_prev : NULL;
    while (claim && zkr__claim_stage(&claim->k) == ZKR__REMOVING) {
        claim = claim == d->ours ? NULL : claim->ours_prev;
    }
    return claim;
}

/* Whose number may do. The others want lists: one with a watch, or one for all members. */
static bool is_simple(const struct zkr__claim *claim)
{
    return !claim->k.member && !claim->k.watch_children;
}

/* So that those who stood behind it are hardly gone. */
static bool is_leaving(const struct zkr__directory *d)
{
    return d->ours && zkr__claim_stage(&d->ours->ours_prev->k) == ZKR__REMOVING;
}

bool zkr__reckon_expects(const struct zkr__claim *claim)
{
    const struct zkr__directory *d = claim->directory;
    if (!is_guarded(d) || !is_simple(claim) || !zkr__known_quiet(&d->guard->known)) {
        return false;
    }
    const struct zkr__known *known = &d->guard->known;
    const struct zkr__children *others = &known->others;
    const struct zkr__claim *last = last_of(d);
    int64_t behind =
        others->count > 0 ? others->list[others->count - 1].sequence : known->from;
    if (last && last->sequence >= behind) {
        return true; /* it will wait for that one */
    }
    return known->from == ZKR__KNOWN_ALL &&
           (others->count == 0 || (!claim->once && is_leaving(d)));
}

/* What is known begins with what is made behind the guard. */
void zkr__reckon_made(struct zkr__claim *claim)
{
    struct zkr__directory *d = claim->directory;
    d->used = true;
    d->seen += d->seen >= 0;
    if (is_guarded(d)) {
        (void)zkr__known_made(&d->guard->known, claim->sequence);
    }
}

/* As a filter: @ctx is the directory. */
static bool is_ours(void *ctx, const char *name) ZKR__LOCKED
{
    return zkr__claim_in(ctx, name) != NULL;
}

void zkr__reckon_listed(struct zkr__directory *d,
                        const struct zkr__children *children,
                        int64_t next)
{
    if (is_guarded(d) && d->guard->known.counts) {
        zkr__known_listed(&d->guard->known, children, next, is_ours, d);
    }
}

void zkr__reckon_gone(const struct zkr__claim *claim)
{
    const struct zkr__directory *d = claim->directory;
    const char *path = zkr__path_watched(&claim->ahead_watcher);
    if (is_guarded(d) && path) {
        zkr__known_gone(&d->guard->known, zkr__path_name(path));
    }
}

/* Its node may be one of two, or a write of its owner's may be on the way, which a list is sent behind. */
static bool is_vague(const struct zkr__claim *claim)
{
    bool leaves = zkr__claim_stage(&claim->k) == ZKR__REMOVING;
    return claim->k.downgrade != ZKR__SETTLED || (leaves && claim->k.writing > 0);
}

static bool make_room(struct zkr__scratch *scratch, size_t count)
{
    if (count > scratch->row_room) {
        zkr__mem_free(scratch->row);
        scratch->row = zkr__mem_alloc(2 * count * sizeof(*scratch->row));
        scratch->row_room = scratch->row ? 2 * count : 0;
    }
    return scratch->row != NULL;
}

static void put(struct zkr__children *children, const char *node)
{
    struct zkr__child *child = &children->list[children->count];
    child->name = zkr__path_name(node);
    children->count += zkr__name_parse(child->name, &child->kind, &child->sequence);
}

/* Who is known and may be there, from the number *from on; @most of ours before the claim. False: it cannot be told. */
static bool line_up(const struct zkr__claim *claim,
                    size_t most,
                    struct zkr__children *who,
                    int64_t *from) ZKR__LOCKED
{
    struct zkr__directory *d = claim->directory;
    const struct zkr__children *others = &d->guard->known.others;
    const struct zkr__claim *one = claim;
    size_t count = 0;
    *from = d->guard->known.from;
    for (; count < most && one != d->ours && one->ours_prev->sequence >= *from;
         count++) {
        one = one->ours_prev;
        if (is_vague(one)) {
            return false;
        }
    }
    *from = count < most ? *from : one->sequence;
    if (!make_room(&d->engine->scratch, 2 + others->count + count)) {
        return false;
    }
    /* In front is room for what is not known. */
    *who = (struct zkr__children){.list = d->engine->scratch.row + 1,
                                  .strays = others->strays};
    for (size_t i = 0; i < others->count; i++) {
        if (others->list[i].sequence >= *from) {
            who->list[who->count++] = others->list[i];
        }
    }
    for (; one != claim; one = one->ours_next) {
        if (zkr__claim_stage(&one->k) != ZKR__REMOVING) {
            put(who, one->node);
        }
    }
    put(who, claim->node);
    if (others->count > 0) {
        zkr__children_sort(who);
    }
    return true;
}

/* What is not known is as one in front who blocks. */
static bool judge(const struct zkr__claim *claim,
                  size_t most,
                  struct zkr__verdict *verdict,
                  struct zkr__children *who) ZKR__LOCKED
{
    int64_t from;
    if (!line_up(claim, most, who, &from)) {
        return false;
    }
    size_t self = zkr__children_find(who, zkr__path_name(claim->node));
    bool unknown = from != ZKR__KNOWN_ALL;
    struct zkr__children all = {.list = who->list - unknown,
                                .count = who->count + unknown,
                                .strays = who->strays};
    who->list[-1] = (struct zkr__child){.name = "", .kind = ZKR__NAME_OTHER};
    *verdict = claim->q->rule(&all, self + unknown, claim->q->rule_arg);
    if (verdict->granted || verdict->watch == ZKR__ALL_CHILDREN) {
        return verdict->granted && !unknown;
    }
    bool known = verdict->watch >= unknown;
    verdict->watch -= unknown;
    return known;
}

bool zkr__reckon(const struct zkr__claim *claim,
                 struct zkr__verdict *verdict,
                 struct zkr__children *who)
{
    enum { NEAR = 16 }; /* thousands may stand in front of these, and seldom matter */
    const struct zkr__directory *d = claim->directory;
    return is_guarded(d) && is_simple(claim) && d->guard->known.counts &&
           (judge(claim, NEAR, verdict, who) || judge(claim, SIZE_MAX, verdict, who));
}

/* --- lists --- */

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
