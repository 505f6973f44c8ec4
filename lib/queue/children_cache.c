/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/children_cache.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "queue/asked.h"
#include "queue/claim.h"
#include "queue/claim_plan.h"
#include "queue/directory.h"
#include "queue/engine_state.h"
#include "queue/group.h"
#include "queue/keep.h"
#include "queue/names.h"
#include "session/must.h"

static bool is_leaving(const struct zkr__claim *claim)
{
    return zkr__claim_is_going(&claim->k);
}

/* --- the watch on the directory --- */

bool zkr__cache_watches(const struct zkr__directory *d)
{
    return d->watch && d->watch->state == ZKR__WATCHED;
}

void zkr__cache_forget(struct zkr__directory *d)
{
    if (d->watch) {
        zkr__known_forget(&d->watch->known);
    }
}

/* The watch may be used up, so forget it, and all knowledge that depends on it. */
static void drop_watch(struct zkr__directory *d)
{
    if (d->watch) {
        d->watch->state = ZKR__UNWATCHED;
        d->watch->asked++; /* an answer still in flight is ignored */
        zkr__known_forget(&d->watch->known);
    }
}

/* Drops the watch if the directory was deleted or its data changed. */
static void on_event(struct zkr__path_watcher *watcher,
                     enum zkr__node_event event) ZKR__LOCKED
{
    /* Changes of the children are reported by another watch. */
    if (event != ZKR__NODE_CHILDREN) {
        drop_watch(ZKR__OWNER_OF(watcher, struct zkr__dir_watch, watcher)->directory);
    }
}

static void
on_watch(void *ctx, unsigned asked, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__directory *d = ctx;
    if (asked == d->watch->asked) {
        bool set = answer->code == ZKR_OK && !answer->unwatched;
        ZKR__MUST(d->engine->c, d->watch->state == ZKR__WATCH_ASKED);
        d->watch->state = set ? ZKR__WATCHED : ZKR__UNWATCHED;
        d->watch->doubts_at = zkr__engine_doubts_at(d->engine);
    }
    zkr__directory_unref(d);
}

static bool make_watch(struct zkr__directory *d) ZKR__LOCKED
{
    struct zkr__dir_watch *g = zkr__mem_alloc(sizeof(*g));
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
    d->watch = g;
    return true;
}

void zkr__cache_begin(struct zkr__directory *d)
{
    const struct zkr__op op = {
        .kind = ZKR__OP_GET, .path = d->path, .watch = ZKR__WATCH_SPARE};
    if (zkr__cache_watches(d) && zkr__now(d->engine->c) >= d->watch->doubts_at) {
        drop_watch(d);
    }
    if (!d->used || (!d->watch && !make_watch(d)) ||
        d->watch->state != ZKR__UNWATCHED || !zkr__watch_fits(d->engine->c, &op)) {
        return;
    }
    d->watch->state = ZKR__WATCH_ASKED;
    d->watch->asked++;
    d->refs++;
    zkr__submit(d->engine->c, &op, on_watch, d, d->watch->asked);
}

/* --- deriving the place of a node from its number --- */

/*
 * Returns whether the number of its node can replace a list for the claim. A claim needs a list to watch the children,
 * to decide all members of a group at once, or to count the waiters.
 */
static bool is_simple(const struct zkr__claim *claim)
{
    return !claim->k.member && !claim->k.watch_children && claim->q->max_waiters == 0;
}

bool zkr__cache_expects(const struct zkr__claim *claim)
{
    const struct zkr__directory *d = claim->directory;
    if (!zkr__cache_watches(d) || !is_simple(claim) || !d->watch->known.counts) {
        return false;
    }
    const struct zkr__known *known = &d->watch->known;
    const struct zkr__children *others = &known->others;
    const struct zkr__claim *newest = d->ours ? d->ours->ours_prev : NULL;
    bool after_a_hold = newest && is_leaving(newest);
    while (newest && is_leaving(newest)) {
        newest = newest == d->ours ? NULL : newest->ours_prev;
    }
    bool from_a_list = known->from == ZKR__KNOWN_ALL && !claim->once && after_a_hold;
    if (!zkr__known_quiet(known)) {
        return false;
    }
    int64_t behind =
        others->count > 0 ? others->list[others->count - 1].sequence : known->from;
    if (newest && newest->sequence >= behind) {
        return true; /* the claim will wait for our newest node */
    }
    return from_a_list || (known->from == ZKR__KNOWN_ALL && others->count == 0);
}

/* Knowledge of the numbers starts with the first node created after the watch on the directory was set. */
void zkr__cache_made(struct zkr__claim *claim)
{
    struct zkr__directory *d = claim->directory;
    d->used = true;
    d->seen += d->seen >= 0;
    if (zkr__cache_watches(d)) {
        (void)zkr__known_made(&d->watch->known, claim->sequence);
    }
}

void zkr__cache_gone(const struct zkr__claim *claim)
{
    const struct zkr__directory *d = claim->directory;
    const char *path = zkr__path_watched(&claim->ahead_watcher);
    if (zkr__cache_watches(d) && path) {
        zkr__known_gone(&d->watch->known, zkr__path_name(path));
    }
}

