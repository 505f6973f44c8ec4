/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/reckon.h"

#include "base/mem.h"
#include "base/path.h"
#include "engine/claim.h"

/* Watches that a client leaves on directories in one session, also on such as it uses no more. */
enum { GUARDS_MAX = 4096 };

/* --- the guard --- */

void zkr__reckon_forget(struct zkr__directory *d)
{
    zkr__known_forget(&d->known);
}

void zkr__reckon_end(struct zkr__directory *d)
{
    d->guard = ZKR__GUARD_NONE;
    d->guard_asked++; /* an answer that is still to come counts no more */
    zkr__reckon_forget(d);
    zkr__path_unwatch(&d->engine->watchers, &d->watcher);
}

/* It was deleted, or what made the watch fire has used it up. */
static void on_event(struct zkr__path_watcher *watcher,
                     enum zkr__node_event event) ZKR__LOCKED
{
    struct zkr__directory *d = ZKR__OWNER_OF(watcher, struct zkr__directory, watcher);
    (void)event;
    d->engine->guards -= d->guard == ZKR__GUARD_SET;
    zkr__reckon_end(d);
}

static void
on_guard(void *ctx, unsigned asked, const struct zkr__answer *answer) ZKR__LOCKED
{
    struct zkr__directory *d = ctx;
    if (asked == d->guard_asked) {
        bool set = answer->code == ZKR_OK;
        d->guard = set ? ZKR__GUARD_SET : ZKR__GUARD_NONE;
        d->engine->guards += set;
        zkr__reckon_forget(d); /* what is known begins with what is made behind it */
    }
    zkr__directory_answered(d);
}

void zkr__reckon_begin(struct zkr__directory *d)
{
    struct zkr__engine *engine = d->engine;
    if (d->guard != ZKR__GUARD_NONE || !d->used || engine->guards >= GUARDS_MAX) {
        return;
    }
    d->watcher.on_event = on_event;
    if (!zkr__path_watch(&engine->watchers, &d->watcher, d->path)) {
        return;
    }
    const struct zkr__op op = {.kind = ZKR__OP_GET, .path = d->path, .watch = true};
    d->guard = ZKR__GUARD_ASKED;
    d->guard_asked++;
    d->requests++;
    zkr__submit(engine->c, &op, on_guard, d, d->guard_asked);
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

bool zkr__reckon_expects(const struct zkr__claim *claim)
{
    const struct zkr__directory *d = claim->directory;
    if (d->guard != ZKR__GUARD_SET || claim->k.watch_children || claim->k.member ||
        !zkr__known_quiet(&d->known)) {
        return false;
    }
    const struct zkr__claim *last = last_of(d);
    return d->known.from == ZKR__KNOWN_ALL || (last && last->sequence >= d->known.from);
}

void zkr__reckon_made(struct zkr__claim *claim)
{
    struct zkr__directory *d = claim->directory;
    d->used = true;
    if (d->guard == ZKR__GUARD_SET) {
        (void)zkr__known_made(&d->known, claim->sequence);
    }
}

void zkr__reckon_listed(struct zkr__directory *d)
{
    if (d->guard == ZKR__GUARD_SET && d->known.counts) {
        zkr__known_listed(&d->known, &d->listed, zkr__directory_is_ours, d);
    }
}

/* Its node may be one of two, or a write of its owner's may be on the way, which a list is sent behind. */
static bool is_vague(const struct zkr__claim *claim)
{
    bool leaves = zkr__claim_stage(&claim->k) == ZKR__REMOVING;
    return claim->k.downgrade != ZKR__SETTLED || (leaves && claim->k.writing > 0);
}

static bool make_room(struct zkr__directory *d, size_t count)
{
    if (count <= d->row_room) {
        return true;
    }
    struct zkr__child *row = zkr__mem_alloc(2 * count * sizeof(*row));
    if (row) {
        zkr__mem_free(d->row);
        d->row = row;
        d->row_room = 2 * count;
    }
    return row != NULL;
}

static void put(struct zkr__children *children, const char *node)
{
    struct zkr__child *child = &children->list[children->count];
    child->name = zkr__path_name(node);
    children->count += zkr__name_parse(child->name, &child->kind, &child->sequence);
}

/*
 * Who may be there, up to the claim, which is the last. What is not known stands in for by one child that blocks, in
 * front. False: it cannot be told.
 */
static bool line_up(const struct zkr__claim *claim,
                    struct zkr__children *children) ZKR__LOCKED
{
    struct zkr__directory *d = claim->directory;
    const struct zkr__claim *one;
    size_t count = 1;
    DL_COUNT2(d->ours, one, count, ours_next);
    if (!make_room(d, count + 1)) {
        return false;
    }
    *children = (struct zkr__children){.list = d->row, .strays = d->known.strays};
    if (d->known.from != ZKR__KNOWN_ALL) {
        children->list[children->count++] =
            (struct zkr__child){.name = "", .kind = ZKR__NAME_OTHER};
    }
    DL_FOREACH2(d->ours, one, ours_next)
    {
        if (is_vague(one)) {
            return false;
        }
        if (one->sequence >= d->known.from && one != claim &&
            zkr__claim_stage(&one->k) != ZKR__REMOVING) {
            put(children, one->node);
        }
    }
    put(children, claim->node);
    return true;
}

bool zkr__reckon(const struct zkr__claim *claim,
                 struct zkr__verdict *verdict,
                 const char **ahead)
{
    const struct zkr__directory *d = claim->directory;
    struct zkr__children children;
    if (d->guard != ZKR__GUARD_SET || !d->known.counts || claim->k.member ||
        claim->k.watch_children || claim->sequence + 1 != d->known.next ||
        !line_up(claim, &children)) {
        return false;
    }
    bool all = d->known.from == ZKR__KNOWN_ALL;
    *verdict = claim->q->rule(&children, children.count - 1, claim->q->rule_arg);
    if (verdict->granted) {
        return all;
    }
    if (verdict->watch == ZKR__ALL_CHILDREN || (!all && verdict->watch == 0)) {
        return false;
    }
    *ahead = children.list[verdict->watch].name;
    return true;
}