/*
 * Returns true if only a later list can show the claim's node. Either a downgrade is in flight, so the node may have
 * one of two names, or the claim is leaving while a write of its owner may still arrive.
 */
static bool is_vague(const struct zkr__claim *claim)
{
    return claim->k.downgrade != ZKR__SETTLED ||
           (is_leaving(claim) && claim->k.writing > 0);
}

static bool make_row_room(struct zkr__scratch *scratch, size_t count)
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

/*
 * Collect in @line the known children with the number *from or higher, with at most @most of our own nodes ahead of the
 * claim. Some of them may be gone by now. Returns false if the children are not known, or memory runs out.
 */
static bool line_up(const struct zkr__claim *claim,
                    size_t most,
                    struct zkr__children *line,
                    int64_t *from) ZKR__LOCKED
{
    struct zkr__directory *d = claim->directory;
    const struct zkr__known *known = &d->watch->known;
    const struct zkr__children *others = &known->others;
    const struct zkr__claim *one = claim;
    size_t count = 0;
    *from = known->from;
    for (; count < most && one != d->ours && one->ours_prev->sequence >= *from;
         count++) {
        one = one->ours_prev;
        if (is_vague(one)) {
            return false;
        }
    }
    *from = count < most ? *from : one->sequence;
    if (!make_row_room(&d->engine->scratch, 3 + others->count + count)) {
        return false;
    }
    /* The free element at the front is for a child that represents the unknown nodes. */
    *line = (struct zkr__children){.list = d->engine->scratch.row + 1};
    for (size_t i = 0; i < others->count; i++) {
        if (others->list[i].sequence >= *from) {
            line->list[line->count++] = others->list[i];
        }
    }
    for (; one != claim; one = one->ours_next) {
        if (!is_leaving(one)) {
            put(line, one->node);
        }
    }
    put(line, claim->node);
    if (others->count > 0) {
        zkr__children_sort(line);
    }
    return true;
}

/*
 * Apply the rule. One blocking child at the front represents all unknown nodes there. Returns false if the known nodes
 * do not decide.
 */
static bool judge(const struct zkr__claim *claim,
                  size_t most,
                  struct zkr__verdict *verdict,
                  struct zkr__children *line) ZKR__LOCKED
{
    int64_t from;
    if (!line_up(claim, most, line, &from)) {
        return false;
    }
    size_t self = zkr__children_find(line, zkr__path_name(claim->node));
    bool unknown = from != ZKR__KNOWN_ALL;
    struct zkr__children all = {.list = line->list - unknown,
                                .count = line->count + unknown};
    line->list[-1] = (struct zkr__child){.name = "", .kind = ZKR__NAME_OTHER};
    *verdict = claim->q->rule(&all, self + unknown, claim->q->rule_arg);
    if (verdict->granted || verdict->watch == ZKR__ALL_CHILDREN) {
        return verdict->granted && !unknown;
    }
    bool known = verdict->watch >= unknown;
    bool before = verdict->before != ZKR__NOBODY && verdict->before >= unknown;
    verdict->watch -= unknown;
    verdict->before = before ? verdict->before - unknown : ZKR__NOBODY;
    verdict->last = before && verdict->last;
    return known;
}

bool zkr__cache_decide(const struct zkr__claim *claim,
                       struct zkr__verdict *verdict,
                       struct zkr__children *children)
{
    /* Thousands of nodes may be ahead, but more distant ones rarely matter. */
    enum { NEAR = 16 };
    const struct zkr__directory *d = claim->directory;
    return zkr__cache_watches(d) && is_simple(claim) && d->watch->known.counts &&
           (judge(claim, NEAR, verdict, children) ||
            judge(claim, SIZE_MAX, verdict, children));
}

/* --- lists --- */

void zkr__list_want(struct zkr__claim *claim)
{
    struct zkr__directory *d = claim->directory;
    ZKR__MUST(d->engine->c, zkr__claim_awaits_list(&claim->k));
    zkr__claim_drop_list(claim);
    claim->list_tag = zkr__asked_tag(ZKR__ASKED_LIST, claim->k.round);
    claim->list = ZKR__NEXT_LIST;
    DL_APPEND2(d->later, claim, list_prev, list_next);
}

bool zkr__list_wanted(const struct zkr__claim *claim)
{
    return claim->list != ZKR__NO_LIST &&
           claim->list_tag == zkr__asked_tag(ZKR__ASKED_LIST, claim->k.round);
}

/* The next two functions are filters. @ctx is the directory. */
static bool is_ours(void *ctx, const char *name) ZKR__LOCKED
{
    return zkr__claim_in(ctx, name) != NULL;
}

/* Returns true for a node of ours that is being deleted. Requests sent after the delete will not find the node. */
static bool is_dying(void *ctx, const char *name) ZKR__LOCKED
{
    const struct zkr__claim *claim = zkr__claim_in(ctx, name);
    return claim && is_leaving(claim);
}

int zkr__list_children(struct zkr__directory *d, const struct zkr__children **out)
{
    struct zkr__given *given = &d->engine->given;
    if (given->code == ZKR_OK && given->departures != d->departures) {
        zkr__children_filter(&given->children, is_dying, d);
        given->departures = d->departures;
    }
    *out = &given->children;
    return given->code;
}

/*
 * Returns the highest number among the claims that wait for this list. None of these claims needs the nodes behind that
 * number.
 */
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

/*
 * Order the children of the answer. A long list is not remembered, and omits the nodes behind all claims that wait for
 * it.
 */
static void order(struct zkr__directory *d,
                  const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__given *given = &d->engine->given;
    bool is_long = answer->name_count > d->engine->remembered_max;
    int64_t most = is_long ? most_wanted(d) : ZKR__ANY_NUMBER;
    *given = (struct zkr__given){.code = answer->code, .departures = d->departures};
    if (answer->code == ZKR_OK) {
        given->code = zkr__children_order(&given->children, answer->names,
                                          answer->name_count, most, is_dying, d);
    }
    bool ordered = given->code == ZKR_OK;
    d->seen = answer->code == ZKR_ENONODE          ? 0
              : ordered && most == ZKR__ANY_NUMBER ? (int)given->children.count
                                                   : -1;
    d->seen_strays = (int)given->children.strays;
    zkr__keep_listed(d, &given->children);
    if (ordered && !is_long && zkr__cache_watches(d) && d->watch->known.counts) {
        zkr__known_listed(&d->watch->known, &given->children, answer->made, is_ours, d);
    }
}

/*
 * A claim that asks for a list while this one is in flight waits for the next list, because the claim may have received
 * a later event.
 */
static void
on_list(void *ctx, unsigned generation, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__directory *d = ctx;
    if (generation == d->generation) {
        ZKR__MUST(d->engine->c, d->listing);
        order(d, answer);
        while (d->askers) {
            struct zkr__claim *claim = d->askers;
            zkr__claim_drop_list(claim);
            zkr__claim_ref(claim);
            d->engine->on_answer(claim, claim->list_tag, answer);
        }
        zkr__children_free(&d->engine->given.children);
        d->listing = false;
        zkr__list_send(d);
    }
    zkr__directory_unref(d);
}

void zkr__list_send(struct zkr__directory *d)
{
    if (d->listing || !d->later) {
        return;
    }
    struct zkr__op op = {.kind = ZKR__OP_CHILDREN, .path = d->path};
    struct zkr__claim *claim;
    DL_FOREACH2(d->later, claim, list_next)
    {
        claim->list = ZKR__THIS_LIST;
        op.watch = claim->k.watch_children ? ZKR__WATCH_NEEDED : op.watch;
        d->engine->spared.shared += claim != d->later;
    }
    d->askers = d->later;
    d->later = NULL;
    d->listing = true;
    d->refs++;
    ZKR__MUST(d->engine->c, d->askers->list == ZKR__THIS_LIST);
    zkr__submit(d->engine->c, &op, on_list, d, d->generation);
}

/*
 * --- Tries (claims that fail instead of waiting) that list before they create a node. The node of a try may delay
 * claims that could be granted at once beside the holders: claims for other permits, readers beside readers, claims for
 * one path of several. So a try creates no node if this client knows a reason why the try would fail. If the client
 * knows nothing, the try lists first.
 *
 * If the queue seems free, the try creates its node, and costs one round trip. If the client's knowledge is outdated,
 * the list sent with the create shows that.
 */

/*
 * Returns how many members of the claim's group, including the claim, belong to the claim's directory, or 0 if there is
 * no group.
 */
static int64_t count_beside(const struct zkr__claim *claim) ZKR__LOCKED
{
    int64_t count = 0;
    const struct zkr__group *group = claim->group;
    for (uint32_t i = 0; group && i < group->count; i++) {
        const struct zkr__claim *other = group->members[i];
        count += other && other->directory == claim->directory;
    }
    return count;
}

bool zkr__try_is_wary(const struct zkr__claim *claim)
{
    const struct zkr__queue *q = claim->q;
    const struct zkr__directory *d = claim->directory;
    bool in_the_way =
        claim->k.member ? q->rule != zkr__rule_any : q->kind == ZKR__NAME_WRITE;
    if (!claim->once || !in_the_way) {
        return false;
    }
    return d->seen < 0 ||
           (q->rule == zkr__rule_permits
                ? d->seen + d->seen_strays + count_beside(claim) > q->rule_arg
                : d->seen > 0);
}

/* --- the session --- */

void zkr__caches_connected(struct zkr__engine *engine)
{
    struct zkr__directory *d;
    DL_FOREACH(engine->directories, d)
    {
        drop_watch(d);
    }
}

/* Claims stop waiting for lists in flight, because an answer may have been dropped for lack of memory. */
void zkr__caches_session_over(struct zkr__engine *engine)
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
        ZKR__MUST(engine->c, !d->askers && !d->later);
        d->generation++;
        d->used = false;
        d->seen = -1;
        drop_watch(d);
    }
}
